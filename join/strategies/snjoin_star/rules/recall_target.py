"""A target recall: as few probes as deliver the share of partners that the user asks for.

Given how many partners each head is expected to hold, the heads that hold most are taken first, until the
partners delivered so far, including this reading's, reach the target share of those owed. The heads left out
cost a hop each and hold least. The sums are kept per hash bucket and decay, so that a bucket soon makes up for its
own losses and no other bucket has to.
"""

from collections import defaultdict
from collections.abc import Mapping

from sim.arithmetic import plain_sum

FADING = 0.998
"""Factor by which a reading's share in the sums decays with each further reading of its bucket."""


class RecallTarget:
    """Chooses heads by expected partners so that `target` of all partners are delivered."""

    def __init__(self, target: float) -> None:
        assert 0.0 < target <= 1.0, target
        self._target = target
        self._owed: defaultdict[int, float] = defaultdict(float)
        self._delivered: defaultdict[int, float] = defaultdict(float)

    def choose(self, bucket: int, local: int, expected: Mapping[int, float]) -> list[int]:
        """The heads to probe for one reading, most partners first."""
        owed = FADING * self._owed[bucket] + local + plain_sum(expected.values())
        delivered = FADING * self._delivered[bucket] + local
        chosen = []
        for head in sorted(expected, key=lambda head: (-expected[head], head)):
            if delivered >= self._target * owed:
                break
            chosen.append(head)
            delivered += expected[head]
        self._owed[bucket] = owed
        self._delivered[bucket] = delivered
        return chosen
