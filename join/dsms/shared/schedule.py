"""The interface of schedulers for shared window joins, and the state they decide on (Shared §3).

Shared                         Here
SchedulingQueue(w_i)           queues[i]: tuples whose last completed window is the i-th; 0: none yet
outer tuple t                  Outer
windows w_1 … w_N              windows_us, ascending
Queries(w_l)                   queries[l - 1]

Deviation from §3.2: SWF's queues are named there by the window that comes next, MQT's by the window that is
done. Here both are named by the window that is done.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from join.dsms.shared.arrival_list import Arrival, ArrivalList
from join.dsms.shared.join_buffers import Scan


@dataclass(slots=True)
class Stretch:
    """The matches of an outer tuple between two windows' edges: at least one."""

    window_us: int
    """The smallest window that contains it."""
    scan: Scan
    produced_ns: Sequence[int]
    """When each match was found, in the order found."""
    _partners: list[Arrival] | None = None

    def partners(self) -> list[Arrival]:
        """The partners that matched, newest first; listed once and cached."""
        if self._partners is None:
            self._partners = self.scan.arrivals()
        return self._partners


@dataclass(slots=True, eq=False)
class Outer:
    """A tuple on its way through the windows of the other stream."""

    arrival: Arrival
    side: int
    partners: ArrivalList
    place: int
    """Partners at this place and above have been scanned: where to resume (§3.2)."""
    target_us: int
    """The largest window that it must scan."""
    done_us: int = -1
    """The largest window that it has scanned completely; -1: none."""
    found: list[Stretch] = field(default_factory=list)


Queues = Sequence[deque[Outer]]


class Schedule(ABC):
    """Decides which tuple is served next, and how far.

    Invariant of every schedule: a tuple never completes a window before an older tuple that needs the
    same window (§3.3: i <= j).
    """

    early = False
    """Whether the router releases a tuple's outputs as they are found, if no older tuple can still yield
    outputs for that query (§3.3), or holds them until the tuple has scanned the query's window (§3.2)."""

    def configure(self, windows_us: Sequence[int], queries: Sequence[int]) -> None:
        """Set the windows, ascending, and the number of queries of each; called when these change."""
        del windows_us, queries

    @abstractmethod
    def choose(self, queues: Queues) -> tuple[int, int]:
        """The queue to serve and how many windows beyond its own to go on to; some queue is not empty."""
