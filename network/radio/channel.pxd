cdef class UnitDisk:
    cdef object _profile
    cdef object _range_m
    cdef object _exponent
    cdef object _level
    cdef object _geometry
    cdef dict _audience
    cdef public bint certain
    cdef bint _is_fixed
    cdef dict _around

    cpdef double rate(self, source, target, frame_bytes) except -1.0
    cpdef double rate_amid(self, source, target, frame_bytes, others) except -1.0
    cpdef bint audible(self, tuple emission, node) except -1
    cpdef bint detected(self, tuple emission, node) except -1
    cpdef bint _hears(self, source, node) except -1
