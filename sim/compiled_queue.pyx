"""The queue of events on an array of C: see `sim/event_queue.py`, whose interface and order it has.

A binary heap of (time, order, slot); order is priority and number in one integer, and a slot holds function and argument in a list that
Python's garbage collector sees. Times are whole microseconds, which a double holds exactly for 285 years; SimPy programs may also
use fractions, whose objects are kept aside.
"""

from cpython.mem cimport PyMem_Free, PyMem_Realloc

cdef enum:
    FIRST_ROOM = 1024
    NORMAL = 1

cdef long long PRIORITY = 1LL << 56
cdef long long EXACT = 1LL << 53


cdef class CompiledQueue:
    """Calls that are due, and the loop that makes them."""

    def __cinit__(self, owner):
        self._owner = owner
        self._heap = NULL
        self._used = self._room = 0
        self._number = 0
        self._until = 0.0
        self.now_us = 0
        self._calls = []
        self._free = []
        self._odd_times = {}

    def __dealloc__(self):
        PyMem_Free(self._heap)

    def __len__(self):
        return self._used

    cpdef push(self, at_us, function, argument, long long priority=NORMAL):
        """Have `function(argument)` called at `at_us`."""
        cdef double at = at_us
        if not -EXACT < at < EXACT:
            raise OverflowError(at_us)
        if type(at_us) is not int:
            self._odd_times[self._number] = at_us
        self._add(at, priority, function, argument)

    def call_later(self, delay_us, function, argument):
        """Call `function(argument)` when `delay_us` have passed."""
        self.push(self._owner.now_us + delay_us, function, argument)

    def call_at(self, at_us, function, argument):
        """Call `function(argument)` at `at_us`, which must not have passed."""
        assert at_us >= self._owner.now_us, (at_us, self._owner.now_us)
        self.push(at_us, function, argument)

    def advance(self, until_us):
        """Make all calls that are due before `until_us`; the clock stays at the last of them."""
        cdef long long handled = 0
        cdef double until = until_us
        cdef Entry entry
        cdef object function, argument
        cdef Py_ssize_t slot
        cdef list calls = self._calls
        self._until = until
        try:
            while self._used and self._heap[0].at < until:
                entry = self._take()
                self._set_clock(entry)
                handled += 1
                slot = entry.slot
                function = calls[slot]
                argument = calls[slot + 1]
                calls[slot] = calls[slot + 1] = None
                self._free.append(slot)
                function(argument)
        finally:
            self._owner.processed += handled
            self._until = 0.0

    def skip_to(self, at_us):
        """Set the clock to `at_us` if nothing else is due until then; otherwise nothing changes."""
        cdef double at = at_us
        if at >= self._until or (self._used and self._heap[0].at <= at):
            return False
        self.now_us = at_us
        self._owner.now_us = at_us
        self._owner.processed += 1
        return True

    def step(self):
        """Make the next call; there must be one."""
        cdef Entry entry = self._take()
        cdef object function = self._calls[entry.slot], argument = self._calls[entry.slot + 1]
        self._set_clock(entry)
        self._calls[entry.slot] = self._calls[entry.slot + 1] = None
        self._free.append(entry.slot)
        self._owner.processed += 1
        function(argument)

    def next_us(self):
        """When the next call is due; there must be one."""
        if not self._used:
            raise IndexError("no call is due")
        return self._time(self._heap[0])

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
        """Have `function(argument)` called at `at_us`, which has not passed."""
        return self._add(<double>at_us, NORMAL, function, argument)

    cdef object _time(self, Entry entry):
        """When an entry is due, as it was given."""
        cdef long long number = entry.order % PRIORITY
        if self._odd_times and number in self._odd_times:
            return self._odd_times[number]
        return <long long>entry.at

    cdef int _set_clock(self, Entry entry) except -1:
        self.now_us = <long long>entry.at
        if self._odd_times:
            self._owner.now_us = self._time(entry)
            self._odd_times.pop(entry.order % PRIORITY, None)
        else:
            self._owner.now_us = self.now_us
        return 0

    cdef int _add(self, double at, long long priority, object function, object argument) except -1:
        cdef Py_ssize_t slot, place, parent
        cdef Entry* heap
        cdef Entry entry
        if self._used == self._room:
            self._grow()
        if self._free:
            slot = self._free.pop()
            self._calls[slot] = function
            self._calls[slot + 1] = argument
        else:
            slot = len(self._calls)
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

    cdef Entry _take(self):
        cdef Entry* heap = self._heap
        cdef Entry first = heap[0], last
        cdef Py_ssize_t place = 0, child, used
        self._used -= 1
        used = self._used
        last = heap[used]
        child = 1
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
        return first

    cdef int _grow(self) except -1:
        cdef Py_ssize_t room = max(FIRST_ROOM, 2 * self._room)
        cdef Entry* heap = <Entry*>PyMem_Realloc(self._heap, room * sizeof(Entry))
        if heap == NULL:
            raise MemoryError
        self._heap = heap
        self._room = room
        return 0
