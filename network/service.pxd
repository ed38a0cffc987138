from network.message cimport Message


cdef class Service:
    cdef public long long target
    cdef public long long body_bytes

    cpdef double serve(self, Message message, long long start_us) except? -1.0
    cpdef onward(self, body)
    cpdef end(self, body, long long at_us)
