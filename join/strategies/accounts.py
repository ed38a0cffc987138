"""The fate of every reading and probe request: how it ended, and why."""

from collections import Counter

from join.reading import Reading
from join.strategies.snjoin_star.request import ProbeRequest
from sim.trace.kinds import READING
from sim.trace.recorder import Rows
from sim.trace.rows import drop_row, fate_row, probe_row, request_row
from sim.trace.tables import DropReason, Fate, RequestEnd


class Accounts:
    """Counts the fates of readings and requests and the drops of messages, and writes them to the trace."""

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
        """Probe requests that have ended."""
        self.requests: Counter[str] = Counter()
        """Ends of probe requests, by how they ended."""
        self.heads_probed = 0
        self.heads_matched = 0

    def joined(self, reading: Reading, head: int, at_us: int) -> None:
        """Record that a reading has been joined and is held for later ones, at a head or the sink."""
        self._fate(reading, at_us, Fate.JOINED, head=head)

    def dropped(self, reading: Reading, where: int, reason: DropReason, at_us: int) -> None:
        """Record that a reading was dropped before it was joined, at or on the way to head or sink `where`."""
        head = None if where < 0 or reason is DropReason.NO_HEAD else where
        self._fate(reading, at_us, Fate.DROPPED, reason=reason, head=head)
        self.lost(READING, where, reason, at_us, reading.node, reading.at_us)

    def in_flight(self, reading: Reading, at_us: int) -> None:
        """Record that the run ended while the reading was on its way."""
        self._fate(reading, at_us, Fate.IN_FLIGHT)

    def suppressed(self, reading: Reading, at_us: int) -> None:
        """Record that a reading did not have to be sent: the sink knew as much."""
        self._fate(reading, at_us, Fate.SUPPRESSED)

    def lost(
        self,
        kind: str,
        where: int,
        reason: DropReason,
        at_us: int,
        origin: int | None,
        origin_at_us: int | None,
    ) -> None:
        """Record that a message, or a held reading (kind "state"), was dropped; with its reading, if any."""
        self.drops[reason] += 1
        self._drops.append(
            drop_row(
                at_us=at_us,
                node=where,
                reason=reason,
                kind=kind,
                origin=origin,
                origin_at_us=origin_at_us,
            )
        )

    def finished(self, request: ProbeRequest, at_us: int) -> None:
        """Record that a probe request has visited all heads of its sequence."""
        probed, matched = len(request.sequence), request.heads_matched
        self.probes += 1
        self.heads_probed += probed
        self.heads_matched += matched
        self._probes.append(
            probe_row(
                at_us=at_us,
                origin_head=request.initiator,
                value=request.value,
                heads_probed=probed,
                heads_matched=matched,
                hops=request.hops,
                bytes=request.bytes,
                origin=request.origin,
                origin_at_us=request.at_us,
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
        """Record the end of a probe request, or of a part; with place and reason if it ended early."""
        self.requests[end] += 1
        self._requests.append(
            request_row(
                at_us=at_us,
                origin_head=request.initiator,
                origin=request.origin,
                origin_at_us=request.at_us,
                stamp_us=request.stamp[0],
                known=request.known,
                heads=request.sequence,
                passed_over=request.passed_over,
                parts=request.parts,
                outcome=end,
                reason=reason,
                node=where,
            )
        )

    def assert_complete(self) -> None:
        """Check that every reading submitted has exactly one fate."""
        assert self.submitted == self.fates.total(), (self.submitted, self.fates)

    def _fate(
        self,
        reading: Reading,
        at_us: int,
        fate: Fate,
        *,
        reason: DropReason | None = None,
        head: int | None = None,
    ) -> None:
        self.fates[fate] += 1
        self._fates.append(
            fate_row(
                at_us=at_us,
                node=reading.node,
                origin_at_us=reading.at_us,
                fate=fate,
                reason=reason,
                head=head,
            )
        )
