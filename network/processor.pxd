cimport cython

from network.ledger cimport Ledger
from sim.compiled_queue cimport CompiledQueue


cdef class Cpus:
    cdef CompiledQueue _kernel
    cdef Ledger _ledger
    cdef double[::1] _cpu_j
    cdef long long[::1] _paid_until_us
    cdef public long long queue
    cdef public object work
    cdef object _sink_us
    cdef public object last_us
    cdef long long[::1] _last_us
    cdef public list earlier_us

    @cython.locals(now_us=cython.longlong, last_us=cython.longlong)
    cpdef admit(self, long long node)
    @cython.locals(done_us=cython.longlong, service_whole_us=cython.longlong, joules=cython.double, paid=cython.bint)
    cpdef long long occupy(self, long long node, long long start_us, double service_us) except? -1
    cpdef keep(self, long long node, long long start_us, long long done_us)
