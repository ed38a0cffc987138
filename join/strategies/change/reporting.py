"""Carries the reports of heads to the sink: numbered, confirmed by digests, and repaired where some are missing.

* While a head holds anything it sends a digest every `refresh_us`, or with a report when half of that has passed; the
  sink lets go of what is not confirmed for two periods and a little more.
* A head that holds nothing reports who enters by plain records, as short as readings: they lapse by themselves.
* A mote that reports itself has no other reports that a digest could go with. It sends one as late as the sink waits for it, and none in a
  short stay; where losses go unnoticed or the sink may be out, every `refresh_us` like a head.
* A gap in a head's numbers, or a digest that differs, makes the sink ask for a snapshot, again if none comes.
* Where losses go unnoticed, a head repeats its last report when it has been quiet for a while: the loss of any other shows
  by the numbers of those after it.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

from join.strategies.change.ledger import ReportLedger
from join.strategies.change.records import (
    Count,
    Digest,
    Enter,
    Hold,
    Record,
    Report,
    Snapshot,
    checksum,
    motes_in,
    report_bytes,
)
from join.strategies.contract import JoinSettings, Ports
from join.strategies.message_sizes import NODE_BYTES
from join.strategies.packing import Packing
from join.strategies.record_sizes import RESYNC_BYTES, RecordSizes
from network.contract import Message
from sim.trace.kinds import PACK, REPORT, RESYNC
from sim.trace.tables import SINK, DropReason
from sim.units import US_PER_S

HOLD_PERIODS = 2.25
"""For how many periods of confirmation the sink holds what a node does not confirm: a head's digest may be lost once."""
ASK_MOST = 6
"""How often the sink asks for a snapshot before it waits for the next sign of the head."""
REPEAT_US = 3 * US_PER_S // 10
"""Where losses go unnoticed: how long after its last report a head repeats it."""


class Reporter(Protocol):
    """What a reporting node holds at the sink."""

    def held(self) -> Sequence[Hold] | Sequence[Count]:
        """All that is held."""

    def standing(self) -> Iterable[Enter | Hold | Count]:
        """All that has been reported and still stands."""


class _Sender:
    """The numbers of a head's reports, since it started."""

    __slots__ = ("boot", "confirmed_us", "last", "next", "reporter")

    def __init__(self, reporter: Reporter, boot: int, now_us: int) -> None:
        self.reporter = reporter
        self.boot = boot
        self.next = 0
        self.confirmed_us = now_us
        """When it last sent a digest, started, or reported all that it holds."""
        self.last: list[Report] = []
        """What it reported last."""


class Reporting:
    """Reports from heads to the sink."""

    def __init__(
        self,
        ports: Ports,
        settings: JoinSettings,
        *,
        region_bytes: int = 0,
        of_itself: bool = False,
    ) -> None:
        """Carry reports.

        Args:
            ports: The network.
            settings: The scenario's.
            region_bytes: Each record of a mote also names its region in so many.
            of_itself: Whether each node reports itself alone, so that its records need not name it.
        """
        reporting = settings.reporting
        self._of_itself = of_itself
        self._membership = ports.membership
        self._region_bytes = region_bytes
        self._clock = ports.clock
        self._links = ports.links
        self._cpus = ports.cpus
        self._sink = ports.sink
        self._accounts = ports.accounts
        self._end_us = ports.end_us
        self._lossy = reporting.lossy
        self._sizes = RecordSizes(compact=reporting.compact)
        self._service_us = settings.costs.feedback_us()
        hold_us = round(HOLD_PERIODS * reporting.refresh_us)
        self._ledger = ReportLedger(window_us=settings.window_us, hold_us=hold_us)
        # There and back again, with room for what is packed on the way.
        self._patience_us = 2 * reporting.way_us(ports.way.depth_max() + 1) + reporting.delay_us
        self._confirm_us = reporting.refresh_us
        """How long after it was last known to be right a node confirms what it holds."""
        if of_itself and not (reporting.lossy or reporting.outages):
            in_time_us = hold_us - 2 * self._patience_us - reporting.clock_us
            self._confirm_us = max(self._confirm_us, in_time_us)
        self._senders: dict[int, _Sender] = {}
        self._boots: dict[int, int] = {}
        self._asked: dict[int, int] = {}
        """By head whose reports are missing: how often the sink has asked for them."""
        self._packing: Packing | None = None
        if reporting.delay_us:
            self._packing = Packing(
                ports,
                PACK,
                delay_us=reporting.delay_us,
                hop_us=reporting.hop_us,
                size_of=self._packed_bytes,
                deliver=self._arrive,
                on_lost=self._on_packed_lost,
            )
        ports.links.attach(REPORT, self._on_report, self._on_report_lost)
        ports.links.attach(RESYNC, self._on_resync, self._on_resync_lost)

    def send(self, head: int, reporter: Reporter, records: Iterable[Record], sent_us: int) -> None:
        """Send records of a head, in one message or packed with others'; `sent_us`: when their cause was sent."""
        now_us = self._clock.now_us
        sender = self._senders.get(head)
        if sender is None:
            sender = self._senders[head] = _Sender(reporter, self._boots.get(head, 0), now_us)
            self._clock.call_at(now_us + self._confirm_us, self._confirm, (head, sender))
        listed = list(records)
        if not listed:
            return
        # What is held must be numbered, and where losses go unnoticed everything, or nobody would ask for what is lost.
        if not self._lossy and not reporter.held() and all(isinstance(r, Enter) for r in listed):
            plain = [
                Report(head, sender.boot, sender.next, record, True, sent_us) for record in listed
            ]
            self._transmit(head, plain)
            return
        reports = [self._numbered(head, sender, record, sent_us) for record in listed]
        sender.last = reports
        held = reporter.held()
        if self._of_itself and all(record in listed for record in held):
            sender.confirmed_us = now_us  # all that it holds has just begun
        elif held and now_us - sender.confirmed_us >= self._confirm_us // 2:
            reports.append(self._digest(head, sender))
        self._transmit(head, reports)
        if self._lossy:
            self._clock.call_at(now_us + REPEAT_US, self._repeat, (head, sender, reports))

    def on_down(self, node: int) -> None:
        """A head that went down has forgotten all it reported."""
        if self._packing is not None:
            self._packing.on_down(node)
        if self._senders.pop(node, None) is not None:
            self._boots[node] = self._boots.get(node, 0) + 1

    # Heads.

    def _numbered(self, head: int, sender: _Sender, record: Record, sent_us: int) -> Report:
        report = Report(head, sender.boot, sender.next, record, False, sent_us)
        sender.next += 1
        return report

    def _digest(self, head: int, sender: _Sender) -> Report:
        held = sender.reporter.held()
        sender.confirmed_us = self._clock.now_us
        record = Digest(len(held), checksum(held))
        return Report(head, sender.boot, sender.next, record, False, self._clock.now_us)

    def _transmit(self, head: int, reports: list[Report]) -> None:
        if self._packing is not None:
            for report in reports:
                self._packing.send(head, report)
            return
        now_us = self._clock.now_us
        size = self._bytes(reports, now_us, named=False)
        self._links.unicast(REPORT, head, SINK, size, reports, now_us)

    def _confirm(self, beat: tuple[int, _Sender]) -> None:
        """Send a digest if one is due, and see again when the next is."""
        head, sender = beat
        if self._senders.get(head) is not sender:
            return  # it went down
        now_us = self._clock.now_us
        if now_us - sender.confirmed_us >= self._confirm_us:
            if sender.reporter.held():
                self._transmit(head, [self._digest(head, sender)])
            else:
                sender.confirmed_us = now_us
        self._clock.call_at(sender.confirmed_us + self._confirm_us, self._confirm, beat)

    def _repeat(self, said: tuple[int, _Sender, list[Report]]) -> None:
        """Repeat a report that no other has followed."""
        head, sender, reports = said
        if self._senders.get(head) is sender and sender.last is reports:
            now_us = self._clock.now_us
            self._transmit(head, [report._replace(sent_us=now_us) for report in reports])

    def _on_resync(self, message: Message) -> None:
        """Send a snapshot to the sink, which has missed something."""
        sender = self._senders.get(message.target)
        if sender is not None:
            snapshot = Snapshot(tuple(sender.reporter.standing()))
            now_us = self._clock.now_us
            report = self._numbered(message.target, sender, snapshot, now_us)
            size = self._bytes([report], now_us, named=False)
            self._links.unicast(REPORT, message.target, SINK, size, [report], now_us)

    # The sink.

    def _on_report(self, message: Message) -> None:
        for report in message.body:
            self._arrive(report)

    def _arrive(self, report: Report) -> None:
        start_us = self._cpus.admit(SINK)
        assert start_us is not None, "the sink's queue is unlimited"
        done_us = self._cpus.occupy(SINK, start_us, self._service_us)
        if done_us < self._end_us:
            self._clock.call_at(done_us, self._take, report)

    def _take(self, report: Report) -> None:
        now_us = self._clock.now_us
        for value, said in self._ledger.take(report, now_us):
            vouched = said
            if self._region_bytes:
                vouched = said._replace(region=self._membership.head_of[said.who])
            self._sink.take_activity(value, [vouched], sent_us=report.sent_us, replace=True)
        head = report.head
        if not self._ledger.lacks(head):
            self._asked.pop(head, None)
        elif self._asked.get(head, ASK_MOST) >= ASK_MOST:
            self._asked[head] = 0
            # Reports may overtake each other: what seems missing may be about to arrive.
            self._clock.call_at(now_us + self._patience_us // 4, self._ask, head)

    def _ask(self, head: int) -> None:
        """Ask a head for a snapshot while its reports are missing, ever more patiently."""
        asked = self._asked.get(head)
        if asked is None or not self._ledger.lacks(head):
            self._asked.pop(head, None)
            return
        self._asked[head] = asked + 1
        if asked < ASK_MOST:
            now_us = self._clock.now_us
            self._links.unicast(RESYNC, SINK, head, RESYNC_BYTES, None, now_us)
            self._clock.call_at(now_us + (self._patience_us << asked), self._ask, head)

    # Losses.

    def _packed_bytes(self, reports: Sequence[Report], now_us: int) -> int:
        return self._bytes(reports, now_us, named=True)

    def _bytes(self, reports: Sequence[Report], now_us: int, *, named: bool) -> int:
        size = report_bytes(reports, self._sizes, now_us, named=named)
        if self._region_bytes:
            size += self._region_bytes * sum(motes_in(report.record) for report in reports)
        if self._of_itself:
            # A header names the mote, or in a pack what goes before its numbered records.
            known = [each.record for each in reports if not (named and each.plain)]
            size -= NODE_BYTES * sum(map(motes_in, known))
        return size

    def _on_packed_lost(self, report: Report, where: int, reason: DropReason) -> None:
        del report
        self._accounts.lost(PACK, where, reason, self._clock.now_us, None, None)

    def _on_report_lost(self, message: Message, reason: DropReason) -> None:
        self._accounts.lost(REPORT, message.target, reason, self._clock.now_us, None, None)

    def _on_resync_lost(self, message: Message, reason: DropReason) -> None:
        self._accounts.lost(RESYNC, message.target, reason, self._clock.now_us, None, None)
