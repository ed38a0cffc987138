cimport cython


cdef class Answer:
    cdef long long _window_us
    cdef dict _sets

    @cython.locals(current=dict, part=tuple)
    cpdef tuple update(self, value, list parts)


cdef class Census:
    cdef public long long sensors
    cdef public long long oldest_us
    cdef long long _results
    cdef object _store
    cdef long long[::1] _last

    @cython.locals(
        result=cython.longlong, sensors=cython.longlong, repeats=cython.bint, oldest_us=cython.longlong,
        part=tuple, node=cython.longlong, at_us=cython.longlong,
    )
    cpdef bint take(self, list partners) except -1
    cpdef _make_room(self, long long node)
