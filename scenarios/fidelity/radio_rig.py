"""Small radio experiments: motes at given places, frames sent at given times, and their outcomes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from network.contract import Message, NodeId
from network.ledger import Ledger
from network.listening import DutyCycle, Listening
from network.mac.base import MacParts
from network.mac.csma import CsmaAir, CsmaOptions
from network.membership import Membership
from network.radio.channel import Channel, UnitDisk
from network.radio.frame_loss import Medium
from network.radio.profile import Profile, load_profile
from network.topology import Placement
from sim.kernel import Kernel
from sim.rng import RandomStreams
from sim.trace.tables import DropReason
from sim.units import US_PER_S

IEEE_HEADER_BYTES = 17
"""PHY 6, MAC 9 with 16-bit addresses, FCS 2: the frames of ns-3's lr-wpan examples."""

BATTERY_J = 1e6
"""No battery runs out."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message that arrived."""

    source: NodeId
    asked_us: int
    arrived_us: int


class CsmaBench:
    """Motes that contend, by default with plain IEEE 802.15.4 frames on a unit disk."""

    def __init__(
        self,
        points_m: Sequence[tuple[float, float]],
        *,
        range_m: float,
        seed: int,
        acknowledge: bool,
        queue: int = 32,
        profile: Profile | None = None,
        channel: Channel | None = None,
        cycle: DutyCycle | None = None,
    ) -> None:
        """Motes at `points_m`; the sink is far away and takes no part."""
        self.kernel = Kernel()
        self.ledger = Ledger(self.kernel, [BATTERY_J] * len(points_m))
        self.profile = profile or replace(load_profile("micaz"), header_bytes=IEEE_HEADER_BYTES)
        placement = Placement(np.array([*points_m, (1e6, 1e6)], dtype=np.float64))
        self.channel = channel or UnitDisk(placement, self.profile, range_m=range_m)
        streams = RandomStreams(seed)
        self.listening = self._make_listening(cycle)
        parts = MacParts(
            self.kernel,
            self.ledger,
            self.channel,
            self.profile,
            streams,
            Membership(len(points_m)),
            medium=Medium(streams, self.channel, loss=0.0),
            listening=self.listening,
            control_kinds=[],
        )
        self.air = self._make_air(parts, CsmaOptions(self.profile.mac, acknowledge, queue))
        self.delivered: list[Delivery] = []
        self.lost: Counter[DropReason] = Counter()
        self.air.attach("data", self._on_arrival, self._on_loss)

    def _make_listening(self, cycle: DutyCycle | None) -> Listening | None:
        if cycle is None:
            return None
        listening = Listening(self.kernel, self.ledger, self.profile, cycle)
        listening.resume()
        return listening

    def _make_air(self, parts: MacParts, options: CsmaOptions) -> CsmaAir:
        return CsmaAir(parts, options)

    def send(self, source: NodeId, target: NodeId, body_bytes: int, at_us: int) -> None:
        """Queue one message at `at_us`."""
        self.air.unicast("data", source, target, body_bytes, None, at_us)

    def outcomes(self, kind: str = "data") -> Counter[str]:
        """Transmissions of a kind so far, by outcome."""
        return Counter(row[5] for row in self.air.log if row[1] == kind)

    def _on_arrival(self, message: Message) -> None:
        self.delivered.append(Delivery(message.source, message.at_us, self.kernel.now_us))

    def _on_loss(self, message: Message, reason: DropReason) -> None:
        del message
        self.lost[reason] += 1


def free_channel_delays_ms(body_bytes: int, *, count: int, seed: int) -> list[float]:
    """Delays of frames sent one by one between two motes, without acknowledgement."""
    bench = CsmaBench([(0.0, 0.0), (10.0, 0.0)], range_m=50.0, seed=seed, acknowledge=False)
    gap_us = 50_000
    for position in range(count):
        bench.send(0, 1, body_bytes, position * gap_us)
    bench.kernel.advance(count * gap_us)
    assert len(bench.delivered) == count, (len(bench.delivered), bench.lost)
    return [(d.arrived_us - d.asked_us) / 1000 for d in bench.delivered]


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """A cell of motes under one offered load."""

    offered_kbps: float
    delivered_kbps: float
    collided_share: float
    """Of the data frames put on air."""
    not_delivered_share: float
    """Of the messages offered: collided, channel busy, queue full or retries used up."""


def load_point(
    offered_kbps: float,
    *,
    motes: int,
    body_bytes: int,
    seconds: float,
    seed: int,
    acknowledge: bool,
    queue: int = 4,
) -> LoadPoint:
    """Poisson traffic of all motes of one cell to a receiver in their middle."""
    angles = np.linspace(0.0, 2 * np.pi, motes, endpoint=False)
    ring = [(float(10 * np.cos(a)), float(10 * np.sin(a))) for a in angles]
    bench = CsmaBench(
        [*ring, (0.0, 0.0)], range_m=50.0, seed=seed, acknowledge=acknowledge, queue=queue
    )
    rng = RandomStreams(seed).vector("bench.load")
    rate_per_s = offered_kbps * 1000 / 8 / body_bytes
    count = rng.poisson(rate_per_s * seconds)
    times_us = np.sort(rng.random(count) * seconds * US_PER_S).astype(np.int64).tolist()
    for at_us, source in zip(times_us, rng.integers(0, motes, count).tolist(), strict=True):
        bench.send(source, motes, body_bytes, at_us)
    bench.kernel.advance(round((seconds + 1) * US_PER_S))
    outcomes = bench.outcomes()
    kilobits = len(bench.delivered) * body_bytes * 8 / 1000
    return LoadPoint(
        offered_kbps=count * body_bytes * 8 / 1000 / seconds,
        delivered_kbps=kilobits / seconds,
        collided_share=outcomes["collided"] / max(1, outcomes.total()),
        not_delivered_share=bench.lost.total() / max(1, count),
    )
