"""The centralised strategy: heads forward every reading to the sink, which runs the join alone."""

from collections.abc import Sequence
from typing import ClassVar

from join.reading import Reading
from join.sink.results_from_readings import ResultsFromReadings
from join.sink.sets_from_readings import SetsFromReadings
from join.strategies.contract import JoinSettings, Needs, Ports
from join.strategies.relay import ReadingRelay
from network.contract import Message
from sim.trace.tables import AnswerLevel


class CentralisedJoin:
    """Every reading travels mote, head, sink; `operator` at the sink joins them, if results are asked for."""

    needs: ClassVar[Needs] = Needs(readings_at_sink=True)

    def __init__(self, ports: Ports, settings: JoinSettings) -> None:
        self._accounts = ports.accounts
        if settings.reporting.level is AnswerLevel.RESULTS:
            take = ResultsFromReadings(ports, settings).take
        else:
            take = SetsFromReadings(ports, settings).take
        self._relay = ReadingRelay(ports, settings, take)

    def on_roster(
        self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]
    ) -> None:
        """Do nothing: heads only forward readings and need no roster."""

    def on_down(self, node: int) -> None:
        """Lose the readings that a mote held to pack them."""
        self._relay.on_down(node)

    def submit(self, reading: Reading) -> None:
        """Send a mote's reading on its way to the sink."""
        self._accounts.submitted += 1
        self._relay.send(reading)

    def close(self, on_air: Sequence[Message]) -> None:
        """End the run: record the readings that are still under way."""
        self._relay.close(on_air)
