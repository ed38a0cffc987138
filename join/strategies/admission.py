"""Admits readings to the CPU of the node that joins them: or drops them, if its queue is full or they are late."""

from join.reading import Reading
from join.strategies.contract import JoinSettings, Ports
from sim.trace.tables import DropReason


class Admission:
    """Admits one reading after the other, and records the fate of those that are not admitted."""

    def __init__(self, ports: Ports, settings: JoinSettings) -> None:
        self._clock = ports.clock
        self._cpus = ports.cpus
        self._accounts = ports.accounts
        self._local_us = ports.local_us
        self._end_us = ports.end_us
        self._late_us = settings.late_us

    def admit(self, node: int, reading: Reading) -> tuple[int, int] | None:
        """When the CPU of `node` can start on a reading: true time, and time on its own clock; None if it cannot."""
        start_us = self._cpus.admit(node)
        if start_us is None:
            self._accounts.dropped(reading, node, DropReason.QUEUE_FULL, self._clock.now_us)
            return None
        if start_us >= self._end_us:
            self._accounts.in_flight(reading, self._end_us)
            return None
        local_us = self._local_us(node, start_us)
        if local_us - reading.at_us > self._late_us:
            self._accounts.dropped(reading, node, DropReason.LATE, self._clock.now_us)
            return None
        return start_us, local_us
