"""When a head should hold a mote at the sink, learnt from how long stays last.

A report `enter` lapses after a window and has to be repeated while the mote stays; a report `hold` stands until a report
`leave`. With r leases behind it, a stay costs from here on

    V(r) = min(2, 1 + S(r) · V(r + 1))

reports: two if it is held now, or one now and, with the chance S(r) that a stay of r leases gets another, as many as it
then costs. Holding pays if 2 < 1 + S(r) · V(r + 1).

S(r) is the share of stays that got another lease after r, shrunk to the share over all r. That a stay went on is seen sooner than
that it ended, which takes until its last lease has lapsed. So that the share is fair, the former counts only from then on, too.
"""

from collections import Counter
from heapq import heappop, heappush

PRIOR_WEIGHT = 2.0
"""How many stays the pooled share counts for in S(r)."""
PRIOR_SHARE = 0.5
"""The pooled share before anything is known: holding and repeating cost the same."""
HORIZON = 32
"""Leases beyond which a stay is taken to go on for ever."""
HOLD_COST = 2.0


class HoldRule:
    """Counts stays by their leases and decides whether holding pays."""

    def __init__(self, going_on: float = PRIOR_SHARE) -> None:
        """Expect that this share of stays goes on, before any is known."""
        self._expected = going_on
        self._went_on: Counter[int] = Counter()
        self._ended: Counter[int] = Counter()
        self._going_on: list[tuple[int, int]] = []
        """A heap of stays that got another lease and do not count yet: from when on, after how many leases."""
        self._holds: list[bool] | None = None
        """The decision by leases; None: something was learnt since."""

    def went_on(self, leases: int, lapses_us: int) -> None:
        """A stay got another lease after `leases`, the last of which lapses at `lapses_us`."""
        heappush(self._going_on, (lapses_us, min(leases, HORIZON)))

    def ended(self, leases: int) -> None:
        """A stay ended after `leases`."""
        self._ended[min(leases, HORIZON)] += 1
        self._holds = None

    def holds(self, leases: int, now_us: int) -> bool:
        """Whether to hold, from now on, a mote whose stay has had this many leases."""
        while self._going_on and self._going_on[0][0] < now_us:
            self._went_on[heappop(self._going_on)[1]] += 1
            self._holds = None
        if self._holds is None:
            self._holds = self._decide()
        return self._holds[min(leases, HORIZON)]

    def _decide(self) -> list[bool]:
        on, over = self._went_on.total(), self._ended.total()
        pooled = (on + PRIOR_WEIGHT * self._expected) / (on + over + PRIOR_WEIGHT)
        holds = [False] * (HORIZON + 1)
        cost = HOLD_COST
        for leases in range(HORIZON, 0, -1):
            on, over = self._went_on[leases], self._ended[leases]
            share = (on + PRIOR_WEIGHT * pooled) / (on + over + PRIOR_WEIGHT)
            repeating = 1.0 + share * cost
            holds[leases] = repeating > HOLD_COST
            cost = min(HOLD_COST, repeating)
        return holds
