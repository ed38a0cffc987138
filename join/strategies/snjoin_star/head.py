"""SNJoin*, the distributed join at cluster heads (SNJoin §5, Fig. 3), as a pure state machine.

Paper                          Here
insert-probe                   `ClusterHead.take_reading`
probe request PR               `join.strategies.snjoin_star.request.ProbeRequest`
SeqNo                          `ProbeRequest.position`
[(C_s0, |r_s0|), …]            `ProbeRequest.counts`
R                              `ProbeRequest.partners`
Last-Processed-Tuple           replaced, see below
RFBM                           `join.strategies.snjoin_star.rules.relevance.RelevanceMatrix`, one of several probing rules

Deviation from Fig. 3: probing "up to Last-Processed-Tuple" yields duplicates and losses when two requests
cross in flight. Instead each reading gets a processing stamp (time of processing, head, counter), totally
ordered over all heads, and a request matches only readings stamped before it. Of two readings exactly one
is stamped first, and it is in its head's table by the time the other's request can arrive, so every pair is
found exactly once whatever the delays, as long as the heads' clocks agree.

A head that steps down keeps its table and goes on answering requests until its readings have left the
window ("lingering"): nothing is moved and nothing is lost. The roster lists the heads that a head may probe.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from join.contract import Partner, Value
from join.reading import Stamp
from join.state.value_table import MemberTables, ValueTable
from join.strategies.message_sizes import factorised_bytes, latest_bytes
from join.strategies.snjoin_star.probing_order import ProbingOrder
from join.strategies.snjoin_star.request import ProbeRequest
from join.strategies.snjoin_star.rules.contract import Note, ProbingRule
from join.strategies.snjoin_star.rules.without_learning import BySelectivity

SWEEP_EVERY_US = 100_000


@dataclass(frozen=True, slots=True)
class HeadSettings:
    """Settings that all heads share."""

    window_us: int
    late_us: int
    factorised: bool
    """Whether partners are reported with all their times, or with their newest only."""
    order: ProbingOrder | None = None
    """The order in which chosen heads are probed; None: the rule's."""


class ClusterHead:
    """The join state of one head: its members' readings, its probing rule, the heads it may probe."""

    def __init__(self, node: int, rule: ProbingRule, settings: HeadSettings) -> None:
        self.node = node
        self.rule = rule
        self._order = settings.order
        self.table = self._make_table(settings)
        self._factorised = settings.factorised
        self.tables = 1
        """Hash tables that one probe has to search: SNJoin has one for all streams."""
        self._counter = 0
        self._sweep_due_us = 0
        self._others: list[int] = []
        self._lingering: list[tuple[int, int]] = []
        """Heads that stepped down, with the time when they may be forgotten, in that order. Rosters are many and go to many
        heads, so these are the roster's own pairs."""

    def set_roster(self, heads: Sequence[int], lingering: Sequence[tuple[int, int]]) -> None:
        """Store the heads to probe, and those that stepped down with the time when they may be forgotten."""
        before = self._others
        others = list(heads)
        if self.node in others:
            others.remove(self.node)
        leaving = []
        if lingering:
            standing = {*heads, self.node}
            leaving = [pair for pair in lingering if pair[0] not in standing]
            others += [head for head, _ in leaving]
        others.sort()  # a network has as many rosters as heads: most are in order
        self._others = others
        self._lingering = sorted(leaving, key=_by_time)
        if before and before != others:
            for gone in set(before).difference(others):
                self.rule.forget(gone)

    def drop_head(self, head: int) -> None:
        """Stop probing a head that was found dead."""
        if head in self._others:
            self._others.remove(head)
            self.rule.forget(head)

    def others(self, now_us: int) -> list[int]:
        """The heads to choose from, including lingering ones while they may hold readings."""
        while self._lingering and self._lingering[0][1] < now_us:
            self.drop_head(self._lingering.pop(0)[0])
        return self._others

    def take_reading(self, value: Value, origin: int, at_us: int, now_us: int) -> ProbeRequest:
        """Join a member's new reading here (Fig. 3, first case) and choose the heads to probe."""
        stamp = (now_us, self.node, self._counter)
        self._counter += 1
        if now_us >= self._sweep_due_us:
            self._sweep(now_us)
        matches = self._match(value, origin, at_us, stamp)
        self.table.insert(value, origin, at_us, stamp)
        request = ProbeRequest(
            value=value, origin=origin, at_us=at_us, stamp=stamp, initiator=self.node
        )
        self._add(request, matches)
        self.choose(request, now_us)
        return request

    def choose(self, request: ProbeRequest, now_us: int) -> None:
        """Choose the heads that a request is to probe."""
        others = self.others(now_us)
        request.known = len(others)
        chosen = self.rule.choose(request, others, now_us)
        request.sequence = chosen if self._order is None else self._order(self.node, chosen)

    def answer(self, request: ProbeRequest, now_us: int) -> int:
        """Append what matches here to another head's probe request (second case); returns how many sensors do."""
        if now_us >= self._sweep_due_us:
            self._sweep(now_us)
        found = 0
        if self.table.holds(request.value):  # most probes do not match
            assert request.sequence[request.position] == self.node, (request.sequence, self.node)
            matches = self._match(request.value, request.origin, request.at_us, request.stamp)
            if matches:
                found = self._add(request, matches)
        request.position += 1
        return found

    def learn(self, note: Note, now_us: int) -> None:
        """Learn from a relevance feedback note (third case)."""
        self.rule.learn(note, now_us)

    def idle_us(self, now_us: int) -> int:
        """For how long nothing was asked of it and nothing it holds was in the window; below 0 if that may still come."""
        kept_us = self.table.window_us + self.table.late_us
        return now_us - self._sweep_due_us - kept_us

    def partners_held(self, request: ProbeRequest) -> int:
        """How many readings a request would find here."""
        return len(self._match(request.value, request.origin, request.at_us, request.stamp))

    def _make_table(self, settings: HeadSettings) -> ValueTable:
        return ValueTable(window_us=settings.window_us, late_us=settings.late_us)

    def _sweep(self, now_us: int) -> None:
        """Clean up now and then (SNJoin §2.2 allows it): at every probe it would cost more than it saves."""
        self.table.sweep(now_us)
        self._sweep_due_us = now_us + SWEEP_EVERY_US

    def _add(self, request: ProbeRequest, matches: tuple[Partner, ...]) -> int:
        # In the form `latest` every member is of a different sensor.
        count = len({stream for stream, _ in matches}) if self._factorised else len(matches)
        size = factorised_bytes(matches) if self._factorised else latest_bytes(matches)
        request.add(matches, count, size)
        return count

    def _match(self, value: Value, origin: int, at_us: int, before: Stamp) -> tuple[Partner, ...]:
        if self._factorised:
            return self._all_times(value, origin, at_us, before)
        return self.table.latest(value, origin, at_us, before)

    def _all_times(
        self, value: Value, origin: int, at_us: int, before: Stamp
    ) -> tuple[Partner, ...]:
        times = self.table.times(value, origin, at_us, before)
        return tuple((node, us) for node, list_us in times.items() for us in list_us)


def _by_time(lingering: tuple[int, int]) -> tuple[int, int]:
    head, until_us = lingering
    return until_us, head


class MJoinHead(ClusterHead):
    """A head of the distributed MJoin (SNJoin §7.3): one hash table per member, all of them probed.

    It finds what SNJoin finds but does more work, which grows with the members that have readings in the window.
    Other heads are probed by descending selectivity, learnt from the counts in the requests that it serves.
    """

    def __init__(self, node: int, settings: HeadSettings) -> None:
        self._selectivity = BySelectivity()
        super().__init__(node, self._selectivity, settings)
        self._answered = 0

    def take_reading(self, value: Value, origin: int, at_us: int, now_us: int) -> ProbeRequest:
        """Insert a member's new reading into its own table and probe all tables."""
        request = ClusterHead.take_reading(self, value, origin, at_us, now_us)
        self.tables = self._member_tables.tables
        return request

    def answer(self, request: ProbeRequest, now_us: int) -> int:
        """Serve another head's request, and learn from one of the counts it carries, each in turn."""
        self._answered += 1
        if request.position:
            seen = self._answered % request.position
            self._selectivity.observe(request.sequence[seen], request.counts[seen + 1])
        found = ClusterHead.answer(self, request, now_us)
        self.tables = self._member_tables.tables
        return found

    def _make_table(self, settings: HeadSettings) -> ValueTable:
        self._member_tables = MemberTables(window_us=settings.window_us, late_us=settings.late_us)
        return self._member_tables
