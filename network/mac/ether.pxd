cimport cython

from network.mac.csma_frames cimport Frame
from network.radio.frame_loss cimport Medium


cdef class Ether:
    cdef object _channel
    cdef Medium _medium
    cdef long long _cca_us
    cdef list _frames

    @cython.locals(other=Frame)
    cpdef put(self, Frame frame)
    @cython.locals(frame=Frame, since_us=cython.longlong, recent=list)
    cpdef bint is_busy(self, long long node, long long now_us) except -1
    @cython.locals(frame=Frame)
    cpdef bint is_sending(self, long long node, long long now_us) except -1
    @cython.locals(other=Frame)
    cpdef bint is_deaf(self, Frame frame, long long node) except -1
    cpdef fate(self, Frame frame, long long node)
    @cython.locals(other=Frame, alone=cython.double, amid=cython.double, start_us=cython.longlong)
    cpdef _amid_others(self, Frame frame, long long node)
