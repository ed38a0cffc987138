cimport cython


@cython.locals(place=Py_ssize_t)
cpdef fill(lists, int[::1] nodes, long long[::1] times_us)
