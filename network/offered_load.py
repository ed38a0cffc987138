"""Whether a contended channel can carry the readings of all motes to the sink: an estimate before a run.

The bottleneck is around the sink. Every reading crosses the last two hops, or the one there is, and their senders and
receivers are in range of the sink or of each other, so that one transmission at a time fits. A transmission takes its turn:
mean back-off, assessment, turnaround, frame, acknowledgement, spacing; and half of the time for which frames are
repeated, if its target sleeps (the sink does not). Collisions and retries come on top: losses begin well below this load.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from network.radio.profile import MacTiming, Profile
from sim.point_grid import pairs_within
from sim.units import US_PER_S

NEAR_HOPS = 2
"""The hops that share the channel around the sink."""


@dataclass(frozen=True, slots=True)
class Load:
    """What readings offer to the channel around the sink, and what it carries."""

    readings_per_s: float
    hops: float
    """From a mote to the sink, on average."""
    bytes_per_hop: int
    """Of a reading, headers included."""
    offered_bytes_per_s: float
    capacity_bytes_per_s: float

    @property
    def exceeds(self) -> bool:
        """Whether more is offered than can be carried."""
        return self.offered_bytes_per_s > self.capacity_bytes_per_s


def turn_us(profile: Profile, timing: MacTiming, body_bytes: int) -> float:
    """How long an acknowledged message takes the channel, with its mean back-off."""
    backoff_us = timing.backoff_us * ((1 << timing.min_be) - 1) / 2 + timing.cca_us
    ack_us = profile.turnaround_us + timing.ack_bytes * profile.airtime_us_per_byte
    per_frame_us = backoff_us + profile.turnaround_us + ack_us + timing.spacing_us
    airtime_us = profile.on_air_bytes(body_bytes) * profile.airtime_us_per_byte
    return airtime_us + profile.frames_of(body_bytes) * per_frame_us


def load_near_sink(
    profile: Profile,
    timing: MacTiming,
    *,
    readings_per_s: float,
    hops: float,
    body_bytes: int,
    repeats_us: int,
) -> Load:
    """The load if every reading is sent to the sink; `repeats_us`: for how long frames for sleeping motes are repeated."""
    size = profile.on_air_bytes(body_bytes)
    last_us = turn_us(profile, timing, body_bytes)
    before = max(0.0, min(hops, NEAR_HOPS) - 1)
    reading_us = last_us + before * (last_us + repeats_us / 2)
    offered = readings_per_s * (1 + before) * size
    return Load(
        readings_per_s=readings_per_s,
        hops=hops,
        bytes_per_hop=size,
        offered_bytes_per_s=offered,
        capacity_bytes_per_s=(1 + before) * size * US_PER_S / reading_us,
    )


def mean_hops(points_m: NDArray[np.float64], range_m: float) -> float:
    """Hops from the motes to the sink, the last point, on shortest paths; without the motes that have none."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    count = len(points_m)
    one, other = pairs_within(points_m, range_m)
    links = coo_array((np.ones(len(one)), (one, other)), shape=(count, count)).tocsr()
    hops = dijkstra(links, directed=False, indices=[count - 1], unweighted=True)[0, :-1]
    reached = hops[np.isfinite(hops)]
    return float(reached.mean()) if len(reached) else 1.0
