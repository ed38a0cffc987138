cdef class Newest:
    cdef public dict by_stream
    cdef public tuple last_stamp
    cdef list _members
    cdef tuple _answer

    cpdef put(self, stream, long long at_us, tuple stamp)
    cpdef drop(self, stream)
    cpdef tuple answer(self)
