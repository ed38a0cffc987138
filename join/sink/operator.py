"""The join that the sink runs alone under the centralised strategy, with any operator for variable arity.

All of them find the same partners. They differ in the work, counted in hash tables probed (for the
ripple join, which has none: in buffers scanned).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from join.contract import Arity, Occurrence, Partner, Stream
from join.reading import Reading
from join.strategies.contract import JoinSettings
from join.strategies.snjoin_star.head import ClusterHead, HeadSettings
from join.strategies.snjoin_star.rules.without_learning import FullProbing
from join.windows import Uniform
from sim.trace.tables import SINK


class Joined(NamedTuple):
    """The partners of a reading at the sink."""

    partners: list[tuple[Partner, ...]]
    width: int
    """How many sensors the partners are of."""
    tables: int
    """Hash tables probed, or buffers scanned."""


class SinkOperator(Protocol):
    """Joins one reading after the other."""

    def take(self, reading: Reading, now_us: int) -> Joined | None:
        """Join a reading and return its partners; None if it is too late to be joined."""


class SNJoinAtSink:
    """SNJoin, as it runs at a head."""

    def __init__(self, head: ClusterHead) -> None:
        self._head = head

    def take(self, reading: Reading, now_us: int) -> Joined | None:
        """Join a reading and return its partners."""
        found = self._head.take_reading(reading.value, reading.node, reading.at_us, now_us)
        partners = found.partners if found.found else []
        return Joined(partners, found.counts[0], self._head.tables)


class OperatorAtSink:
    """Any other operator.

    Lateness is measured against the operator's own watermark, which a mote whose clock is ahead advances.
    """

    def __init__(self, name: str, *, window_us: int, late_us: int, factorised: bool) -> None:
        from join.operators.registry import make_operator  # few runs need operators

        self._operator = make_operator(
            name, windows=Uniform(window_us), arity=Arity.VARIABLE, late_us=late_us
        )
        self._factorised = factorised
        self._late = 0
        self._looked = 0

    def take(self, reading: Reading, now_us: int) -> Joined | None:
        """Join a reading and return its partners; None if it is late."""
        del now_us
        results = self._operator.insert(Occurrence(reading.node, reading.value, reading.at_us))
        # A reading that is out of order may have several results: see `join.operators.forming`.
        partners = [self._members(result.partners.items()) for result in results]
        stats = self._operator.stats
        tables, self._looked = stats.probes - self._looked, stats.probes
        if stats.late > self._late:
            self._late = stats.late
            return None
        sensors: set[Stream] = {stream for part in partners for stream, _ in part}
        return Joined(partners, len(sensors), tables)

    def _members(self, partners: Iterable[tuple[Stream, Sequence[int]]]) -> tuple[Partner, ...]:
        if self._factorised:
            return tuple((stream, us) for stream, times in partners for us in times)
        return tuple((stream, times[-1]) for stream, times in partners)


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
