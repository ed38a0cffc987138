"""An operator on a loaded engine: a bounded buffer, one processor, and random load shedding (SNJoin §7).

SNJoin §7                                              Here
limited CPU time                                       `cost_ns` of each tuple, spent on a `VirtualCpu`
"dropped randomly from the system's buffers to         `arrive`: a full buffer loses a tuple drawn at random
accommodate new tuples"
output delay: arrival to effect in the output          `Served.done_ns` less the arrival
input drop rate                                        `dropped` to `arrived`

Time is virtual, so that delays, drops and output rates are exact and the same on every machine.
"""

import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from join.contract import Occurrence, Operator, Result
from join.dsms.shared.virtual_cpu import NS_PER_US, VirtualCpu


class Served(NamedTuple):
    """A tuple that was processed; read its results before the next one is taken."""

    occurrence: Occurrence
    results: Sequence[Result]
    done_ns: int


Cost = Callable[[Occurrence, Sequence[Result]], int]
"""What the tuple that was just inserted cost, in nanoseconds."""
Idle = Callable[[int], int]
"""Called when nothing waits, with the time until the next arrival in nanoseconds; returns the time it spent."""


class LoadedOperator:
    """Feeds an operator in order of arrival, as fast as its processor can.

    Invariant: at most `buffer` tuples wait; arrived = dropped + served + waiting.
    """

    def __init__(
        self,
        operator: Operator,
        cost_ns: Cost,
        *,
        buffer: int,
        draws: random.Random,
        idle: Idle | None = None,
    ) -> None:
        assert buffer >= 1, buffer
        self.operator = operator
        self.cpu = VirtualCpu()
        self.arrived = 0
        self.dropped = 0
        self.blocked_ns = 0
        """Time that the processor spent on something other than tuples."""
        self._cost_ns = cost_ns
        self._buffer = buffer
        self._draws = draws
        self._idle = idle
        self._waiting: deque[Occurrence] = deque()

    @property
    def waiting(self) -> int:
        """Tuples in the buffer."""
        return len(self._waiting)

    def arrive(self, occurrence: Occurrence) -> Iterator[Served]:
        """Serve what can be served before a tuple arrives, then take it in; exhaust the iterator.

        Occurrences must come in order of time.
        """
        at_ns = occurrence.at_us * NS_PER_US
        yield from self._serve_until(at_ns)
        self.arrived += 1
        if len(self._waiting) == self._buffer:
            del self._waiting[self._draws.randrange(self._buffer)]
            self.dropped += 1
        self._waiting.append(occurrence)

    def drain(self) -> Iterator[Served]:
        """Serve everything that waits."""
        while self._waiting:
            yield self._serve()

    def block(self, duration_ns: int) -> None:
        """Keep the processor busy with something else, such as a reorganisation."""
        self.cpu.spend(duration_ns)
        self.blocked_ns += duration_ns

    def _serve_until(self, at_ns: int) -> Iterator[Served]:
        """Serve until the processor is busy at `at_ns` or nothing waits."""
        while self._waiting and self.cpu.now_ns <= at_ns:
            yield self._serve()
        if self._idle is not None:
            while not self._waiting and self.cpu.now_ns <= at_ns:
                spent_ns = self._idle(at_ns - self.cpu.now_ns)
                if not spent_ns:
                    break
                self.cpu.spend(spent_ns)

    def _serve(self) -> Served:
        occurrence = self._waiting.popleft()
        self.cpu.wait_until(occurrence.at_us * NS_PER_US)
        results = self.operator.insert(occurrence)
        self.cpu.spend(self._cost_ns(occurrence, results))
        return Served(occurrence, results, self.cpu.now_ns)
