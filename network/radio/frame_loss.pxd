cimport cython


cdef class Medium:
    cdef object _streams
    cdef object _channel
    cdef double _loss
    cdef object _bursts
    cdef object _jitter_us
    cdef tuple _outages_us
    cdef dict _draws
    cdef dict _is_bad

    @cython.locals(rate=cython.double)
    cpdef frame_fate(self, kind, source, target, size)
    @cython.locals(lost=cython.bint)
    cpdef bint is_lost(self, kind, source, target) except -1
    cpdef bint succeeds(self, source, double rate) except -1
    cpdef double _draw(self, purpose, source) except? -1.0
