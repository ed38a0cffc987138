cimport cython

from join.strategies.snjoin_star.request cimport ProbeRequest


cdef class RelevanceMatrix:
    cdef object _buckets
    cdef bint _with_initiator
    cdef object _selection
    cdef double _exploration
    cdef double _base
    cdef object _random
    cdef dict _rows

    @cython.locals(row=dict, floor=cython.double, base=cython.double, chance=cython.double, chosen=list)
    cpdef tuple choose(self, ProbeRequest request, heads, now_us)
    @cython.locals(row=dict, mean=cython.double, weight=cython.double, entry=cython.double)
    cpdef learn(self, note, now_us)
    cpdef dict _row(self, value)
