"""SNJoin*, the distributed join at cluster heads (SNJoin §5, Fig. 3), as a pure state machine.

Paper                          Here
insert-probe                   `ClusterHead.take_reading`
probe request PR               `ProbeRequest`
SeqNo                          `ProbeRequest.position`
[(C_s0, |r_s0|), …]            `ProbeRequest.counts`
R                              `ProbeRequest.partners`
Last-Processed-Tuple           replaced, see below
RFBM                           `join.relevance.RelevanceMatrix`

Deviation from Fig. 3: probing "up to Last-Processed-Tuple" yields duplicates and losses when two requests
cross in flight. Instead each reading gets a processing stamp (time of processing, head, counter), totally
ordered over all heads, and a request matches only readings stamped before it. Of two readings exactly one
is stamped first, and it is in its head's table by the time the other's request can arrive, so every pair is
found exactly once whatever the delays, as long as the heads' clocks agree.

A head that steps down keeps its table and goes on answering requests until its readings have left the
window ("lingering"): nothing is moved and nothing is lost. Heads are told whom to probe by a roster.
"""

from collections.abc import Callable, Sequence

from join.contract import Member, Value
from join.relevance import RelevanceMatrix
from join.value_table import Stamp, ValueTable
from join.wire import distinct_streams


class ProbeRequest:
    """A reading on its way past the heads of its probing sequence to the sink."""

    __slots__ = (
        "at_us",
        "bytes",
        "counts",
        "hops",
        "initiator",
        "origin",
        "partners",
        "partners_bytes",
        "position",
        "sequence",
        "stamp",
        "value",
    )

    def __init__(
        self,
        *,
        value: Value,
        origin: int,
        at_us: int,
        stamp: Stamp,
        initiator: int,
        sequence: tuple[int, ...],
    ) -> None:
        self.value = value
        self.origin = origin
        """The mote whose reading it is."""
        self.at_us = at_us
        self.stamp = stamp
        self.initiator = initiator
        self.sequence = sequence
        self.position = 0
        """Heads of the sequence that have answered or were passed over."""
        self.counts: list[int] = []
        """|r| of the initiator and of each head so far: how many partners it gave."""
        self.partners: list[tuple[Member, ...]] = []
        """R: what each head that matched gave."""
        self.partners_bytes = 0
        self.hops = 0
        self.bytes = 0

    @property
    def next_head(self) -> int | None:
        """Whom to ask next; None when all have been asked."""
        return self.sequence[self.position] if self.position < len(self.sequence) else None

    @property
    def heads_matched(self) -> int:
        """Heads of the sequence that gave a partner."""
        return sum(1 for count in self.counts[1:] if count)

    def add(self, matches: tuple[Member, ...], size: int) -> None:
        """Append one head's r to R."""
        self.counts.append(distinct_streams(matches) if matches else 0)
        if matches:
            self.partners.append(matches)
            self.partners_bytes += size


class ClusterHead:
    """The join state of one head: its members' readings, its relevance matrix, whom it may probe."""

    def __init__(
        self,
        node: int,
        *,
        window_us: int,
        late_us: int,
        factorised: bool,
        matrix: RelevanceMatrix,
        partners_size: Callable[[tuple[Member, ...]], int],
    ) -> None:
        self.node = node
        self.matrix = matrix
        self.table = ValueTable(window_us=window_us, late_us=late_us)
        self._factorised = factorised
        self._partners_size = partners_size
        self._counter = 0
        self._others: list[int] = []
        self._lingering: list[tuple[int, int]] = []

    def set_roster(self, heads: Sequence[int], lingering: Sequence[tuple[int, int]]) -> None:
        """Note the heads to probe, and those that stepped down with the time they may be forgotten."""
        before = set(self._others)
        until_us = {head: us for head, us in lingering if head != self.node}
        self._others = sorted(({*heads} - {self.node}) | until_us.keys())
        self._lingering = sorted(
            (us, head) for head, us in until_us.items() if head not in {*heads}
        )
        for gone in before.difference(self._others):
            self.matrix.forget(gone)

    def drop_head(self, head: int) -> None:
        """Stop probing a head that was found dead."""
        if head in self._others:
            self._others.remove(head)
            self.matrix.forget(head)

    def others(self, now_us: int) -> list[int]:
        """The heads to choose from, those lingering included while they may hold readings."""
        while self._lingering and self._lingering[0][0] < now_us:
            self.drop_head(self._lingering.pop(0)[1])
        return self._others

    def take_reading(self, value: Value, origin: int, at_us: int, now_us: int) -> ProbeRequest:
        """A member's new reading (Fig. 3, first case): join it here, choose whom to ask."""
        stamp = (now_us, self.node, self._counter)
        self._counter += 1
        self.table.sweep(now_us)
        matches = self._match(value, origin, at_us, stamp)
        self.table.insert(value, origin, at_us, stamp)
        request = ProbeRequest(
            value=value,
            origin=origin,
            at_us=at_us,
            stamp=stamp,
            initiator=self.node,
            sequence=self.matrix.choose(value, self.others(now_us)),
        )
        request.add(matches, self._partners_size(matches))
        return request

    def answer(self, request: ProbeRequest, now_us: int) -> None:
        """Another head's probe request (second case): append what matches here and pass it on."""
        assert request.next_head == self.node, (request.next_head, self.node)
        self.table.sweep(now_us)
        matches = self._match(request.value, request.origin, request.at_us, request.stamp)
        request.add(matches, self._partners_size(matches))
        request.position += 1

    def pass_over(self, request: ProbeRequest) -> None:
        """Go on without the next head of the sequence, which is dead."""
        dead = request.next_head
        assert dead is not None, request.sequence
        request.add((), 0)
        request.position += 1
        self.drop_head(dead)

    def learn(self, value: Value, heads: Sequence[int], weights: Sequence[float]) -> None:
        """A relevance feedback note (third case)."""
        self.matrix.learn(value, heads, weights)

    def _match(self, value: Value, origin: int, at_us: int, before: Stamp) -> tuple[Member, ...]:
        if not self._factorised:
            return self.table.latest(value, origin, at_us, before)
        times = self.table.times(value, origin, at_us, before)
        return tuple(Member(node, us) for node, list_us in times.items() for us in list_us)
