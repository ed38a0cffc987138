"""What a phenomenon gives the simulator: sampled values, and the truth to judge answers by."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

NOTHING: Final = -1
"""The value of a sample with nothing to join (null in traces)."""


@dataclass(frozen=True, slots=True)
class Samples:
    """What some motes sensed, in the order in which they were asked."""

    values: NDArray[np.int64]
    """The joined value of each sample, 0 or more; `NOTHING` where there is nothing to join."""
    levels: NDArray[np.float64]
    """The physical magnitude (say g/m³); NaN where there is none."""


class Phenomenon(Protocol):
    """Something that motes sense.

    The simulator asks in batches of increasing time. A sample depends on its mote, its time and that
    mote's earlier samples alone: neither on batches, nor on other motes, nor on the state of the
    network, so that every strategy meets the same readings.
    """

    attribute: str
    """What queries call the joined value, such as "gas"."""

    def sample(self, nodes: NDArray[np.int64], at_us: NDArray[np.int64]) -> Samples:
        """What `nodes[i]` senses at `at_us[i]`, for all i at once; `at_us` ascends, also between calls."""

    def truth(self, at_us: int) -> Mapping[str, NDArray[np.int64]]:
        """For each source (such as a gas), the motes truly inside it at `at_us`; empty if not defined.

        Asked at ascending times, independently of `sample`.
        """

    def labels(self) -> Mapping[int, str]:
        """What each joined value means, for people; values without a label speak for themselves."""

    def inputs(self) -> Mapping[str, str]:
        """The files it read, as the scenario names them, each with the BLAKE2b digest of its bytes."""
