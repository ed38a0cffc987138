"""Match rates: a probing rule that remembers, per bucket and head, the share of probes that matched.

Beyond the paper. Each probe's outcome, including no match, updates an exponentially decayed share of the probes
that matched; a head is probed while that share is above a threshold, and otherwise now and then, to notice when
it changes.
"""

import random
from collections.abc import Sequence

from join.strategies.snjoin_star.request import ProbeRequest
from join.strategies.snjoin_star.rules.contract import Note
from join.strategies.snjoin_star.rules.relevance import bucket_of

GAIN = 0.25
"""Weight of the newest outcome in the decayed rate."""
THRESHOLD = 0.15
"""A head that matched more often than this is probed."""


class MatchRates:
    """Probes the heads whose decayed match rate is above a threshold.

    A head that has not been probed yet is assumed to match, so it is probed.
    """

    def __init__(self, *, buckets: int, exploration: float, rng: random.Random) -> None:
        self._buckets = buckets
        self._exploration = exploration
        self._random = rng.random
        self._rows: dict[int, dict[int, float]] = {}

    def choose(self, request: ProbeRequest, heads: Sequence[int], now_us: int) -> tuple[int, ...]:
        """The heads above the threshold, lowest match rate first; others now and then."""
        del now_us
        rates = self._rows.get(bucket_of(request.value, self._buckets), {})
        chosen = []
        for head in heads:
            is_explored = self._random() < self._exploration
            rate = rates.get(head, 1.0)
            if is_explored or rate > THRESHOLD:
                chosen.append((rate, head))
        return tuple(head for _, head in sorted(chosen))

    def learn(self, note: Note, now_us: int) -> None:
        """Update the match rate of each probed head."""
        del now_us
        rates = self._rows.setdefault(bucket_of(note.value, self._buckets), {})
        for head, size in zip(note.heads, note.sizes, strict=True):
            rate = rates.get(head, 1.0)
            rates[head] = rate + GAIN * ((1.0 if size else 0.0) - rate)

    def forget(self, head: int) -> None:
        """Remove a node that is no longer a head."""
        for row in self._rows.values():
            row.pop(head, None)
