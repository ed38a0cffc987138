cimport cython

from network.message cimport Message
from network.transmission_log cimport TransmissionLog
from sim.compiled_queue cimport CompiledQueue


cdef class BareVisits:
    cdef str _kind
    cdef object _service
    cdef object _serve
    cdef object _onward
    cdef CompiledQueue _events
    cdef TransmissionLog _log
    cdef long long _delivered
    cdef list _alive
    cdef list _residual_j
    cdef list _paid_until_us
    cdef list _rx_j
    cdef list _cpu_j
    cdef list _tx_j
    cdef double _receive_j_per_byte
    cdef object _transmit_j_per_byte
    cdef object _flights
    cdef object _arrive
    cdef object _unicast
    cdef object _cpus
    cdef list _jobs_done_us
    cdef long long _room
    cdef object _work
    cdef public object arrival

    @cython.locals(
        node=cython.longlong, size=cython.longlong, joules=cython.double, left_j=cython.double,
        now_us=cython.longlong, start_us=cython.longlong, done_us=cython.longlong, flight_us=cython.longlong,
        target=cython.longlong, body_bytes=cython.longlong, whole_us=cython.longlong, work_j=cython.double,
    )
    cpdef visit(self, Message message)
