"""Energy of idle radios and CPUs: idle listening, sleep, duty cycles, samples of the channel.

Transmissions and receptions are charged as they happen, and their time is recorded here. Whenever
accounts are settled (every simulated second, and when a radio is switched on or off), each live mote pays for the
rest of the time: listening while its radio is on, sleep power while it is off. Nothing is sampled, so the
charge is exact; only the time of a death by idle drain is rounded to the settlement.
"""

from network.contract import NodeId
from network.ledger import Ledger
from network.radio.profile import Profile
from network.wake_ups import WakeUps
from sim.kernel import Kernel


class DutyCycle:
    """Radios that are on at the beginning of each period, all at the same time.

    Synchronised as in S-MAC (Ye, Heidemann & Estrin, INFOCOM 2002), without its schedule exchange.
    """

    def __init__(self, *, period_us: int, awake_us: int) -> None:
        assert 0 < awake_us <= period_us, (awake_us, period_us)
        self._period_us = period_us
        self._awake_us = awake_us

    def awake_until(self, at_us: int) -> int:
        """How long radios have been on from 0 until `at_us`."""
        periods, rest_us = divmod(at_us, self._period_us)
        return periods * self._awake_us + min(rest_us, self._awake_us)

    def next_start(self, at_us: int, airtime_us: int) -> int:
        """The first time from `at_us` on at which a frame of that airtime fits in the time awake.

        A frame longer than the time awake is sent at its beginning and keeps the radios on.
        """
        rest_us = at_us % self._period_us
        if rest_us + min(airtime_us, self._awake_us) <= self._awake_us:
            return at_us
        return at_us - rest_us + self._period_us


class Listening:
    """Charges every live mote for the time between its transmissions and receptions."""

    def __init__(
        self, kernel: Kernel, ledger: Ledger, profile: Profile, cycle: DutyCycle | None = None
    ) -> None:
        self._kernel = kernel
        self._ledger = ledger
        self._listen_j_per_us = profile.listen_w * 1e-6
        self._cpu_j_per_us = profile.cpu_idle_w * 1e-6
        self._sleep_j_per_us = (profile.radio_sleep_w + profile.cpu_sleep_w) * 1e-6
        self._cycle = cycle
        self._cycling = False
        nodes = ledger.count
        self._asleep = [False] * nodes
        self._settled_us = [0] * nodes
        self._busy_us = [0] * (nodes + 1)
        """Radio time that was charged as transmission, reception or overhearing; the sink's counts for nothing."""
        self._wake_ups: WakeUps | None = None
        self._listened_us = [0] * (nodes + 1)
        """Listening of sleeping motes that is not charged yet; the sink's counts for nothing."""

    def sleep_between(self, wake_ups: WakeUps) -> None:
        """Turn all radios off but for samples of the channel, and so those of motes that come up later."""
        self._wake_ups = wake_ups
        self._asleep = [True] * len(self._asleep)

    def note_listening(self, node: NodeId, time_us: int) -> None:
        """Record that the radio of a sleeping mote listened, or will listen, for `time_us` beside its samples."""
        self._listened_us[node] += time_us

    def note_busy(self, node: NodeId, airtime_us: int) -> None:
        """Record that a mote's radio was, or will be, in use for `airtime_us` that it paid for."""
        self._busy_us[node] += airtime_us

    def charge_awake(self, node: NodeId, time_us: int) -> None:
        """Charge a sleeping mote for `time_us` of listening beside what it sends."""
        if self._asleep[node] and self._ledger.alive[node]:
            watts_us = self._listen_j_per_us + self._cpu_j_per_us - self._sleep_j_per_us
            self._ledger.draw(node, self._ledger.idle_j, time_us * max(0.0, watts_us))

    def is_asleep(self, node: NodeId) -> bool:
        """Whether a mote's radio is off until it is turned on again, apart from a duty cycle."""
        return self._asleep[node]

    def set_asleep(self, node: NodeId, *, asleep: bool) -> None:
        """Turn a mote's radio off or on from now on."""
        if self._asleep[node] != asleep:
            self._settle(node, self._kernel.now_us)
            self._asleep[node] = asleep

    def wake_all(self) -> None:
        """Keep all radios on from now on: an election begins."""
        self.settle()
        self._cycling = False
        self._asleep = [False] * len(self._asleep)

    def resume(self) -> None:
        """Resume the duty cycle, if there is one."""
        self.settle()
        self._cycling = self._cycle is not None

    def next_start(self, at_us: int, airtime_us: int) -> int:
        """The first time from `at_us` on at which radios are awake for a frame of that airtime."""
        if self._cycling and self._cycle is not None:
            return self._cycle.next_start(at_us, airtime_us)
        return at_us

    def settle_one(self, node: NodeId) -> None:
        """Charge one mote up to now, as before it goes down."""
        self._settle(node, self._kernel.now_us)

    def settle(self) -> None:
        """Charge all motes up to now."""
        now_us = self._kernel.now_us
        for node in range(self._ledger.count):
            self._settle(node, now_us)

    def on_up(self, node: NodeId) -> None:
        """Start a mote's account now: nothing is due for the time before it came up."""
        self._settled_us[node] = self._kernel.now_us
        self._asleep[node] = self._wake_ups is not None
        self._busy_us[node] = self._listened_us[node] = 0

    def _settle(self, node: NodeId, now_us: int) -> None:
        ledger = self._ledger
        if ledger.alive[node]:
            busy_us, listened_us, idle_j, sleep_j = self._due(node, now_us)
            self._busy_us[node] -= busy_us
            self._listened_us[node] = listened_us
            if ledger.draw(node, ledger.idle_j, idle_j):
                ledger.draw(node, ledger.sleep_j, sleep_j)
        self._settled_us[node] = now_us

    def _due(self, node: NodeId, now_us: int) -> tuple[int, int, float, float]:
        """Since a mote's last settlement: radio time paid for, listening left to charge, joules for idling and sleep."""
        since_us = self._settled_us[node]
        time_us = now_us - since_us
        # Frames may be paid before they are sent, and may keep a radio on that would be off.
        busy_us = min(self._busy_us[node], time_us)
        left_us = self._listened_us[node]
        if self._asleep[node]:
            if self._wake_ups is not None:
                left_us += self._wake_ups.sampled_us(node, since_us, now_us)
            listen_us = min(left_us, time_us - busy_us)
            left_us -= listen_us
            awake_us = listen_us + busy_us
        else:
            on_us = time_us
            if self._cycling and self._cycle is not None:
                on_us = self._cycle.awake_until(now_us) - self._cycle.awake_until(since_us)
            listen_us = max(0, on_us - busy_us)
            awake_us = max(on_us, busy_us)
        idle_j = listen_us * self._listen_j_per_us + awake_us * self._cpu_j_per_us
        return busy_us, left_us, idle_j, (time_us - awake_us) * self._sleep_j_per_us
