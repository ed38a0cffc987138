cdef class Message:
    cdef public str kind
    cdef public long long source
    cdef public long long target
    cdef public long long bytes
    cdef public long long hops
    cdef public object body
    cdef public long long at_us
    cdef public object drop
