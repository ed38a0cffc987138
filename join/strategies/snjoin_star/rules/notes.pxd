cimport cython

from join.strategies.snjoin_star.request cimport ProbeRequest
from join.strategies.snjoin_star.rules.directory cimport Directory


cdef class DirectoryNotes:
    cdef Directory _directory
    cdef double _tolerance
    cdef object _buckets
    cdef object _target
    cdef Py_ssize_t _values_most
    cdef object _sent
    cdef dict _heard_us

    @cython.locals(holders=dict, known=dict, missed=list)
    cpdef tuple missed(self, ProbeRequest request, long long now_us)
    @cython.locals(holders=dict, known=dict)
    cpdef note(self, ProbeRequest request, long long now_us)
    cpdef tuple _known_to(self, ProbeRequest request)
    cpdef _hear(self, initiator, long long now_us)
    @cython.locals(count=cython.longlong, then=cython.longlong)
    cpdef bint _is_outdated(self, dict known, dict holders) except -1
