cdef struct Entry:
    double at
    long long order
    Py_ssize_t slot


cdef class CompiledQueue:
    cdef public long long now_us
    cdef public long long processed
    cdef object _odd_now
    cdef dict _odd_times
    cdef Entry* _heap
    cdef Py_ssize_t* _free
    cdef Py_ssize_t _used
    cdef Py_ssize_t _room
    cdef Py_ssize_t _slots
    cdef long long _number
    cdef double _until
    cdef list _calls

    cpdef push(self, at_us, function, argument, long long priority=*)
    cpdef call_at(self, at_us, function, argument)
    cpdef bint skip_to(self, long long at_us) except -1
    cdef int add(self, long long at_us, object function, object argument) except -1
    cdef int _add(self, double at, long long priority, object function, object argument) except -1
    cdef Py_ssize_t _take(self) except -1
    cdef object _time(self, Entry* entry)
    cdef int _grow(self) except -1
