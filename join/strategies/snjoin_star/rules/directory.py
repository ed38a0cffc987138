"""The directory: the sink sends heads the holders of a value, since every reading reaches it anyway.

Beyond the paper. A request ends at the sink with its reading and the partners that heads contributed, so the
sink knows which heads hold which values. It reports them to initiators, in notes that it sends only when an
initiator's knowledge is out of date, and it sends a request that missed holders to them before it records the
result. Exploration is not needed: nothing is found by chance.
"""

from collections import OrderedDict, deque
from collections.abc import Sequence

from join.contract import Value
from join.strategies.snjoin_star.request import ProbeRequest
from join.strategies.snjoin_star.rules.contract import Note
from join.strategies.snjoin_star.rules.recall_target import RecallTarget
from join.strategies.snjoin_star.rules.relevance import bucket_of

VALUES_PER_BUCKET = 16
"""How many values a head remembers holders of, per bucket of the memory it is given."""

Holders = dict[int, int]
"""Heads and how many of their sensors hold a value."""


class _Held:
    """The directory's entry for one value."""

    __slots__ = ("ages", "holders", "sensors")

    def __init__(self) -> None:
        self.sensors: dict[int, tuple[int, int]] = {}
        """By sensor: the head that holds its newest reading, and when that was made."""
        self.holders: Holders = {}
        self.ages: deque[tuple[int, int]] = deque()
        """(time, sensor) in order of arrival: which sensors may have left the window."""


class Directory:
    """At the sink: how many sensors of which heads hold each value, learnt from readings.

    Invariant: `holders` counts the entries of `sensors` by head.
    """

    def __init__(self, *, window_us: int) -> None:
        self._window_us = window_us
        self._values: dict[Value, _Held] = {}

    def take(self, value: Value, sensor: int, head: int, at_us: int) -> None:
        """Record that `head` holds a reading of `sensor`."""
        held = self._values.get(value)
        if held is None:
            held = self._values[value] = _Held()
        known = held.sensors.get(sensor)
        if known is not None:
            if known[1] > at_us:
                return
            self._release(held, known[0])
        held.sensors[sensor] = (head, at_us)
        held.holders[head] = held.holders.get(head, 0) + 1
        held.ages.append((at_us, sensor))

    def holders(self, value: Value, now_us: int) -> Holders:
        """The heads that hold a value, with how many of their sensors do; not to be changed."""
        held = self._values.get(value)
        if held is None:
            return {}
        oldest_us = now_us - self._window_us
        ages, sensors = held.ages, held.sensors
        while ages and ages[0][0] < oldest_us:
            at_us, sensor = ages.popleft()
            known = sensors.get(sensor)
            if known is not None and known[1] == at_us:
                del sensors[sensor]
                self._release(held, known[0])
        return held.holders

    @staticmethod
    def _release(held: _Held, head: int) -> None:
        """Count one sensor less at `head`."""
        if held.holders[head] == 1:
            del held.holders[head]
        else:
            held.holders[head] -= 1


class DirectoryProbing:
    """At a head: probes the heads that the sink named, while its note may still be true."""

    def __init__(self, *, buckets: int, values_most: int, target: RecallTarget | None) -> None:
        self._buckets = buckets
        self._values_most = values_most
        self._target = target
        self._known: OrderedDict[Value, tuple[int, Holders]] = OrderedDict()
        """By value: the version of the sink's last note on it, and the holders in it; longest unused first."""

    def choose(self, request: ProbeRequest, heads: Sequence[int], now_us: int) -> tuple[int, ...]:
        """The heads that hold the value by the last note, fewest sensors first; none if there is no note."""
        del now_us
        known = self._known.get(request.value)
        if known is None:
            return ()
        self._known.move_to_end(request.value)
        request.version = known[0]
        present = set(heads)
        expected = {head: float(n) for head, n in known[1].items() if head in present}
        if self._target is None:
            chosen = list(expected)
        else:
            bucket = bucket_of(request.value, self._buckets)
            chosen = self._target.choose(bucket, request.counts[0], expected)
        return tuple(sorted(chosen, key=lambda head: (expected[head], head)))

    def learn(self, note: Note, now_us: int) -> None:
        """Store the holders of a value."""
        del now_us
        assert note.holders is not None, note
        self._known[note.value] = (note.version, dict(note.holders))
        self._known.move_to_end(note.value)
        while len(self._known) > self._values_most:
            self._known.popitem(last=False)

    def forget(self, head: int) -> None:
        """Remove a node that is no longer a head."""
        for _, holders in self._known.values():
            holders.pop(head, None)
