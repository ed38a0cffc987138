cdef class ProbeRequest:
    cdef list _counts
    cdef list _partners
    cdef public long long at_us
    cdef public long long attempt
    cdef public long long bytes
    cdef public bint closing
    cdef public bint completed
    cdef public long long hops
    cdef public long long initiator
    cdef public long long known
    cdef public long long origin
    cdef public bint partial
    cdef public long long partners_bytes
    cdef public long long parts
    cdef public list passed_over
    cdef public long long position
    cdef public tuple sequence
    cdef public tuple stamp
    cdef public object value
    cdef public long long version

    cpdef add(self, tuple matches, long long count, long long size)
    cpdef _fill(self)
