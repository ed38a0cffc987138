"""The strategy `change`: motes lease to their heads, and heads report to the sink who joins, stays and leaves.

A mote sends its head a reading only when the last one it sent is about to lapse (`join.strategies.leases`); a head sends the
sink a report only when the sink would otherwise be wrong (`join.strategies.change.head`). The sink keeps the sets.

When motes switch heads, they renew their leases at the new one, and the old one lets go of them.
"""

from collections.abc import Sequence
from typing import ClassVar

from join.reading import Reading
from join.strategies.change.head import CountingHead, ReportingHead
from join.strategies.change.hold_rule import HoldRule
from join.strategies.change.records import Record
from join.strategies.change.reporting import Reporting
from join.strategies.contract import JoinSettings, Needs, Ports
from join.strategies.leasing import ROUNDING_US, Leasing
from join.strategies.margins import margins
from join.strategies.record_sizes import RecordSizes
from network.contract import Message
from sim.trace.kinds import READING, STATE
from sim.trace.tables import AnswerLevel, DropReason

Lease = tuple[Reading, bool]
"""A reading on its way to the head, and whether it was sent before."""


UNREPAIRED_MOST = 0.02
"""Heads hold motes at the sink if at most this share of reports is lost together with its repetition."""


class ChangeJoin:
    """Motes lease to heads, heads report changes."""

    needs: ClassVar[Needs] = Needs(delivers=AnswerLevel.SETS, sends_every_reading=False)

    def __init__(self, ports: Ports, settings: JoinSettings) -> None:
        self._clock = ports.clock
        self._links = ports.links
        self._cpus = ports.cpus
        self._membership = ports.membership
        self._accounts = ports.accounts
        self._local_us = ports.local_us
        self._end_us = ports.end_us
        self._window_us = settings.window_us
        self._late_us = settings.late_us
        self._level = settings.reporting.level
        self._may_hold = _may_hold(ports, settings)
        self._service_us = settings.costs.feedback_us()
        self._sizes = RecordSizes(compact=settings.reporting.compact)
        self._margins = margins(ports, settings)
        self._heads: dict[int, ReportingHead | CountingHead] = {}
        self._reporting = Reporting(ports, settings)
        self._leasing = Leasing(ports, settings, self._send, margin_us=self._margins.mote_us)
        ports.links.attach(READING, self._on_lease, self._on_lost)
        ports.membership.when_changed(self._on_clusters)

    def submit(self, reading: Reading) -> None:
        """Take a mote's reading; it is sent to its head now, later, or never."""
        self._leasing.submit(reading)

    def on_roster(
        self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]
    ) -> None:
        """Do nothing: heads report to the sink alone and need no roster."""

    def on_down(self, node: int) -> None:
        """Lose what a mote had yet to send, and what it knew of its members as their head."""
        self._leasing.on_down(node)
        self._reporting.on_down(node)
        head = self._heads.pop(node, None)
        if head is not None:
            now_us = self._clock.now_us
            for mote, at_us in head.leases():
                self._accounts.lost(STATE, node, DropReason.STATE_LOST, now_us, mote, at_us)

    def close(self, on_air: Sequence[Message]) -> None:
        """End the run: record the readings that are still under way, and those kept and not sent."""
        for message in on_air:
            if message.kind == READING:
                reading, again = message.body
                if not again:
                    self._accounts.in_flight(reading, self._clock.now_us)
        self._leasing.close()

    def _on_clusters(self) -> None:
        """Motes have switched heads: old heads let go of them, and they renew their leases."""
        members: dict[int, set[int]] = {}
        for mote, node in enumerate(self._membership.head_of):
            members.setdefault(node, set()).add(mote)
        for node in sorted(self._heads):
            self._report(node, list(self._heads[node].release(members.get(node, set()))))
        self._leasing.renew_moved()

    # Motes.

    def _send(self, reading: Reading, again: bool) -> None:
        node = reading.node
        head = self._membership.head_of[node]
        now_us = self._clock.now_us
        if head < 0:
            if not again:
                self._accounts.dropped(reading, node, DropReason.NO_HEAD, now_us)
        elif head == node:
            self._take(node, (reading, again))
        else:
            size = self._sizes.reading(reading.value, reading.at_us, now_us)
            self._links.unicast(READING, node, head, size, (reading, again), now_us)

    # Heads.

    def _on_lease(self, message: Message) -> None:
        self._take(message.target, message.body)

    def _take(self, node: int, lease: Lease) -> None:
        """Take a member's lease at head `node`."""
        reading, again = lease
        start_us = self._cpus.admit(node)
        if start_us is None:
            self._drop(lease, node, DropReason.QUEUE_FULL)
            return
        done_us = self._cpus.occupy(node, start_us, self._service_us)
        if done_us >= self._end_us:
            if not again:
                self._accounts.in_flight(reading, self._end_us)
            return
        if self._local_us(node, start_us) - reading.at_us > max(self._late_us, self._window_us):
            self._drop(lease, node, DropReason.LATE)
            return
        if not again:
            self._accounts.joined(reading, node, start_us)
        self._clock.call_at(done_us, self._join, (node, reading))

    def _join(self, taken: tuple[int, Reading]) -> None:
        node, (mote, value, at_us) = taken
        if not self._links.alive[node]:
            return
        head = self._heads.get(node)
        if head is None:
            head = self._heads[node] = self._new_head()
        record = head.take(value, mote, at_us, self._local_us(node, self._clock.now_us))
        self._report(node, [] if record is None else [record])
        self._arm(node, value, mote)

    def _new_head(self) -> ReportingHead | CountingHead:
        if self._level is not AnswerLevel.SETS:
            return CountingHead(window_us=self._window_us)
        return ReportingHead(
            window_us=self._window_us,
            margin_us=self._margins.head_us,
            rule=HoldRule() if self._may_hold else None,
        )

    def _arm(self, node: int, value: int, mote: int) -> None:
        """Wait until a stay is to be looked at, by the head's own clock."""
        now_us = self._clock.now_us
        local_us = self._local_us(node, now_us)
        due_us = self._heads[node].due_us(value, mote, local_us)
        if due_us is not None:
            wait_us = max(0, due_us - local_us)
            self._clock.call_at(now_us + wait_us, self._due, (node, value, mote))

    def _due(self, stay: tuple[int, int, int]) -> None:
        node, value, mote = stay
        head = self._heads.get(node)
        if head is None:
            return
        local_us = self._local_us(node, self._clock.now_us)
        due_us = head.due_us(value, mote, local_us)
        if due_us is None or due_us > local_us + ROUNDING_US:
            return  # it has been renewed: another call is on its way
        record = head.due(value, mote, max(local_us, due_us))
        self._report(node, [] if record is None else [record])
        self._arm(node, value, mote)

    def _report(self, node: int, records: Sequence[Record]) -> None:
        if records:
            self._reporting.send(node, self._heads[node], records)

    # Losses.

    def _drop(self, lease: Lease, where: int, reason: DropReason) -> None:
        reading, again = lease
        now_us = self._clock.now_us
        if again:
            self._accounts.lost(READING, where, reason, now_us, reading.node, reading.at_us)
        else:
            self._accounts.dropped(reading, where, reason, now_us)

    def _on_lost(self, message: Message, reason: DropReason) -> None:
        self._drop(message.body, message.target, reason)
        if reason is DropReason.DEAD:
            self._membership.report_lost_head(message.source)


def _may_hold(ports: Ports, settings: JoinSettings) -> bool:
    """Whether heads may hold motes at the sink: where a `leave` is often lost for good, motes would stay too long."""
    reporting = settings.reporting
    if not reporting.lossy:
        return True
    lost_share = 1.0 - (1.0 - reporting.hop_loss) ** ports.way.depth_max()
    return lost_share**2 <= UNREPAIRED_MOST
