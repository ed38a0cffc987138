"""The directory: the sink sends heads the holders of a value, since every reading reaches it anyway.

Beyond the paper. A request ends at the sink with its reading and the partners that heads contributed, so the
sink knows which heads hold which values. It reports them to initiators, in notes that it sends only when an
initiator's knowledge is out of date, and it sends a request that missed holders to them before it records the
result. Exploration is not needed: nothing is found by chance.
"""

from collections import OrderedDict
from collections.abc import Sequence

from join.contract import Value
from join.reading import Stamp
from join.strategies.snjoin_star.request import ProbeRequest
from join.strategies.snjoin_star.rules.contract import Note
from join.strategies.snjoin_star.rules.recall_target import RecallTarget
from join.strategies.snjoin_star.rules.relevance import bucket_of
from join.strategies.snjoin_star.rules.value_holders import Holders, ValueHolders
from sim.units import US_PER_S

VALUES_PER_BUCKET = 16
"""How many values a head remembers holders of, per bucket of the memory it is given."""

MEMORY_US = 60 * US_PER_S
"""How long beyond two windows the sink remembers a reading: requests can be that late."""


class Directory:
    """At the sink: how many sensors of which heads hold each value, learnt from readings."""

    def __init__(self, *, window_us: int) -> None:
        self._window_us = window_us
        self._held: dict[Value, ValueHolders] = {}
        self._last_us: OrderedDict[Value, int] = OrderedDict()
        """By value: its newest reading; the value longest without one first."""
        self._newest_us = -(1 << 62)
        """The newest reading so far: what is far older is forgotten."""

    def take(self, value: Value, sensor: int, head: int, at_us: int, stamp: Stamp) -> None:
        """Record that `head` holds a reading of `sensor`, processed there at `stamp`."""
        held = self._held.get(value)
        if held is None:
            held = self._held[value] = ValueHolders()
        held.take(sensor, head, (at_us, stamp))
        if at_us > self._newest_us:  # noqa: PLR1730 (`max` would be a call)
            self._newest_us = at_us
        if at_us >= self._last_us.get(value, at_us):
            self._last_us[value] = at_us
        self._last_us.move_to_end(value)
        self._forget_values()

    def holders(
        self, value: Value, at_us: int, before: Stamp | None = None, origin: int | None = None
    ) -> Holders:
        """The heads that hold a value for a reading made at `at_us`, with how many of their sensors do.

        The sensor `origin` does not count: it is the one that asks.

        Which readings are in the window depends on the reading that asks and not on when it asks: its request may come
        to the sink after readings at the window's edge have left it. A sensor that has changed heads is at its
        newest one. A request that its newest reading has overtaken does not find that one, since it is not stamped
        `before` it, and needs the heads that the sensor had earlier too.
        """
        held = self._held.get(value)
        if held is None:
            return {}
        holders = held.holders(at_us - self._window_us, before, origin)
        held.forget(self._forgotten_us())
        return holders

    def _forgotten_us(self) -> int:
        """Readings made before this time are forgotten."""
        return self._newest_us - 2 * self._window_us - MEMORY_US

    def _forget_values(self) -> None:
        """Forget values that no sensor has had for long; nobody may ever ask for them again."""
        forgotten_us = self._forgotten_us()
        for _ in range(2):  # for one that is taken, so that they do not pile up
            value = next(iter(self._last_us))
            if self._last_us[value] >= forgotten_us:
                break
            del self._last_us[value]
            del self._held[value]


class DirectoryProbing:
    """At a head: probes the heads that the sink named, while its note may still be true."""

    def __init__(self, *, buckets: int, values_most: int, target: RecallTarget | None) -> None:
        self._buckets = buckets
        self._values_most = values_most
        self._target = target
        self._known: OrderedDict[Value, tuple[int, Holders]] = OrderedDict()
        """By value: the version of the sink's last note on it, and the holders in it; longest unused first."""
        self._heads: Sequence[int] = ()
        self._present: frozenset[int] = frozenset()
        """The heads there were to choose from last, and the same as a set."""

    def choose(self, request: ProbeRequest, heads: Sequence[int], now_us: int) -> tuple[int, ...]:
        """The heads that hold the value by the last note, fewest sensors first; none if there is no note."""
        del now_us
        known = self._known.get(request.value)
        if known is None:
            return ()
        self._known.move_to_end(request.value)
        request.version = known[0]
        if heads is not self._heads or len(heads) != len(self._present):
            self._heads, self._present = heads, frozenset(heads)
        holders = known[1]
        chosen = [head for head in holders if head in self._present]
        if self._target is not None:
            expected = {head: float(holders[head]) for head in chosen}
            bucket = bucket_of(request.value, self._buckets)
            chosen = self._target.choose(bucket, request.counts[0], expected)
        fewest_first = [(holders[head], head) for head in chosen]
        fewest_first.sort()
        return tuple([head for _, head in fewest_first])

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
