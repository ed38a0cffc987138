"""Accounts for every reading and probe request: how it ended, and why."""

from collections import Counter

from join.reading import Reading
from join.strategies.snjoin_star.request import ProbeRequest
from sim.trace.recorder import Rows
from sim.trace.tables import DropReason, Fate, RequestEnd


class Accounts:
    """The fates of readings and requests and the drops of messages, written to the trace and counted."""

    def __init__(self, fates: Rows, drops: Rows, probes: Rows, requests: Rows) -> None:
        self._fates = fates
        self._drops = drops
        self._probes = probes
        self._requests = requests
        self.submitted = 0
        self.fates: Counter[str] = Counter()
        self.drops: Counter[str] = Counter()
        """Drops of anything, by reason."""
        self.probes = 0
        """Probe requests that came to their end."""
        self.requests: Counter[str] = Counter()
        """Ends of probe requests, by how they ended."""
        self.heads_probed = 0
        self.heads_matched = 0

    def joined(self, reading: Reading, head: int, at_us: int) -> None:
        """The reading has been joined and is held for later ones, at a head or the sink."""
        self.fates[Fate.JOINED] += 1
        self._fates.append((at_us, reading.node, reading.at_us, Fate.JOINED, None, head))

    def dropped(self, reading: Reading, where: int, reason: DropReason, at_us: int) -> None:
        """The reading never came to be joined, at the head or sink where it should have been."""
        self.fates[Fate.DROPPED] += 1
        self.drops[reason] += 1
        head = None if where < 0 or reason is DropReason.NO_HEAD else where
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

    def finished(self, request: ProbeRequest, at_us: int) -> None:
        """A probe request has been past all heads of its sequence."""
        probed, matched = len(request.sequence), request.heads_matched
        self.probes += 1
        self.heads_probed += probed
        self.heads_matched += matched
        self._probes.append(
            (
                at_us,
                request.initiator,
                request.value,
                probed,
                matched,
                request.hops,
                request.bytes,
                request.origin,
                request.at_us,
            )
        )
        self.ended(request, RequestEnd.FINISHED, at_us)

    def ended(
        self,
        request: ProbeRequest,
        end: RequestEnd,
        at_us: int,
        *,
        where: int | None = None,
        reason: DropReason | None = None,
    ) -> None:
        """A probe request, or a part of one, came to an end; where and why, if before its time."""
        self.requests[end] += 1
        self._requests.append(
            (
                at_us,
                request.initiator,
                request.origin,
                request.at_us,
                request.stamp[0],
                request.known,
                request.sequence,
                request.passed_over,
                request.parts,
                end,
                reason,
                where,
            )
        )

    def assert_complete(self) -> None:
        """Every reading that was handed over has exactly one fate."""
        assert self.submitted == self.fates.total(), (self.submitted, self.fates)
