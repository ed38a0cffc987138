"""The strategy `perpendicular`: a reading is stored along its row and probes along its column.

After the abstract of Zhu, Gupta & Tang, "Join of multiple data streams in sensor networks" (TKDE 2009), which names the
Perpendicular Approach; Chowdhary & Gupta (DASFAA 2005) ask the same question. Every row crosses every column, so that of two
readings the later one's probe passes a node that has stored the earlier one.

What we filled in:

* Rows and columns are those of a grid of cells, each with a leader (`join.strategies.perpendicular.grid`). A mote sends its
  reading to the leader of its cell; messages between leaders of neighbouring cells take the network's routes.
* A probe must not overtake stores. A leader stamps each reading (`join.strategies.snjoin_star.head`) and probes only when all
  readings stamped before have been stored: after a row's worst flight. A probe matches what was stamped before its own
  reading. All readings of a row are stored in one cell of each column, so that every pair is found exactly once.
* The probe goes to the nearer end of the column, then to the other end, gathering partners, so that the sink receives one
  result of each reading. The part of the way that it goes twice costs messages that two probes would save.
* What a leader stored is lost when it goes down.
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from join.reading import Reading, Stamp
from join.strategies.admission import Admission
from join.strategies.contract import JoinSettings, Needs, Ports
from join.strategies.message_sizes import HELD_READING_BYTES, READING_BYTES, request_bytes
from join.strategies.perpendicular.grid import Grid
from join.strategies.snjoin_star.forwarding import deliver
from join.strategies.snjoin_star.head import ClusterHead, HeadSettings
from join.strategies.snjoin_star.request import ProbeRequest
from join.strategies.snjoin_star.rules.without_learning import FullProbing
from network.contract import Message
from sim.trace.kinds import PROBE, READING, RESULT, STATE, STORE
from sim.trace.tables import SINK, DropReason

STEP_HOPS = 3
"""The most hops between leaders of neighbouring cells that a probe waits for."""


class Store(NamedTuple):
    """A stamped reading on its way along a row."""

    reading: Reading
    stamp: Stamp
    cell: int
    """The cell to store it in next."""
    step: int
    """-1: to the left; 1: to the right."""


class PerpendicularJoin:
    """Stores every reading along a row, and probes along a column."""

    needs: ClassVar[Needs] = Needs(sends_every_reading=False)

    def __init__(self, ports: Ports, settings: JoinSettings) -> None:
        self._clock = ports.clock
        self._links = ports.links
        self._cpus = ports.cpus
        self._admission = Admission(ports, settings)
        self._sink = ports.sink
        self._accounts = ports.accounts
        self._local_us = ports.local_us
        self._end_us = ports.end_us
        self._costs = settings.costs
        self._grid = Grid(
            settings.positions_m[:-1],
            field_m=settings.field_m,
            cell_m=settings.cell_m,
            alive=ports.links.alive,
        )
        reporting = settings.reporting
        self._wait_us = reporting.way_us(STEP_HOPS * self._grid.columns) + 2 * reporting.clock_us
        # Probes come this much later than readings that are joined at once.
        probing_us = self._wait_us + 2 * reporting.way_us(STEP_HOPS * self._grid.rows)
        self._cell_settings = HeadSettings(
            settings.window_us, settings.late_us + probing_us, settings.factorised
        )
        self._cells: dict[int, dict[int, ClusterHead]] = {}
        """By leader and cell: what is stored."""
        self._stamped = 0
        attach = ports.links.attach
        attach(READING, self._on_reading, self._on_reading_lost)
        attach(STORE, self._on_store, self._on_store_lost)
        attach(PROBE, self._on_probe, self._on_probe_lost)
        attach(RESULT, self._on_result, self._on_result_lost)

    def submit(self, reading: Reading) -> None:
        """Send a mote's reading to the leader of its cell."""
        self._accounts.submitted += 1
        leader = self._grid.leader(self._grid.cell_of(reading.node))
        if leader == reading.node:
            self._take(leader, reading)
        else:
            now_us = self._clock.now_us
            self._links.unicast(READING, reading.node, leader, READING_BYTES, reading, now_us)

    def on_roster(
        self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]
    ) -> None:
        """Do nothing: heads have no part in it."""

    def on_down(self, node: int) -> None:
        """Lose what a leader had stored."""
        now_us = self._clock.now_us
        for cell in self._cells.pop(node, {}).values():
            for at_us, _, mote, _ in cell.table.held():
                assert isinstance(mote, int), mote
                self._accounts.lost(STATE, node, DropReason.STATE_LOST, now_us, mote, at_us)

    def close(self, on_air: Sequence[Message]) -> None:
        """End the run: record the readings that are still under way."""
        for message in on_air:
            if message.kind == READING:
                self._accounts.in_flight(message.body, self._clock.now_us)

    # The reading's own cell.

    def _on_reading(self, message: Message) -> None:
        self._take(message.target, message.body)

    def _take(self, node: int, reading: Reading) -> None:
        admitted = self._admission.admit(node, reading)
        if admitted is None:
            return
        start_us, local_us = admitted
        stamp = (local_us, node, self._stamped)
        self._stamped += 1
        done_us = self._cpus.occupy(node, start_us, self._costs.feedback_us())
        self._accounts.joined(reading, node, start_us)
        cell = self._grid.cell_of(reading.node)
        self._insert(node, cell, reading, stamp)
        for step in (-1, 1):
            self._store_beside(node, Store(reading, stamp, cell, step), done_us)
        request = ProbeRequest(
            value=reading.value,
            origin=reading.node,
            at_us=reading.at_us,
            stamp=stamp,
            initiator=node,
        )
        request.sequence = self._grid.column(cell)
        self._clock.call_at(done_us + self._wait_us, self._begin_probe, request)

    # Stores, along the row.

    def _store_beside(self, node: int, store: Store, at_us: int) -> None:
        """Store a reading in the next cell of its row, and in all after it that have the same leader."""
        cell = self._grid.beside(store.cell, store.step)
        while cell is not None:
            leader = self._grid.leader(cell)
            store = store._replace(cell=cell)
            if leader != node:
                self._links.unicast(STORE, node, leader, HELD_READING_BYTES, store, at_us)
                return
            self._insert(node, cell, store.reading, store.stamp)
            cell = self._grid.beside(cell, store.step)

    def _on_store(self, message: Message) -> None:
        store: Store = message.body
        node = message.target
        start_us = self._cpus.admit(node)
        if start_us is None:
            self._on_store_lost(message, DropReason.QUEUE_FULL)
            return
        done_us = self._cpus.occupy(node, start_us, self._costs.feedback_us())
        self._insert(node, store.cell, store.reading, store.stamp)
        self._store_beside(node, store, done_us)

    def _insert(self, node: int, cell: int, reading: Reading, stamp: Stamp) -> None:
        self._cell(node, cell).table.insert(reading.value, reading.node, reading.at_us, stamp)

    def _cell(self, node: int, cell: int) -> ClusterHead:
        """What leader `node` has stored in a cell."""
        cells = self._cells.setdefault(node, {})
        if cell not in cells:
            cells[cell] = ClusterHead(cell, FullProbing(), self._cell_settings)
        return cells[cell]

    # Probes, along the column.

    def _begin_probe(self, request: ProbeRequest) -> None:
        if self._links.alive[request.initiator]:
            self._probe(request.initiator, request)

    def _on_probe(self, message: Message) -> None:
        self._probe(message.target, message.body)

    def _probe(self, node: int, request: ProbeRequest) -> None:
        """Probe all cells of the column that come next and that `node` leads; then forward the request."""
        start_us = self._cpus.admit(node)
        if start_us is None:
            self._lose(PROBE, request, node, DropReason.QUEUE_FULL)
            return
        service_us = 0.0
        local_us = self._local_us(node, start_us)
        while self._leads_next(node, request):
            found = self._cell(node, request.sequence[request.position]).answer(request, local_us)
            service_us += self._costs.probe_us(1, found)
        self._forward(node, request, self._cpus.occupy(node, start_us, service_us))

    def _leads_next(self, node: int, request: ProbeRequest) -> bool:
        cell = _next_cell(request)
        return cell is not None and self._grid.leader(cell) == node

    def _forward(self, node: int, request: ProbeRequest, at_us: int) -> None:
        size = request_bytes(0, request.partners_bytes)
        cell = _next_cell(request)
        if cell is not None:
            self._links.unicast(PROBE, node, self._grid.leader(cell), size, request, at_us)
        elif request.found:
            self._links.unicast(RESULT, node, SINK, size, request, at_us)

    # The sink.

    def _on_result(self, message: Message) -> None:
        request: ProbeRequest = message.body
        start_us = self._cpus.admit(SINK)
        assert start_us is not None, "the sink's queue is unlimited"
        done_us = self._cpus.occupy(SINK, start_us, self._costs.result_us(request.found))
        if done_us < self._end_us:
            deliver(request, self._sink, done_us)

    # Losses.

    def _lose(self, kind: str, request: ProbeRequest, where: int, reason: DropReason) -> None:
        now_us = self._clock.now_us
        self._accounts.lost(kind, where, reason, now_us, request.origin, request.at_us)

    def _on_reading_lost(self, message: Message, reason: DropReason) -> None:
        self._accounts.dropped(message.body, message.target, reason, self._clock.now_us)

    def _on_store_lost(self, message: Message, reason: DropReason) -> None:
        reading = message.body.reading
        now_us = self._clock.now_us
        self._accounts.lost(STORE, message.target, reason, now_us, reading.node, reading.at_us)

    def _on_probe_lost(self, message: Message, reason: DropReason) -> None:
        request: ProbeRequest = message.body
        if reason is not DropReason.DEAD or not self._links.alive[message.source]:
            self._lose(PROBE, request, message.target, reason)
        elif self._leads_next(message.source, request):
            self._probe(message.source, request)
        else:
            # The cell has another leader now.
            self._forward(message.source, request, self._clock.now_us)

    def _on_result_lost(self, message: Message, reason: DropReason) -> None:
        self._lose(RESULT, message.body, message.target, reason)


def _next_cell(request: ProbeRequest) -> int | None:
    """The cell that a request has to visit next; None if it has visited all."""
    if request.position == len(request.sequence):
        return None
    return request.sequence[request.position]
