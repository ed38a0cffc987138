"""The queue of events on an array of C: see `sim/event_queue.py`, whose interface and order it has.

A binary heap of (time, order, slot); order is priority and number in one integer, and a slot has function and argument in a list that
Python's garbage collector sees. Times are whole microseconds, which a double holds exactly for 285 years (later ones stand for
never); SimPy programs may also use fractions, which are kept aside.
"""

from cpython.mem cimport PyMem_Free, PyMem_Realloc

cdef enum:
    FIRST_ROOM = 1024
    NORMAL = 1

cdef long long PRIORITY = 1LL << 56


cdef class CompiledQueue:
    """The clock, the calls that are due, and the loop that makes them."""

    def __cinit__(self, *args, **kwargs):
        self._heap = NULL
        self._free = NULL
        self._calls = []
        self._odd_times = {}

    def __init__(self):
        pass

    def __dealloc__(self):
        PyMem_Free(self._heap)
        PyMem_Free(self._free)

    @property
    def now(self):
        """The current time, by SimPy's name."""
        return self.now_us if self._odd_now is None else self._odd_now

    cpdef push(self, at_us, function, argument, long long priority=NORMAL):
        """Have `function(argument)` called at `at_us`, which has not passed."""
        cdef double at = at_us
        if type(at_us) is not int:
            self._odd_times[self._number] = at_us
        self._add(at, priority, function, argument)

    def call_later(self, delay_us, function, argument):
        """Call `function(argument)` when `delay_us` have passed."""
        self.push(self.now + delay_us, function, argument)

    cpdef call_at(self, at_us, function, argument):
        """Call `function(argument)` at `at_us`, which must not have passed."""
        cdef long long at
        if type(at_us) is not int:
            assert at_us >= self.now, (at_us, self.now)
            self.push(at_us, function, argument)
            return
        at = at_us
        assert self.now_us <= at, (at_us, self.now_us)
        self.add(at, function, argument)

    def advance(self, until_us):
        """Make all calls that are due before `until_us`, then set the clock there."""
        assert until_us >= self.now_us, (until_us, self.now_us)
        cdef long long handled = 0
        cdef double until = until_us
        cdef object function, argument
        cdef Py_ssize_t slot
        self._until = until
        try:
            while self._used and self._heap[0].at < until:
                slot = self._take()
                function = self._calls[slot]
                argument = self._calls[slot + 1]
                self._calls[slot] = self._calls[slot + 1] = None
                handled += 1
                function(argument)
        finally:
            self.processed += handled
            self._until = 0.0
        self.now_us = until_us
        self._odd_now = None

    cpdef bint skip_to(self, long long at_us) except -1:
        """Set the clock to `at_us` if nothing else is due until then; otherwise nothing changes."""
        cdef double at = <double>at_us
        if at >= self._until or (self._used and self._heap[0].at <= at):
            return False
        self.now_us = at_us
        self._odd_now = None
        self.processed += 1
        return True

    def call_next(self):
        """Make the next call; there must be one."""
        if not self._used:
            raise IndexError("no call is due")
        cdef Py_ssize_t slot = self._take()
        cdef object function = self._calls[slot], argument = self._calls[slot + 1]
        self._calls[slot] = self._calls[slot + 1] = None
        self.processed += 1
        function(argument)

    def waiting(self):
        """How many calls are due."""
        return self._used

    def next_us(self):
        """When the next call is due; there must be one."""
        if not self._used:
            raise IndexError("no call is due")
        return self._time(self._heap)

    def pending(self, *functions):
        """Arguments of the calls of any of `functions` that are still to come, in no particular order."""
        cdef Py_ssize_t place, slot
        found = []
        for place in range(self._used):
            slot = self._heap[place].slot
            if self._calls[slot] in functions:
                found.append(self._calls[slot + 1])
        return found

    cdef int add(self, long long at_us, object function, object argument) except -1:
        """`push` of a whole number, without objects."""
        return self._add(<double>at_us, NORMAL, function, argument)

    cdef object _time(self, Entry* entry):
        """When an entry is due, as it was given."""
        if self._odd_times:
            return self._odd_times.get(entry.order % PRIORITY, <long long>entry.at)
        return <long long>entry.at

    cdef int _add(self, double at, long long priority, object function, object argument) except -1:
        cdef Py_ssize_t slot, place, parent
        cdef Entry* heap
        cdef Entry entry
        if self._used == self._room:
            self._grow()
        if self._used < self._slots:  # a slot is free for each entry that was taken
            slot = self._free[self._slots - self._used - 1]
            self._calls[slot] = function
            self._calls[slot + 1] = argument
        else:
            slot = 2 * self._slots
            self._slots += 1
            self._calls.append(function)
            self._calls.append(argument)
        entry.at = at
        entry.order = (priority + 1) * PRIORITY + self._number
        entry.slot = slot
        self._number += 1
        heap = self._heap
        place = self._used
        self._used += 1
        while place:
            parent = (place - 1) >> 1
            if heap[parent].at < at or (heap[parent].at == at and heap[parent].order < entry.order):
                break
            heap[place] = heap[parent]
            place = parent
        heap[place] = entry
        return 0

    cdef Py_ssize_t _take(self) except -1:
        """Remove the first entry and set the clock to it; returns its slot, which is free from now on."""
        cdef Entry* heap = self._heap
        cdef Entry first = heap[0], last
        cdef Py_ssize_t place = 0, child = 1, used
        self.now_us = <long long>first.at
        if self._odd_times or self._odd_now is not None:
            self._odd_now = self._odd_times.pop(first.order % PRIORITY, None)
        self._used -= 1
        used = self._used
        self._free[self._slots - used - 1] = first.slot
        last = heap[used]
        while child < used:
            if child + 1 < used and (
                heap[child + 1].at < heap[child].at
                or (heap[child + 1].at == heap[child].at and heap[child + 1].order < heap[child].order)
            ):
                child += 1
            if last.at < heap[child].at or (last.at == heap[child].at and last.order < heap[child].order):
                break
            heap[place] = heap[child]
            place = child
            child = 2 * place + 1
        heap[place] = last
        return first.slot

    cdef int _grow(self) except -1:
        cdef Py_ssize_t room = max(FIRST_ROOM, 2 * self._room)
        cdef Entry* heap = <Entry*>PyMem_Realloc(self._heap, room * sizeof(Entry))
        if heap == NULL:
            raise MemoryError
        self._heap = heap
        cdef Py_ssize_t* free = <Py_ssize_t*>PyMem_Realloc(self._free, room * sizeof(Py_ssize_t))
        if free == NULL:
            raise MemoryError
        self._free = free
        self._room = room
        return 0
