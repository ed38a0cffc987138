"""The centralised strategy: heads pass every reading on to the sink, which runs the join alone."""

from collections.abc import Callable, Sequence

from join.reading import Reading
from join.sink.operator import SinkOperator
from join.sink.queries import SinkQueries
from join.sink.site import SinkSite
from join.strategies.accounts import Accounts
from join.strategies.cpu_costs import CpuCosts
from join.strategies.message_sizes import READING_BYTES, RELAYED_READING_BYTES
from network.contract import Clock, Links, Message, Processors
from sim.trace.tables import SINK, DropReason


class CentralisedJoin:
    """Every reading travels mote, head, sink; `operator` at the sink joins them."""

    def __init__(
        self,
        clock: Clock,
        air: Links,
        cpus: Processors,
        sink: SinkSite,
        accounts: Accounts,
        operator: SinkOperator,
        *,
        costs: CpuCosts,
        late_us: int,
        motes: int,
        end_us: int,
        queries: SinkQueries | None = None,
    ) -> None:
        self._clock = clock
        self._air = air
        self._cpus = cpus
        self._sink = sink
        self._accounts = accounts
        self._operator = operator
        self._costs = costs
        self._late_us = late_us
        self._end_us = end_us
        self._queries = queries
        self._head_of = [-1] * motes
        self.on_dead_head: Callable[[int], None] = lambda _: None
        """Told of every mote that finds its head dead."""
        air.attach("reading", self._on_reading, self._on_lost)

    def assign(self, head_of: Sequence[int]) -> None:
        """From now on each mote sends its readings to its head."""
        self._head_of = list(head_of)

    def set_roster(
        self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]
    ) -> None:
        """Heads only pass readings on: whom they could probe is of no concern."""

    def on_death(self, node: int) -> None:
        """Motes hold no join state that could die with them."""

    def submit(self, reading: Reading) -> None:
        """A mote has a reading with a value: off to its head, or to the sink if it is one."""
        self._accounts.submitted += 1
        node = reading.node
        head = self._head_of[node]
        now_us = self._clock.now_us
        if head < 0:
            self._accounts.dropped(reading, node, DropReason.NO_HEAD, now_us)
        elif head == node:
            self._air.unicast("reading", node, SINK, READING_BYTES, reading, now_us)
        else:
            self._air.unicast("reading", node, head, READING_BYTES, reading, now_us)

    def _on_reading(self, message: Message) -> None:
        reading: Reading = message.body
        if message.target == SINK:
            self._join(reading)
        else:
            now_us = self._clock.now_us
            self._air.unicast(
                "reading", message.target, SINK, RELAYED_READING_BYTES, reading, now_us
            )

    def close(self, on_air: Sequence[Message]) -> None:
        """The run ends: say which readings were still under way."""
        for message in on_air:
            if message.kind == "reading":
                self._accounts.in_flight(message.body, self._clock.now_us)

    def _join(self, reading: Reading) -> None:
        start_us = self._cpus.admit(SINK)
        assert start_us is not None, "the sink's queue is unlimited"
        if start_us >= self._end_us:
            self._accounts.in_flight(reading, self._end_us)
            return
        if start_us - reading.at_us > self._late_us:
            self._accounts.dropped(reading, SINK, DropReason.LATE, self._clock.now_us)
            return
        found = self._operator.take(reading, start_us)
        if found is None:
            self._accounts.dropped(reading, SINK, DropReason.LATE, self._clock.now_us)
            return
        service_us = self._costs.reading_us(found.tables, found.width)
        done_us = self._cpus.occupy(SINK, start_us, service_us)
        self._accounts.joined(reading, SINK, start_us)
        if self._queries is not None:
            self._queries.take(reading, start_us)
        if found.partners and done_us < self._end_us:
            self._sink.take(reading, found.partners, done_us)

    def _on_lost(self, message: Message, reason: DropReason) -> None:
        self._accounts.dropped(message.body, message.target, reason, self._clock.now_us)
        if reason is DropReason.DEAD:
            self.on_dead_head(message.source)
