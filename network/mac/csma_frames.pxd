from network.message cimport Message


cdef class Job:
    cdef public Message message
    cdef public list frame_sizes
    cdef public Py_ssize_t position
    cdef public long long received
    cdef public list listeners
    cdef public set heard
    cdef public object hearing
    cdef public double range_m
    cdef public long long sequence
    cdef public long long backoffs
    cdef public long long exponent
    cdef public long long attempts
    cdef public Frame awaiting
    cdef public bint is_flying
    cdef public object failed
    cdef public bint done
    cdef public bint orphaned


cdef class Frame:
    cdef public Job job
    cdef public long long source
    cdef public object target
    cdef public tuple emission
    cdef public long long size
    cdef public long long start_us
    cdef public long long end_us
    cdef public bint is_ack
    cdef public list overlaps
