cimport cython

from join.state.value_table cimport ValueTable
from join.strategies.snjoin_star.request cimport ProbeRequest


cdef class ClusterHead:
    cdef public long long node
    cdef public object rule
    cdef object _order
    cdef public ValueTable table
    cdef bint _factorised
    cdef public long long tables
    cdef long long _counter
    cdef long long _sweep_due_us
    cdef list _others
    cdef list _lingering

    cpdef list others(self, long long now_us)
    cpdef ProbeRequest take_reading(self, value, long long origin, long long at_us, long long now_us)
    cpdef choose(self, ProbeRequest request, long long now_us)
    @cython.locals(found=cython.longlong)
    cpdef long long answer(self, ProbeRequest request, long long now_us) except -1
    cpdef tuple _match(self, value, long long origin, long long at_us, tuple before)
    cpdef _sweep(self, long long now_us)
    @cython.locals(count=cython.longlong)
    cpdef long long _add(self, ProbeRequest request, tuple matches) except -1


cdef class MJoinHead(ClusterHead):
    cdef object _selectivity
    cdef object _member_tables
    cdef long long _answered
