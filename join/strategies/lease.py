"""The strategy `lease`: motes send a reading only when what the sink knows of them is about to lapse.

See `join.strategies.mote_leases`. Heads forward what they get; the sink keeps the sets.
"""

from collections.abc import Sequence
from typing import ClassVar

from join.reading import Reading
from join.sink.sets_from_readings import SetsFromReadings
from join.strategies.contract import JoinSettings, Needs, Ports
from join.strategies.margins import margins
from join.strategies.mote_leases_driver import LeasesDriver
from join.strategies.relay import ReadingRelay
from network.contract import Message
from sim.trace.tables import AnswerLevel


class LeaseJoin:
    """Motes lease to the sink."""

    needs: ClassVar[Needs] = Needs(delivers=AnswerLevel.SETS, sends_every_reading=False)

    def __init__(self, ports: Ports, settings: JoinSettings) -> None:
        sets = SetsFromReadings(ports, settings)
        self._relay = ReadingRelay(ports, settings, sets.take)
        margin_us = margins(ports, settings).both_us
        self._leasing = LeasesDriver(
            ports, settings, self._send, margin_us=margin_us, lossy=settings.reporting.lossy
        )

    def submit(self, reading: Reading) -> None:
        """Take a mote's reading; it is sent now, later, or never."""
        self._leasing.submit(reading)

    def on_roster(
        self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]
    ) -> None:
        """Do nothing: heads only forward readings and need no roster."""

    def on_down(self, node: int) -> None:
        """Lose what a mote had yet to send or forward."""
        self._leasing.on_down(node)
        self._relay.on_down(node)

    def close(self, on_air: Sequence[Message]) -> None:
        """End the run: record the readings that are still under way, and those kept and not sent."""
        self._relay.close(on_air)
        self._leasing.close()

    def _send(self, reading: Reading, again: bool) -> None:
        assert not again, "a lease to the sink does not move with its mote's head"
        self._relay.send(reading)
