cimport cython

from join.strategies.snjoin_star.request cimport ProbeRequest


cdef class Forwarding:
    cdef object _clock
    cdef object _unicast
    cdef object _accounts
    cdef long long _end_us
    cdef bint _reports_all
    cdef object _bare_bytes
    cdef public list unformed

    @cython.locals(sequence=tuple, heads=cython.longlong, position=cython.longlong, size=cython.longlong)
    cpdef onward(self, ProbeRequest request)
    cpdef forward(self, long long node, ProbeRequest request, long long at_us)
