"""The join that the sink runs alone under the centralised strategy, with any operator for variable arity.

All of them find the same partners. What differs is the work, counted in hash tables looked into (for the
ripple join, which has none: in buffers scanned).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from join.contract import Arity, Member, Occurrence, Stream
from join.operators.registry import make_operator
from join.reading import Reading
from join.strategies.contract import JoinSettings
from join.strategies.snjoin_star.head import ClusterHead, HeadSettings
from join.strategies.snjoin_star.rules.without_learning import FullProbing
from join.windows import Uniform
from sim.trace.tables import SINK


class Joined(NamedTuple):
    """What a reading joined with at the sink."""

    partners: list[tuple[Member, ...]]
    width: int
    """How many sensors these are of."""
    tables: int
    """Hash tables, or buffers, that were looked into."""


class SinkOperator(Protocol):
    """Joins one reading after the other."""

    def take(self, reading: Reading, now_us: int) -> Joined | None:
        """What a reading joins with; None if it comes too late to be joined."""


class SNJoinAtSink:
    """SNJoin, as it runs at a head."""

    def __init__(self, head: ClusterHead) -> None:
        self._head = head

    def take(self, reading: Reading, now_us: int) -> Joined | None:
        """What a reading joins with."""
        found = self._head.take_reading(reading.value, reading.node, reading.at_us, now_us)
        partners = found.partners if found.found else []
        return Joined(partners, found.counts[0], self._head.tables)


class OperatorAtSink:
    """Any other operator.

    What is late is late by its own watermark, which a mote whose clock is ahead moves on.
    """

    def __init__(self, name: str, *, window_us: int, late_us: int, factorised: bool) -> None:
        self._operator = make_operator(
            name, windows=Uniform(window_us), arity=Arity.VARIABLE, late_us=late_us
        )
        self._factorised = factorised
        self._late = 0
        self._looked = 0

    def take(self, reading: Reading, now_us: int) -> Joined | None:
        """What a reading joins with; None if it is late."""
        del now_us
        results = self._operator.insert(Occurrence(reading.node, reading.value, reading.at_us))
        # Of a reading that is out of order there may be several results: see `join.operators.forming`.
        partners = [self._members(result.partners.items()) for result in results]
        stats = self._operator.stats
        tables, self._looked = stats.probes - self._looked, stats.probes
        if stats.late > self._late:
            self._late = stats.late
            return None
        sensors: set[Stream] = {member.stream for part in partners for member in part}
        return Joined(partners, len(sensors), tables)

    def _members(self, partners: Iterable[tuple[Stream, Sequence[int]]]) -> tuple[Member, ...]:
        if self._factorised:
            return tuple(Member(stream, us) for stream, times in partners for us in times)
        return tuple(Member(stream, times[-1]) for stream, times in partners)


def sink_operator(settings: JoinSettings) -> SinkOperator:
    """The operator that the settings name."""
    if settings.operator == "snjoin":
        head = HeadSettings(settings.window_us, settings.late_us, settings.factorised)
        return SNJoinAtSink(ClusterHead(SINK, FullProbing(), head))
    return OperatorAtSink(
        settings.operator,
        window_us=settings.window_us,
        late_us=settings.late_us,
        factorised=settings.factorised,
    )
