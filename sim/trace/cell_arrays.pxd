cimport cython


@cython.locals(place=Py_ssize_t, nulls=Py_ssize_t)
cpdef Py_ssize_t fill_whole(cells, long long[::1] numbers, unsigned char[::1] present) except -1
@cython.locals(place=Py_ssize_t, nulls=Py_ssize_t)
cpdef Py_ssize_t fill_reals(cells, double[::1] numbers, unsigned char[::1] present) except -1
@cython.locals(place=Py_ssize_t, nulls=Py_ssize_t)
cpdef Py_ssize_t fill_words(cells, dict known, long long[::1] positions, unsigned char[::1] present) except -1
@cython.locals(place=Py_ssize_t)
cpdef fill_nodes(lists, int[::1] nodes)
