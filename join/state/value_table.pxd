cimport cython


cdef class Entry:
    cdef public dict held
    cdef dict _stamps
    cdef tuple _last_stamp
    cdef list _members
    cdef tuple _answer

    @cython.locals(held=list, newest=tuple)
    cpdef add(self, tuple record)
    @cython.locals(held=list, is_newest=cython.bint)
    cpdef bint drop(self, tuple record) except -1
    @cython.locals(answer=tuple, members=list, member=tuple, held=list, record=tuple)
    cpdef tuple latest(self, stream, long long earliest_us, long long latest_us, tuple before)
    @cython.locals(unsure=set, member=tuple)
    cpdef set _unsure(self, stream, long long latest_us, tuple before)
    cpdef _put(self, tuple record)


cdef class ValueTable:
    cdef public long long window_us
    cdef public long long late_us
    cdef object _sweep
    cdef dict _entries

    cpdef bint holds(self, value) except -1
    @cython.locals(entry=Entry)
    cpdef insert(self, value, stream, long long at_us, tuple stamp)
    @cython.locals(entry=Entry)
    cpdef tuple latest(self, value, stream, long long at_us, tuple before)
    cpdef sweep(self, long long now_us)
    @cython.locals(entry=Entry)
    cpdef _forget(self, tuple record)


cdef class MemberTables(ValueTable):
    cdef object _readings


cdef _add_member(list members, tuple member)
