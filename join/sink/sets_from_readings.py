"""The sink's part where readings themselves arrive and sets are asked for: each keeps its mote active for a window."""

from join.reading import Reading
from join.sink.activity import Vouched
from join.strategies.contract import JoinSettings, Ports
from sim.trace.tables import SINK, DropReason


class SetsFromReadings:
    """Takes readings at the sink, one after the other as its CPU gets to them."""

    def __init__(self, ports: Ports, settings: JoinSettings) -> None:
        self._clock = ports.clock
        self._cpus = ports.cpus
        self._sink = ports.sink
        self._accounts = ports.accounts
        self._membership = ports.membership
        self._end_us = ports.end_us
        self._true_us = ports.true_us
        self._window_us = settings.window_us
        # A lease may send a reading when it is almost a window old.
        self._late_us = max(settings.late_us, settings.window_us)
        self._service_us = settings.costs.feedback_us()

    def take(self, reading: Reading) -> None:
        """Take a reading that has arrived."""
        start_us = self._cpus.admit(SINK)
        assert start_us is not None, "the sink's queue is unlimited"
        done_us = self._cpus.occupy(SINK, start_us, self._service_us)
        if done_us >= self._end_us:
            self._accounts.in_flight(reading, self._end_us)
        elif start_us - reading.at_us > self._late_us:
            self._accounts.dropped(reading, SINK, DropReason.LATE, self._clock.now_us)
        else:
            self._accounts.joined(reading, SINK, start_us)
            self._clock.call_at(done_us, self._join, reading)

    def _join(self, reading: Reading) -> None:
        node, value, at_us = reading
        # A reading that arrives names the head that sent it: its mote's head at that time.
        region = self._membership.head_of[node]
        vouched = [Vouched(node, SINK, at_us + self._window_us, at_us, region=region)]
        self._sink.take_activity(value, vouched, sent_us=self._true_us(node, at_us), replace=False)
