cimport cython


cdef class ValueHolders:
    cdef dict _settled
    cdef dict _moved
    cdef dict _counts
    cdef list _times
    cdef Py_ssize_t _first
    cdef long long _since_us
    cdef long long _forgotten_us

    @cython.locals(at_heads=dict, known=tuple)
    cpdef take(self, sensor, head, tuple held)
    @cython.locals(kept_us=cython.longlong)
    cpdef dict holders(self, long long oldest_us, before, origin)
    cpdef forget(self, long long before_us)
    @cython.locals(entry=tuple, place=Py_ssize_t)
    cpdef _settle(self, sensor, head, tuple held)
    @cython.locals(known=tuple)
    cpdef _remove(self, sensor)
    @cython.locals(settled=dict, times=list, since_us=cython.longlong, known=tuple, holders=dict, place=Py_ssize_t)
    cpdef dict _counted(self, long long oldest_us, origin)


@cython.locals(left=cython.longlong)
cdef _subtract(dict holders, head)
