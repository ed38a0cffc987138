"""Accounts for every reading: joined, dropped with a reason, or in flight when the run ends."""

from collections import Counter
from typing import NamedTuple

from sim.recorder import Rows
from sim.records import DropReason, Fate


class Reading(NamedTuple):
    """A mote's reading that has a value to join."""

    node: int
    value: int
    at_us: int


class Accounts:
    """The fates of readings and the drops of messages, written to the trace and counted."""

    def __init__(self, fates: Rows, drops: Rows) -> None:
        self._fates = fates
        self._drops = drops
        self.submitted = 0
        self.fates: Counter[str] = Counter()
        self.drops: Counter[str] = Counter()
        """Drops of anything, by reason."""
        self.probes = 0
        """Probe requests that came to their end."""
        self.heads_probed = 0
        self.heads_matched = 0

    def joined(self, reading: Reading, head: int, at_us: int) -> None:
        """The reading has been joined and is held for later ones, at a head or the sink."""
        self.fates[Fate.JOINED] += 1
        self._fates.append((at_us, reading.node, reading.at_us, Fate.JOINED, None, head))

    def dropped(self, reading: Reading, where: int, reason: DropReason, at_us: int) -> None:
        """The reading never came to be joined."""
        self.fates[Fate.DROPPED] += 1
        self.drops[reason] += 1
        head = where if where >= 0 else None
        self._fates.append((at_us, reading.node, reading.at_us, Fate.DROPPED, reason, head))
        self._drops.append((at_us, where, reason, "reading", reading.node, reading.at_us))

    def in_flight(self, reading: Reading, at_us: int) -> None:
        """The run ended while the reading was on its way."""
        self.fates[Fate.IN_FLIGHT] += 1
        self._fates.append((at_us, reading.node, reading.at_us, Fate.IN_FLIGHT, None, None))

    def lost(
        self,
        kind: str,
        where: int,
        reason: DropReason,
        at_us: int,
        origin: int | None,
        origin_at_us: int | None,
    ) -> None:
        """A message, or a held reading (kind "state"), was dropped; the reading it was about, if any."""
        self.drops[reason] += 1
        self._drops.append((at_us, where, reason, kind, origin, origin_at_us))

    def probed(self, heads_probed: int, heads_matched: int) -> None:
        """A probe request has been past all heads of its sequence."""
        self.probes += 1
        self.heads_probed += heads_probed
        self.heads_matched += heads_matched

    def assert_complete(self) -> None:
        """Every reading that was handed over has exactly one fate."""
        assert self.submitted == self.fates.total(), (self.submitted, self.fates)
