cimport cython

from join.strategies.snjoin_star.forwarding cimport Forwarding
from join.strategies.snjoin_star.head cimport ClusterHead
from join.strategies.snjoin_star.request cimport ProbeRequest
from network.message cimport Message
from network.service cimport Service


cdef class InNetworkJoin(Service):
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
    cdef double _miss_us
    cdef object _result_us
    cdef object _note_us
    cdef object _heads
    cdef bint _chooses_late
    cdef object _notes
    cdef object _order
    cdef Forwarding _forwarding
    cdef object _tactic
    cdef object _retry
    cdef object _send
    cdef object _handover

    @cython.locals(node=cython.longlong, request=ProbeRequest, head=ClusterHead, local_us=cython.longlong, found=cython.longlong)
    cpdef double serve(self, Message message, long long start_us) except? -1.0
    @cython.locals(forwarding=Forwarding)
    cpdef onward(self, body)
    cpdef end(self, body, long long at_us)
    @cython.locals(request=ProbeRequest, head=ClusterHead)
    cpdef _join_here(self, long long node, reading)
    @cython.locals(request=ProbeRequest)
    cpdef _on_result(self, Message message)
    @cython.locals(gathered=ProbeRequest)
    cpdef _take_at_sink(self, ProbeRequest request)
