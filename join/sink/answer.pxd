cimport cython


cdef class Answer:
    cdef long long _window_us
    cdef dict _sets

    @cython.locals(current=dict, part=tuple, member=tuple)
    cpdef tuple update(self, value, list parts)
