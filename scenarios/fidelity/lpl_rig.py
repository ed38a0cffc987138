"""Low-power listening: what a wake-up, a unicast and a broadcast cost, measured and by formula.

Costs are what the batteries of all motes give beyond sleep. The formulas use neither random numbers nor events:

S, W      a sample, and the interval between wake-ups
P         a copy and the time for its acknowledgement
c         copies that a target sleeps through: (W - S) / 2P + 1/2 on average over the W - S in which it sleeps, else none

A body must fit in one frame.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from statistics import mean

from network.contract import NodeId
from network.listening import DutyCycle, Listening
from network.mac.base import MacParts
from network.mac.csma import CsmaAir, CsmaOptions
from network.mac.lpl import SAMPLE_US, STAY_US, LplAir, LplOptions
from network.radio.channel import Channel
from network.radio.profile import Profile, load_profile
from scenarios.fidelity.radio_rig import CsmaBench
from sim.arithmetic import plain_sum
from sim.units import US_PER_S

TELOSB = load_profile("telosb")
PLACES_M = ((0.0, 0.0), (10.0, 0.0), (0.0, 10.0))
GOLDEN = 0.6180339887
"""Messages come at this share of the interval after one another, which spreads them evenly over it."""


class LplBench(CsmaBench):
    """Motes that sleep and wake up."""

    def __init__(
        self,
        points_m: Sequence[tuple[float, float]],
        *,
        range_m: float,
        seed: int,
        wake_up_us: int,
        profile: Profile | None = None,
        channel: Channel | None = None,
    ) -> None:
        """Motes at `points_m`; the sink is far away and takes no part."""
        self._wake_up_us = wake_up_us
        super().__init__(
            points_m,
            range_m=range_m,
            seed=seed,
            acknowledge=True,
            profile=profile or TELOSB,
            channel=channel,
        )

    def _make_listening(self, cycle: DutyCycle | None) -> Listening:
        return Listening(self.kernel, self.ledger, self.profile, cycle)

    def _make_air(self, parts: MacParts, options: CsmaOptions) -> CsmaAir:
        return LplAir(parts, LplOptions(options, self._wake_up_us))

    def spent_j(self, until_us: int) -> list[float]:
        """What each mote has spent until then."""
        self.kernel.advance(until_us)
        assert self.listening is not None
        self.listening.settle()
        return [self.ledger.spent_j(node) for node in range(self.ledger.count)]


@dataclass(frozen=True, slots=True)
class LplCosts:
    """Mean costs in joules beyond sleep; a wake-up's beyond its mote's sleep, the others' beyond wake-ups."""

    wake_up_j: float
    unicast_sender_j: float
    unicast_target_j: float
    broadcast_sender_j: float
    broadcast_listener_j: float


def measured_costs(
    body_bytes: int, *, wake_up_us: int, count: int, seeds: range, profile: Profile = TELOSB
) -> LplCosts:
    """Mean costs among three motes in range of each other: mote 0 sends to mote 1, or to all.

    Each seed draws the phases of the motes anew, and sends `count` messages of each kind.
    """
    runs = [_measured(body_bytes, wake_up_us, count, seed, profile) for seed in seeds]
    return LplCosts(*(mean(costs) for costs in zip(*map(astuple, runs), strict=True)))


def _measured(
    body_bytes: int, wake_up_us: int, count: int, seed: int, profile: Profile
) -> LplCosts:
    gap_us = 3 * wake_up_us + round(GOLDEN * wake_up_us)
    end_us = count * gap_us
    sleep_j = (profile.radio_sleep_w + profile.cpu_sleep_w) * end_us / US_PER_S

    def run(kind: str) -> list[float]:
        bench = LplBench(PLACES_M, range_m=50.0, seed=seed, wake_up_us=wake_up_us, profile=profile)
        for number in range(count):
            if kind == "unicast":
                bench.send(0, 1, body_bytes, number * gap_us)
            elif kind == "broadcast":
                _broadcast(bench, body_bytes, number * gap_us)
        spent_j = bench.spent_j(end_us)
        assert len(bench.delivered) == (count if kind == "unicast" else 0), bench.outcomes()
        assert not bench.outcomes()["lost"], bench.outcomes()
        return spent_j

    idle_j, unicast_j, broadcast_j = run("idle"), run("unicast"), run("broadcast")
    wake_ups = end_us / wake_up_us
    heard_j = plain_sum(broadcast_j[1:]) - plain_sum(idle_j[1:])
    return LplCosts(
        wake_up_j=(idle_j[0] - sleep_j) / wake_ups,
        unicast_sender_j=(unicast_j[0] - idle_j[0]) / count,
        unicast_target_j=(unicast_j[1] - idle_j[1]) / count,
        broadcast_sender_j=(broadcast_j[0] - idle_j[0]) / count,
        broadcast_listener_j=heard_j / (len(PLACES_M) - 1) / count,
    )


def _broadcast(bench: LplBench, body_bytes: int, at_us: int) -> None:
    def on_heard(source: NodeId, heard: list[NodeId]) -> None:
        assert len(heard) == len(PLACES_M) - 1, (source, heard)

    bench.air.broadcast("data", 0, [1, 2], 50.0, body_bytes, at_us, on_heard)


def expected_costs(body_bytes: int, *, wake_up_us: int, profile: Profile = TELOSB) -> LplCosts:
    """The same by formula."""
    mac = profile.mac
    asleep_w = profile.radio_sleep_w + profile.cpu_sleep_w
    busy_w = profile.cpu_idle_w - asleep_w  # beside what the radio's frames cost
    listen_w = profile.listen_w + busy_w
    size = profile.on_air_bytes(body_bytes)
    copy_us = size * profile.airtime_us_per_byte
    ack_us = mac.ack_bytes * profile.airtime_us_per_byte
    period_us = copy_us + mac.ack_wait_us
    asleep_us = wake_up_us - SAMPLE_US
    copies = 1 + asleep_us / wake_up_us * (asleep_us / period_us + 1) / 2
    send_j = profile.transmit_j_per_byte(0.0)

    def on_j(on_us: float, busy_us: float, samples: float) -> float:
        """A radio that is on for `on_us`, in use for `busy_us` of it, and misses its samples meanwhile."""
        idle_us = on_us - busy_us - samples * SAMPLE_US
        return (idle_us * listen_w + busy_us * busy_w) / US_PER_S

    def sender_j(copies: float, after_us: float, busy_after_us: float) -> float:
        on_us = (copies - 1) * period_us + copy_us + after_us
        frames_j = copies * size * send_j
        assessment_j = mac.cca_us * listen_w / US_PER_S
        return (
            frames_j
            + assessment_j
            + on_j(on_us, copies * copy_us + busy_after_us, on_us / wake_up_us)
        )

    # A copy comes up to P after a wake-up; waiting within S is part of the sample.
    longer_us = max(0.0, period_us - SAMPLE_US) ** 2 / (2 * period_us) * asleep_us / wake_up_us
    copy_j = size * profile.receive_j_per_byte
    copy_j += (copy_us * busy_w + longer_us * listen_w) / US_PER_S
    missed = (STAY_US + copy_us) // wake_up_us
    ack_in_j = mac.ack_bytes * profile.receive_j_per_byte
    return LplCosts(
        wake_up_j=SAMPLE_US * listen_w / US_PER_S,
        unicast_sender_j=sender_j(copies, profile.turnaround_us + ack_us, ack_us) + ack_in_j,
        unicast_target_j=copy_j + mac.ack_bytes * send_j + on_j(STAY_US, ack_us, missed),
        broadcast_sender_j=sender_j(wake_up_us / period_us + 1.5, 0.0, 0.0),
        broadcast_listener_j=copy_j + on_j(STAY_US, 0.0, missed),
    )
