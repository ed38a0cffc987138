"""Maximum Query Throughput: serve the tuple that serves most queries per unit of window (Shared §3.3).

Shared                     Here
C_i                        _served[i]: queries with a window up to the i-th
pw_ik = w_k - w_i          distance between two edges; w_0 = 0
MaxQT(PW(w_i, w_j))        _best[i][j], as a rank: only the order matters
the k that attains it      _reach[i][j]

A tuple goes on to the k that attains the maximum. Deciding anew at each window on the way would decide the same
among the tuples that wait: if the way to k has the best rate of all, the rest of the way has a better one than its
beginning. Only a tuple that comes meanwhile could get in between; in the experiments of §5 that changes the average by
less than 1 %.

Where rates are equal, smaller windows come first: §5.1 says that under evenly spaced windows MQT serves new tuples
in the order of SWF.
"""

from collections.abc import Sequence
from fractions import Fraction

from join.dsms.schedule import Queues, Schedule


def max_query_throughput(
    windows_us: Sequence[int], queries: Sequence[int]
) -> list[list[tuple[Fraction, int]]]:
    """MaxQT(PW(w_i, w_j)) and the smallest k that attains it, for 0 <= i < j <= N; (0, 0) elsewhere."""
    edges = [0, *windows_us]
    served = [sum(queries[:i]) for i in range(len(edges))]
    matrix = []
    for i in range(len(edges)):
        row = [(Fraction(0), 0)] * (i + 1)
        best = (Fraction(-1), 0)
        for k in range(i + 1, len(edges)):
            # A window of zero still takes a moment.
            rate = Fraction(served[k] - served[i], max(edges[k] - edges[i], 1))
            if rate > best[0]:
                best = (rate, k)
            row.append(best)
        matrix.append(row)
    return matrix


class MaximumQueryThroughput(Schedule):
    """The queue whose head has the largest MaxQT, given what the tuples before it have done."""

    early = True

    def __init__(self) -> None:
        self._rank: list[list[int]] = []
        self._reach: list[list[int]] = []

    def configure(self, windows_us: Sequence[int], queries: Sequence[int]) -> None:
        """Compute the matrix anew (§3.3: it changes only when a query comes or goes)."""
        matrix = max_query_throughput(windows_us, queries)
        rates = sorted({rate for row in matrix for rate, _ in row})
        ranks = {rate: rank for rank, rate in enumerate(rates)}
        self._rank = [[ranks[rate] for rate, _ in row] for row in matrix]
        self._reach = [[k for _, k in row] for row in matrix]

    def choose(self, queues: Queues) -> tuple[int, int]:
        """The best of all queues, from the largest window down (§3.3); on a tie the smaller window."""
        limit = len(queues)
        best_rank = -1
        chosen = reach = 0
        for place in range(len(queues) - 1, -1, -1):
            if not queues[place]:
                continue
            rank = self._rank[place][limit]
            if rank >= best_rank:
                best_rank, chosen, reach = rank, place, self._reach[place][limit] - place
            limit = place
        return chosen, reach
