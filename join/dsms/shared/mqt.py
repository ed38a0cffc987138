"""Maximum Query Throughput: serve the tuple that serves most queries per unit of window (Shared §3.3).

Shared                     Here
C_i                        served[i]: queries with a window up to the i-th
pw_ik = w_k - w_i          distance between two edges; w_0 = 0
MaxQT(PW(w_i, w_j))        _rank[i][j], as a rank: only the order matters

The steps are those of SWF (§3.3): at each window's edge a tuple goes back to the queues and the choice is repeated. It is
the same choice if nothing has arrived meanwhile, since the rest of the way to the k that attains the maximum has a rate at least
as good as the whole; a tuple that arrives meanwhile may be served in between.

Where rates are equal, smaller windows come first: by §5.1, under evenly spaced windows MQT serves new tuples
in the order of SWF.
"""

from collections.abc import Sequence
from fractions import Fraction

from join.dsms.shared.schedule import Queues, Schedule


def max_query_throughput(windows_us: Sequence[int], queries: Sequence[int]) -> list[list[Fraction]]:
    """MaxQT(PW(w_i, w_j)) for 0 <= i < j <= N; 0 elsewhere."""
    edges = [0, *windows_us]
    served = [sum(queries[:i]) for i in range(len(edges))]
    matrix = []
    for i in range(len(edges)):
        row = [Fraction(0)] * (i + 1)
        for k in range(i + 1, len(edges)):
            # A window of zero still takes time: avoid division by zero.
            rate = Fraction(served[k] - served[i], max(edges[k] - edges[i], 1))
            row.append(max(rate, row[-1]))
        matrix.append(row)
    return matrix


class MaximumQueryThroughput(Schedule):
    """The queue whose head has the largest MaxQT, given the progress of the tuples before it."""

    early = True

    def __init__(self) -> None:
        self._rank: list[list[int]] = []

    def configure(self, windows_us: Sequence[int], queries: Sequence[int]) -> None:
        """Recompute the matrix (§3.3: it changes only when a query is added or removed)."""
        matrix = max_query_throughput(windows_us, queries)
        ranks = {rate: rank for rank, rate in enumerate(sorted({r for row in matrix for r in row}))}
        self._rank = [[ranks[rate] for rate in row] for row in matrix]

    def choose(self, queues: Queues) -> tuple[int, int]:
        """The best of all queues, from the largest window down (§3.3); on a tie the smaller window."""
        limit = len(queues)
        best_rank = -1
        chosen = 0
        for place in range(len(queues) - 1, -1, -1):
            if not queues[place]:
                continue
            rank = self._rank[place][limit]
            if rank >= best_rank:
                best_rank, chosen = rank, place
            limit = place
        return chosen, 1
