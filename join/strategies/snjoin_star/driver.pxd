cimport cython

from join.strategies.snjoin_star.head cimport ClusterHead
from join.strategies.snjoin_star.request cimport ProbeRequest
from network.message cimport Message


cdef class InNetworkJoin:
    cdef object _clock
    cdef object _links
    cdef object _cpus
    cdef object _membership
    cdef object _sink
    cdef object _accounts
    cdef object _local_us
    cdef bint _has_true_time
    cdef long long _end_us
    cdef long long _late_us
    cdef object _reading_us
    cdef object _probe_us
    cdef object _result_us
    cdef object _note_us
    cdef object _heads
    cdef object _notes
    cdef object _order
    cdef object _forwarding
    cdef public object onward
    cdef public object end
    cdef object _tactic
    cdef object _retry
    cdef object _send
    cdef object _handover

    @cython.locals(node=cython.longlong, request=ProbeRequest, head=ClusterHead, local_us=cython.longlong, found=cython.longlong)
    cpdef serve(self, Message message, long long start_us)
    @cython.locals(request=ProbeRequest, head=ClusterHead)
    cpdef _join_here(self, long long node, reading)
    @cython.locals(request=ProbeRequest)
    cpdef _on_result(self, Message message)
    @cython.locals(gathered=ProbeRequest)
    cpdef _take_at_sink(self, ProbeRequest request)
