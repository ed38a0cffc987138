"""Match rates: a probing rule that remembers, per bucket and head, how much a probe brought.

Beyond the paper. Each probe's outcome, nothing found included, moves an exponentially decayed mean of the
partners found; a head is probed while the share of probes that found something is above a threshold, and
else now and then, to notice when it changes.
"""

import random
from collections.abc import Sequence

from join.probe_request import ProbeRequest
from join.probing import Note
from join.recall_target import RecallTarget
from join.relevance import bucket_of

GAIN = 0.25
"""Weight of the newest outcome in the decayed means."""
THRESHOLD = 0.15
"""A head that matched more often than this is probed."""


class _Experience:
    """What probing one head for one bucket has brought."""

    __slots__ = ("rate", "size")

    def __init__(self) -> None:
        # A head nobody has asked is presumed to match: it is asked.
        self.rate = 1.0
        self.size = 1.0


class MatchRates:
    """Probes the heads whose decayed match rate is above a threshold, or as a target recall asks."""

    def __init__(
        self,
        *,
        buckets: int,
        exploration: float,
        target: RecallTarget | None,
        rng: random.Random,
    ) -> None:
        self._buckets = buckets
        self._exploration = exploration
        self._target = target
        self._random = rng.random
        self._rows: dict[int, dict[int, _Experience]] = {}

    def choose(self, request: ProbeRequest, heads: Sequence[int], now_us: int) -> tuple[int, ...]:
        """The heads that have been worth asking, least promising first; others now and then."""
        del now_us
        bucket = bucket_of(request.value, self._buckets)
        row = self._rows.setdefault(bucket, {})
        known = {head: row.get(head) or row.setdefault(head, _Experience()) for head in heads}
        explored = {head for head in heads if self._random() < self._exploration}
        if self._target is None:
            wanted = {head for head, experience in known.items() if experience.rate > THRESHOLD}
        else:
            expected = {head: known[head].rate * known[head].size for head in heads}
            wanted = set(self._target.choose(bucket, request.counts[0], expected))
        chosen = wanted | explored
        return tuple(sorted(chosen, key=lambda head: (known[head].rate, head)))

    def learn(self, note: Note, now_us: int) -> None:
        """Take in what each probed head gave, nothing included."""
        del now_us
        row = self._rows.setdefault(bucket_of(note.value, self._buckets), {})
        for head, size in zip(note.heads, note.sizes, strict=True):
            experience = row.get(head) or row.setdefault(head, _Experience())
            matched = 1.0 if size else 0.0
            experience.rate += GAIN * (matched - experience.rate)
            if size:
                experience.size += GAIN * (size - experience.size)

    def forget(self, head: int) -> None:
        """Remove a head that is no longer one."""
        for row in self._rows.values():
            row.pop(head, None)
