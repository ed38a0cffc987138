cimport cython


cdef class Ledger:
    cdef object _kernel
    cdef public list battery_j
    cdef public object residual_j
    cdef public dict by_cause_j
    cdef public object tx_j
    cdef public object rx_j
    cdef public object idle_j
    cdef public object cpu_j
    cdef public object sense_j
    cdef public object overhear_j
    cdef public object sleep_j
    cdef public object control_j
    cdef public list alive
    cdef public object paid_until_us
    cdef public list deaths
    cdef list _listeners
    cdef double[::1] _left_j
    cdef double[::1] _received_j
    cdef double[::1] _for_control_j

    @cython.locals(place=Py_ssize_t, node=cython.longlong, left_j=cython.double)
    cpdef Py_ssize_t draw_receptions(self, list nodes, Py_ssize_t first, double joules, bint control) except -1
    @cython.locals(left_j=cython.double)
    cpdef bint draw(self, long long node, double[::1] cause_j, double joules) except -1
