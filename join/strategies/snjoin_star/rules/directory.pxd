cimport cython

from join.strategies.snjoin_star.request cimport ProbeRequest
from join.strategies.snjoin_star.rules.value_holders cimport ValueHolders


cdef class Directory:
    cdef long long _window_us
    cdef dict _held
    cdef object _last_us
    cdef long long _newest_us

    @cython.locals(held=ValueHolders)
    cpdef take(self, value, sensor, head, long long at_us, tuple stamp)
    @cython.locals(held=ValueHolders)
    cpdef dict holders(self, value, long long at_us, before=*, origin=*)
    cpdef long long _forgotten_us(self)
    @cython.locals(forgotten_us=cython.longlong)
    cpdef _forget_values(self)


cdef class DirectoryProbing:
    cdef object _buckets
    cdef object _values_most
    cdef object _target
    cdef object _known
    cdef object _heads
    cdef frozenset _present

    @cython.locals(known=tuple, holders=dict, chosen=list, fewest_first=list)
    cpdef tuple choose(self, ProbeRequest request, heads, now_us)
