"""The strategy `rendezvous`: readings go to the home of their value and are joined there; results go on to the sink.

Where sets are enough, motes lease to homes, and homes report changes (`join.strategies.change.driver`).
"""

from collections.abc import Sequence
from typing import ClassVar

from join.reading import Reading
from join.strategies.admission import Admission
from join.strategies.change.driver import ReportedJoin
from join.strategies.contract import JoinSettings, JoinStrategy, Needs, Ports
from join.strategies.message_sizes import READING_BYTES, request_bytes
from join.strategies.rendezvous.homes import Homes
from join.strategies.snjoin_star.forwarding import deliver
from join.strategies.snjoin_star.head import ClusterHead, HeadSettings
from join.strategies.snjoin_star.request import ProbeRequest
from join.strategies.snjoin_star.rules.without_learning import FullProbing
from network.contract import Message
from sim.trace.kinds import READING, RESULT, STATE
from sim.trace.tables import SINK, AnswerLevel, DropReason


def rendezvous(ports: Ports, settings: JoinSettings) -> JoinStrategy:
    """The strategy `rendezvous`, for the level that is asked for."""
    homes = Homes(ports, settings)
    if settings.reporting.level is AnswerLevel.RESULTS:
        return RendezvousResults(ports, settings, homes)
    return ReportedJoin(ports, settings, homes)


class RendezvousResults:
    """Every reading is joined at its value's home, by SNJoin; what has a partner goes on to the sink."""

    needs: ClassVar[Needs] = Needs(sends_every_reading=False)

    def __init__(self, ports: Ports, settings: JoinSettings, homes: Homes) -> None:
        self._clock = ports.clock
        self._links = ports.links
        self._cpus = ports.cpus
        self._admission = Admission(ports, settings)
        self._sink = ports.sink
        self._accounts = ports.accounts
        self._end_us = ports.end_us
        self._homes = homes
        self._costs = settings.costs
        self._head_settings = HeadSettings(
            settings.window_us, settings.late_us, settings.factorised
        )
        self._tables: dict[int, ClusterHead] = {}
        attach = ports.links.attach
        attach(READING, self._on_reading, self._on_reading_lost)
        attach(RESULT, self._on_result, self._on_result_lost)

    def submit(self, reading: Reading) -> None:
        """Send a mote's reading to the home of its value."""
        self._accounts.submitted += 1
        home = self._homes.site_of(reading)
        now_us = self._clock.now_us
        if home == reading.node:
            self._join(home, reading)
        else:
            self._links.unicast(READING, reading.node, home, READING_BYTES, reading, now_us)

    def on_roster(
        self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]
    ) -> None:
        """Do nothing: homes do not probe each other."""

    def on_down(self, node: int) -> None:
        """Lose what a home held."""
        table = self._tables.pop(node, None)
        now_us = self._clock.now_us
        for at_us, _, mote, _ in table.table.held() if table is not None else ():
            assert isinstance(mote, int), mote
            self._accounts.lost(STATE, node, DropReason.STATE_LOST, now_us, mote, at_us)

    def close(self, on_air: Sequence[Message]) -> None:
        """End the run: record the readings that are still under way."""
        for message in on_air:
            if message.kind == READING:
                self._accounts.in_flight(message.body, self._clock.now_us)

    def _on_reading(self, message: Message) -> None:
        self._join(message.target, message.body)

    def _join(self, home: int, reading: Reading) -> None:
        admitted = self._admission.admit(home, reading)
        if admitted is None:
            return
        start_us, local_us = admitted
        table = self._tables.get(home)
        if table is None:
            table = self._tables[home] = ClusterHead(home, FullProbing(), self._head_settings)
        found = table.take_reading(reading.value, reading.node, reading.at_us, local_us)
        service_us = self._costs.reading_us(table.tables, found.counts[0])
        done_us = self._cpus.occupy(home, start_us, service_us)
        self._accounts.joined(reading, home, start_us)
        if found.found:
            size = request_bytes(0, found.partners_bytes)
            self._links.unicast(RESULT, home, SINK, size, found, done_us)

    def _on_result(self, message: Message) -> None:
        request: ProbeRequest = message.body
        start_us = self._cpus.admit(SINK)
        assert start_us is not None, "the sink's queue is unlimited"
        done_us = self._cpus.occupy(SINK, start_us, self._costs.result_us(request.found))
        if done_us < self._end_us:
            deliver(request, self._sink, done_us)

    def _on_reading_lost(self, message: Message, reason: DropReason) -> None:
        self._accounts.dropped(message.body, message.target, reason, self._clock.now_us)

    def _on_result_lost(self, message: Message, reason: DropReason) -> None:
        request: ProbeRequest = message.body
        now_us = self._clock.now_us
        self._accounts.lost(RESULT, message.target, reason, now_us, request.origin, request.at_us)
