"""Drives strategies that report changes: motes lease to a site, and sites report to the sink who joins, stays and leaves.

A mote sends a site a reading only when the last one it sent is about to lapse (`join.strategies.mote_leases`); a site sends the
sink a report only when the sink would otherwise be wrong (`join.strategies.change.head`). The sink keeps the sets.

Sites are the motes' heads (`change`), the motes themselves (`change` with `join.reporters = "motes"`) or the homes of values
(`rendezvous`). When motes switch heads, they renew their leases at the new one, and the old one lets go of them.
"""

from collections.abc import Sequence
from typing import ClassVar

from join.reading import Reading
from join.strategies.change.head import CountingHead, ReportingHead
from join.strategies.change.hold_rule import HoldRule
from join.strategies.change.records import Count, Record
from join.strategies.change.reporting import Reporting
from join.strategies.change.sites import HeadSites, OwnSites, Sites
from join.strategies.contract import JoinSettings, Needs, Ports
from join.strategies.margins import margins
from join.strategies.message_sizes import NODE_BYTES
from join.strategies.mote_leases_driver import ROUNDING_US, LeasesDriver
from join.strategies.record_sizes import RecordSizes
from network.contract import Message
from sim.trace.kinds import READING, STATE
from sim.trace.tables import AnswerLevel, DropReason

Lease = tuple[Reading, bool]
"""A reading on its way to the head, and whether it was sent before."""


UNREPAIRED_MOST = 0.02
"""Sites hold motes at the sink if at most this share of reports is lost together with its repetition."""


def change(ports: Ports, settings: JoinSettings) -> "ReportedJoin":
    """The strategy `change`."""
    if settings.reporting.by_motes:
        return ReportedJoin(ports, settings, OwnSites())
    return ReportedJoin(ports, settings, HeadSites(ports.membership))


class ReportedJoin:
    """Motes lease to sites, sites report changes."""

    needs: ClassVar[Needs] = Needs(delivers=AnswerLevel.SETS, sends_every_reading=False)

    def __init__(self, ports: Ports, settings: JoinSettings, sites: Sites) -> None:
        reporting = settings.reporting
        self._clock = ports.clock
        self._links = ports.links
        self._cpus = ports.cpus
        self._membership = ports.membership
        self._accounts = ports.accounts
        self._local_us = ports.local_us
        self._end_us = ports.end_us
        self._sites = sites
        self._window_us = settings.window_us
        self._late_us = max(settings.late_us, settings.window_us)
        # A head counts for its region, which is its own; a home has motes of all regions, and a mote has only itself to count.
        self._counts = not sites.own and (
            reporting.level is AnswerLevel.COUNT
            or (reporting.level is AnswerLevel.OCCUPANCY and not sites.meets)
        )
        names_region = reporting.level is AnswerLevel.OCCUPANCY and sites.meets
        self._region_bytes = NODE_BYTES if names_region else 0
        self._may_hold = may_hold(ports, settings)
        self._service_us = settings.costs.feedback_us()
        self._sizes = RecordSizes(compact=reporting.compact)
        self._margins = margins(ports, settings, far=sites.meets)
        self._heads: dict[int, ReportingHead | CountingHead] = {}
        self._armed_us: dict[tuple[int, int, int], int] = {}
        """By site, value and mote: when the stay is looked at next."""
        self._reporting = Reporting(
            ports, settings, region_bytes=self._region_bytes, of_itself=sites.own
        )
        self._leasing = LeasesDriver(
            ports,
            settings,
            self._send,
            margin_us=self._margins.mote_us,
            lossy=reporting.lossy and not sites.own,
        )
        ports.links.attach(READING, self._on_lease, self._on_lost)
        if not sites.meets and not sites.own:
            ports.membership.when_changed(self._on_clusters)

    @property
    def stays(self) -> int:
        """How many stays its sites know of."""
        return sum(1 for head in self._heads.values() for _ in head.leases())

    def submit(self, reading: Reading) -> None:
        """Take a mote's reading; it is sent to its site now, later, or never."""
        self._leasing.submit(reading)

    def on_roster(
        self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]
    ) -> None:
        """Do nothing: sites report to the sink alone and need no roster."""

    def on_down(self, node: int) -> None:
        """Lose what a mote had yet to send, and what it knew as a site."""
        self._sites.on_down(node)
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
            released: list[Record] = [*self._heads[node].release(members.get(node, set()))]
            self._report(node, released, self._clock.now_us)
        self._leasing.renew_moved()

    # Motes.

    def _send(self, reading: Reading, again: bool) -> None:
        node = reading.node
        head = self._sites.site_of(reading)
        now_us = self._clock.now_us
        if head < 0:
            if not again:
                self._accounts.dropped(reading, node, DropReason.NO_HEAD, now_us)
        elif head == node:
            self._take(node, (reading, again), now_us)
        else:
            size = self._sizes.reading(reading.value, reading.at_us, now_us) + self._region_bytes
            self._links.unicast(READING, node, head, size, (reading, again), now_us)

    # Sites.

    def _on_lease(self, message: Message) -> None:
        self._take(message.target, message.body, message.at_us)

    def _take(self, node: int, lease: Lease, sent_us: int) -> None:
        """Take a mote's lease, sent at `sent_us`, at site `node`."""
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
        if self._local_us(node, start_us) - reading.at_us > self._late_us:
            self._drop(lease, node, DropReason.LATE)
            return
        if not again:
            self._accounts.joined(reading, node, start_us)
        self._clock.call_at(done_us, self._join, (node, reading, sent_us))

    def _join(self, taken: tuple[int, Reading, int]) -> None:
        node, (mote, value, at_us), sent_us = taken
        if not self._links.alive[node]:
            return
        if self._counts and not self._sites.meets and self._membership.head_of[mote] != node:
            return  # it has switched heads meanwhile, and its new head counts it
        head = self._heads.get(node)
        if head is None:
            head = self._heads[node] = self._new_head()
        records = head.take(value, mote, at_us, self._local_us(node, self._clock.now_us))
        self._report(node, records, sent_us)
        # With the mote itself, those are to be looked at that were reported because it came.
        for each in dict.fromkeys([mote, *(r.mote for r in records if not isinstance(r, Count))]):
            self._arm(node, value, each)

    def _new_head(self) -> ReportingHead | CountingHead:
        if self._counts:
            return CountingHead(window_us=self._window_us, meets=self._sites.meets)
        return ReportingHead(
            window_us=self._window_us,
            margin_us=self._margins.head_us,
            rule=HoldRule(self._sites.going_on) if self._may_hold else None,
            meets=self._sites.meets,
        )

    def _arm(self, node: int, value: int, mote: int) -> None:
        """Wait until a stay is to be looked at, by the site's own clock."""
        head = self._heads.get(node)
        if head is None:
            return  # it died of its report
        stay = (node, value, mote)
        now_us = self._clock.now_us
        local_us = self._local_us(node, now_us)
        due_us = head.due_us(value, mote, local_us)
        if due_us is None:
            return
        at_us = now_us + max(0, due_us - local_us)
        known_us = self._armed_us.get(stay)
        if known_us is None or at_us < known_us:
            self._armed_us[stay] = at_us
            self._clock.call_at(at_us, self._due, stay)

    def _due(self, stay: tuple[int, int, int]) -> None:
        if self._armed_us.get(stay) != self._clock.now_us:
            return  # it has been looked at earlier
        del self._armed_us[stay]
        node, value, mote = stay
        head = self._heads.get(node)
        if head is None:
            return
        local_us = self._local_us(node, self._clock.now_us)
        due_us = head.due_us(value, mote, local_us)
        if due_us is not None and due_us <= local_us + ROUNDING_US:
            records = head.due(value, mote, max(local_us, due_us))
            self._report(node, records, self._clock.now_us)
        self._arm(node, value, mote)

    def _report(self, node: int, records: Sequence[Record], sent_us: int) -> None:
        """Report to the sink what a message sent at `sent_us` brought about."""
        if records:
            self._reporting.send(node, self._heads[node], records, sent_us)

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
            self._sites.on_lost(message.source)


def may_hold(ports: Ports, settings: JoinSettings) -> bool:
    """Whether sites may hold motes at the sink: where a `leave` is often lost for good, motes would stay too long."""
    reporting = settings.reporting
    if not reporting.lossy:
        return True
    lost_share = 1.0 - (1.0 - reporting.hop_loss) ** ports.way.depth_max()
    return lost_share**2 <= UNREPAIRED_MOST
