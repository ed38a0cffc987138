cdef struct Entry:
    double at
    long long order
    Py_ssize_t slot


cdef class CompiledQueue:
    cdef object _owner
    cdef Entry* _heap
    cdef Py_ssize_t _used
    cdef Py_ssize_t _room
    cdef long long _number
    cdef double _until
    cdef public long long now_us
    cdef list _calls
    cdef list _free
    cdef dict _odd_times

    cdef int _add(self, double at, long long priority, object function, object argument) except -1
    cpdef push(self, at_us, function, argument, long long priority=*)
    cdef int add(self, long long at_us, object function, object argument) except -1
    cdef Entry _take(self)
    cdef object _time(self, Entry entry)
    cdef int _grow(self) except -1
    cdef int _set_clock(self, Entry entry) except -1
