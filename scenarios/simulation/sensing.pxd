cimport cython

from network.ledger cimport Ledger
from sim.compiled_queue cimport CompiledQueue


cdef class Sensing:
    cdef CompiledQueue _kernel
    cdef Ledger _ledger
    cdef double[::1] _residual_j
    cdef double[::1] _sense_j
    cdef object _phenomenon
    cdef object _times
    cdef object _write
    cdef object _submit
    cdef double _sample_j
    cdef object _local_us
    cdef bint _has_true_time
    cdef object _levels
    cdef Py_ssize_t _count
    cdef long long[::1] _at_us
    cdef long long[::1] _nodes
    cdef long long[::1] _values
    cdef long long[::1] _stamps_us
    cdef unsigned char[::1] _is_taken
    cdef public long long taken
    cdef public long long with_value

    @cython.locals(alive=list, sample_j=cython.double, left_j=cython.double, node=cython.longlong)
    cpdef _sample(self, Py_ssize_t position)
    cpdef _arm(self, Py_ssize_t position)
    @cython.locals(node=cython.longlong, value=cython.longlong)
    cpdef _take(self, Py_ssize_t position)
    cpdef _note(self, Py_ssize_t position, long long node)
