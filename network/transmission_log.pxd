cimport cython


cdef Py_ssize_t WIDTH


cdef class TransmissionLog:
    cdef list _kinds
    cdef dict _codes
    cdef object _store
    cdef long long[::1] _cells
    cdef Py_ssize_t _used

    @cython.locals(place=Py_ssize_t, cells=cython.longlong[::1])
    cpdef add(
        self,
        long long at_us,
        long long code,
        long long source,
        long long target,
        long long size,
        long long arrived_us,
        long long addressed,
        long long received,
    )
    cpdef append(self, row)
    cpdef code(self, kind, outcome)
    cpdef _grow(self)
