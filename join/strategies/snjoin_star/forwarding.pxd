cimport cython

from join.strategies.snjoin_star.request cimport ProbeRequest


cdef class Forwarding:
    cdef object _clock
    cdef object _unicast
    cdef object _accounts
    cdef long long _end_us
    cdef bint _reports_all
    cdef long long _bare_bytes
    cdef public long long target
    cdef public long long body_bytes
    cdef public list unformed

    @cython.locals(sequence=tuple, heads=cython.longlong, position=cython.longlong)
    cpdef onward(self, ProbeRequest request)
    cpdef end(self, ProbeRequest request, long long at_us)
    cpdef forward(self, long long node, ProbeRequest request, long long at_us)
