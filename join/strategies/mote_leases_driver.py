"""Drives the leases of motes: sends readings when they are due, and writes the fate of those that are not sent."""

from collections.abc import Callable

from join.reading import Reading
from join.strategies.contract import JoinSettings, Ports
from join.strategies.mote_leases import Leases, Renewal
from sim.trace.tables import DropReason

ROUNDING_US = 2
"""How far a mote's clock may be from where it was expected to be."""

Send = Callable[[Reading, bool], None]
"""Sends a reading now; the flag says whether it has been sent before."""


def renewal(window_us: int, margin_us: int, *, lossy: bool) -> Renewal:
    """When leases are renewed: once per window; where a loss goes unnoticed, soon after the first and twice per window."""
    whole_us = max(1, window_us - margin_us)
    if not lossy:
        return Renewal(whole_us, whole_us)
    return Renewal(max(1, whole_us // 6), max(1, whole_us // 2))


class LeasesDriver:
    """The motes' leases in simulated time."""

    def __init__(
        self, ports: Ports, settings: JoinSettings, send: Send, *, margin_us: int, lossy: bool
    ) -> None:
        """Send readings by `send` as leases call for; `lossy`: it may lose some without anybody noticing."""
        self._clock = ports.clock
        self._accounts = ports.accounts
        self._membership = ports.membership
        self._alive = ports.links.alive
        self._local_us = ports.local_us
        self._send = send
        self._spread_us = settings.reporting.spread_us
        self._rng = settings.streams.scalar("join.lease.spread")
        self._leases = Leases(
            window_us=settings.window_us,
            renewal=renewal(settings.window_us, margin_us, lossy=lossy),
        )
        self._head_of = list(ports.membership.head_of)

    def submit(self, reading: Reading) -> None:
        """Take a mote's new reading; sends it now, later, or never."""
        self._accounts.submitted += 1
        at_once, superseded = self._leases.take(reading)
        if superseded is not None:
            self._accounts.suppressed(superseded, self._clock.now_us)
        if at_once:
            self._send(reading, False)
            self._arm(reading.node, reading.value)

    def renew_moved(self) -> None:
        """Renew the leases of motes that have switched heads, at their new heads."""
        before, self._head_of = self._head_of, list(self._membership.head_of)
        for node, head in enumerate(self._head_of):
            if head != before[node] and head >= 0 and self._alive[node]:
                wait_us = self._rng.randrange(self._spread_us) if self._spread_us else 0
                self._clock.call_at(self._clock.now_us + wait_us, self._move, node)

    def on_down(self, node: int) -> None:
        """Lose what a mote had yet to send."""
        for reading in self._leases.forget(node):
            self._accounts.dropped(reading, node, DropReason.STATE_LOST, self._clock.now_us)

    def close(self) -> None:
        """End the run: what was kept and not sent was not needed."""
        for reading in self._leases.unsent():
            self._accounts.suppressed(reading, self._clock.now_us)

    def _move(self, node: int) -> None:
        if self._alive[node]:
            now_us = self._local_us(node, self._clock.now_us)
            for reading, was_sent in self._leases.standing(node, now_us):
                self._send(reading, was_sent)
                self._arm(node, reading.value)

    def _arm(self, node: int, value: int) -> None:
        """Wait until the lease is due, by the mote's own clock."""
        due_us = self._leases.due_us(node, value)
        if due_us is not None:
            now_us = self._clock.now_us
            wait_us = due_us - self._local_us(node, now_us)
            self._clock.call_at(now_us + max(0, wait_us), self._due, (node, value))

    def _due(self, lease: tuple[int, int]) -> None:
        node, value = lease
        due_us = self._leases.due_us(node, value)
        if due_us is None or due_us > self._local_us(node, self._clock.now_us) + ROUNDING_US:
            return  # it lapsed, or was renewed meanwhile: then another call is on its way
        reading = self._leases.renew(node, value)
        if reading is not None:
            self._send(reading, False)
            self._arm(node, value)
