"""Random numbers by sample: each depends only on the mote and the time.

A draw is a hash of (key, node, number), so that a sample is the same however the simulator batches
its requests, and whichever other motes are alive.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from sim.rng import RandomStreams

# Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014: the increment
# and the two multipliers of SplitMix64 (variant 13 of Stafford's mixers).
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX_1: Final = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2: Final = np.uint64(0x94D049BB133111EB)
_SHIFTS: Final = (np.uint64(30), np.uint64(27), np.uint64(31))
_UNIT_BITS: Final = np.uint64(11)
_UNIT: Final = 2.0**-53


class Draws:
    """A source of random numbers for one purpose."""

    def __init__(self, streams: RandomStreams, purpose: str) -> None:
        self._key = streams.vector(purpose).integers(
            0, 2**64, size=1, dtype=np.uint64, endpoint=False
        )

    def uniform(self, nodes: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """A number in (0, 1) for each pair, never 0 or 1; `numbers` are times, or counts of draws."""
        mixed = _mix(self._key + nodes.astype(np.uint64) * _GOLDEN)
        mixed = _mix(mixed + numbers.astype(np.uint64) * _GOLDEN)
        unit: NDArray[np.float64] = ((mixed >> _UNIT_BITS).astype(np.float64) + 0.5) * _UNIT
        return unit


class NormalDraws:
    """A source of standard normal numbers for one purpose, by Box and Muller's method."""

    def __init__(self, streams: RandomStreams, purpose: str) -> None:
        self._radius = Draws(streams, f"{purpose}.radius")
        self._angle = Draws(streams, f"{purpose}.angle")

    def normal(self, nodes: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """A normal number for each pair."""
        radius = np.sqrt(-2.0 * np.log(self._radius.uniform(nodes, numbers)))
        angle: NDArray[np.float64] = radius * np.cos(
            2.0 * np.pi * self._angle.uniform(nodes, numbers)
        )
        return angle


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Each word scrambled; arrays wrap around silently, as intended."""
    words = (words ^ (words >> _SHIFTS[0])) * _MIX_1
    words = (words ^ (words >> _SHIFTS[1])) * _MIX_2
    return words ^ (words >> _SHIFTS[2])
