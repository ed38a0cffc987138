"""Lets several strategies share one network: each sees its own messages, its own readings' fates, and its own reports.

Strategies stay as they are. A plan's messages are marked with the plan; what one of its sites reports to the sink counts
beside what the same node reports for another plan; and of a reading that is joined under two plans, one alone records the fate.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from join.contract import Partner, Value
from join.reading import Reading
from join.sink.activity import Vouched
from join.strategies.accounts import Accounts
from join.strategies.contract import SinkPort
from network.contract import Handler, Links, LossHandler, Message, Processors, Service
from sim.trace.tables import DropReason, Fate

PLANS_MOST = 8
"""More than there are plans: reporters have numbers of their own in each."""


class Marked(NamedTuple):
    """The body of a plan's message."""

    mark: int
    body: object
    body_bytes: int


class MarkedLinks:
    """The links of all plans."""

    def __init__(self, links: Links, on_arrival: Callable[[Message, Marked], None]) -> None:
        """Carry marked messages over `links`; `on_arrival` is called before a message is handled, whose body is marked."""
        self._links = links
        self._on_arrival = on_arrival
        self._handlers: dict[tuple[int, str], tuple[Handler, LossHandler]] = {}
        self._attached: set[str] = set()

    def of(self, mark: int) -> "PlanLinks":
        """The links of one plan."""
        return PlanLinks(self, self._links, mark)

    def attach(self, mark: int, kind: str, handler: Handler, on_loss: LossHandler) -> None:
        """Register a plan's handlers for messages of `kind`."""
        self._handlers[mark, kind] = (handler, on_loss)
        if kind not in self._attached:
            self._attached.add(kind)
            self._links.attach(kind, self._deliver, self._lose)

    def on_air(self, mark: int, messages: Sequence[Message]) -> list[Message]:
        """The messages of one plan among those on air at the end, as it knows them."""
        own = []
        for message in messages:
            if isinstance(message.body, Marked) and message.body.mark == mark:
                message.body = message.body.body
                own.append(message)
        return own

    def _deliver(self, message: Message) -> None:
        marked: Marked = message.body
        self._on_arrival(message, marked)
        message.body = marked.body
        self._handlers[marked.mark, message.kind][0](message)

    def _lose(self, message: Message, reason: DropReason) -> None:
        marked: Marked = message.body
        message.body = marked.body
        self._handlers[marked.mark, message.kind][1](message, reason)


class PlanLinks:
    """The links as one plan sees them."""

    def __init__(self, all_links: MarkedLinks, links: Links, mark: int) -> None:
        self._all_links = all_links
        self._links = links
        self._mark = mark
        self.alive = links.alive

    def attach(self, kind: str, handler: Handler, on_loss: LossHandler) -> None:
        """Register delivery and loss handlers for the plan's messages of `kind`."""
        self._all_links.attach(self._mark, kind, handler, on_loss)

    def attach_service(self, kind: str, service: Service, cpus: Processors) -> None:
        """Never called: no plan has motes that serve messages and send them on."""
        raise AssertionError((kind, service, cpus))

    def unicast(
        self, kind: str, source: int, target: int, body_bytes: int, body: object, at_us: int
    ) -> int:
        """Send one of the plan's messages."""
        marked = Marked(self._mark, body, body_bytes)
        return self._links.unicast(kind, source, target, body_bytes, marked, at_us)


class PlanAccounts(Accounts):
    """The accounts as one plan sees them: of copies, whose fate another plan records, it records none."""

    def __init__(
        self,
        accounts: Accounts,
        is_copy: Callable[[Reading], bool],
        on_joined: Callable[[Reading, int], None],
    ) -> None:
        """A plan's view of `accounts`; `on_joined` is called with each reading that is joined, and where."""
        self.__dict__ = accounts.__dict__ | {"submitted": 0}
        self._is_copy = is_copy
        self._on_joined = on_joined

    def joined(self, reading: Reading, head: int, at_us: int) -> None:
        """Record that a reading has been joined and is held for later ones, at a head or the sink."""
        self._on_joined(reading, head)
        super().joined(reading, head, at_us)

    def _fate(
        self,
        reading: Reading,
        at_us: int,
        fate: Fate,
        *,
        reason: DropReason | None = None,
        head: int | None = None,
    ) -> None:
        if not self._is_copy(reading):
            super()._fate(reading, at_us, fate, reason=reason, head=head)


class PlanSink:
    """The sink as one plan sees it."""

    def __init__(
        self,
        sink: SinkPort,
        mark: int,
        by_heads: bool,
        reports: Callable[[Reading, Reading], bool],
        on_activity: Callable[[Value, Sequence[Vouched]], None],
    ) -> None:
        """A plan's view of `sink`.

        Args:
            sink: The sink.
            mark: The plan's number.
            by_heads: Whether heads report, each of motes in its region.
            reports: Whether this plan reports a pair, and not another one that finds it, too.
            on_activity: Called with all that is reported of motes.
        """
        self._mark = mark
        self._by_heads = by_heads
        self._reports = reports
        self._on_activity = on_activity
        self._sink = sink
        self.take_reading = sink.take_reading

    def take_result(
        self,
        origin: Reading,
        partners: list[tuple[Partner, ...]],
        at_us: int,
        *,
        partial: bool = False,
    ) -> None:
        """Deliver the partners of one reading, without those that another plan reports."""
        own = [tuple(each for each in members if self._has(origin, each)) for members in partners]
        if any(own):
            self._sink.take_result(origin, own, at_us, partial=partial)

    def _has(self, origin: Reading, partner: Partner) -> bool:
        stream, at_us = partner
        assert isinstance(stream, int), partner
        return self._reports(origin, Reading(stream, origin.value, at_us))

    def take_activity(
        self, value: Value, vouched: Sequence[Vouched], *, sent_us: int, replace: bool
    ) -> None:
        """Take what a message says of motes."""
        self._on_activity(value, vouched)
        own = [
            said._replace(
                reporter=said.reporter * PLANS_MOST + self._mark,
                region=said.reporter if self._by_heads else said.region,
            )
            for said in vouched
        ]
        self._sink.take_activity(value, own, sent_us=sent_us, replace=replace)
