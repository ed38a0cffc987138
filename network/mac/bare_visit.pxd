cimport cython

from network.message cimport Message
from network.processor cimport Cpus
from network.service cimport Service
from network.transmission_log cimport TransmissionLog
from sim.compiled_queue cimport CompiledQueue


cdef long long PAIRS


cdef class BareVisits:
    cdef str _kind
    cdef Service _service
    cdef CompiledQueue _kernel
    cdef TransmissionLog _log
    cdef long long _delivered
    cdef list _alive
    cdef double[::1] _residual_j
    cdef long long[::1] _paid_until_us
    cdef double[::1] _rx_j
    cdef double[::1] _cpu_j
    cdef double[::1] _tx_j
    cdef double _receive_j_per_byte
    cdef object _transmit_j_per_byte
    cdef long long _nodes
    cdef long long[::1] _pairs
    cdef double[::1] _pair_j
    cdef object _flights
    cdef object _arrive
    cdef object _unicast
    cdef Cpus _cpus
    cdef long long[::1] _last_us
    cdef list _earlier_us
    cdef object _work
    cdef double _service_us
    cdef long long _whole_us
    cdef double _work_j
    cdef long long _body_bytes
    cdef long long _size
    cdef long long _flight_us
    cdef public object arrival

    @cython.locals(
        node=cython.longlong, size=cython.longlong, joules=cython.double, left_j=cython.double,
        now_us=cython.longlong, start_us=cython.longlong, done_us=cython.longlong, waits=cython.bint,
        target=cython.longlong, pair=cython.longlong, slot=cython.longlong, body_bytes=cython.longlong, service_us=cython.double,
    )
    cpdef visit(self, Message message)
