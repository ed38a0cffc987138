"""Window forms: which tuples are close enough in time to join.

Paper                                      Here
omega, one window (SNJoin Definition 1)    `Uniform`
omega_i, per stream (SNJoin §2.4)          `PerStream`
tuple-window (SNJoin §2)                   `LastTuples`
WINDOW(A,B), DWINDOW(A,B) (W-join §1, §5)  `Pairs`, of which binary, path, graph and clique are shapes

Every time window is a set of bounds on differences: `t_j - t_i <= D[i, j]` for all ordered pairs of
members. Uniform: `D = omega`. Per stream: `D[i, j] = omega_i`, that is, each member lies within its own
stream's window of the newest one. `WINDOW(A,B) = w`: both directions `w`. `DWINDOW(A,B) = w`:
`0 <= t_B - t_A <= w`, so `D[A, B] = w` and `D[B, A] = 0`. A pair without a window gets the shortest-path
bound (W-join §5.2, Fig. 11), and so does a pair whose window is wider than the path around it: no result is
lost, as that bound is implied. All windows are closed (<=).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from join.contract import Stream

Bounds = tuple[tuple[int, ...], ...]
"""`bounds[i][j]`: how much newer than member i member j may be, in microseconds; i, j index streams."""


class WindowError(ValueError):
    """A window specification that cannot be used."""


@dataclass(frozen=True, slots=True)
class Uniform:
    """One time window for all streams (uniform clique)."""

    window_us: int

    def __post_init__(self) -> None:
        assert self.window_us >= 0, self.window_us

    def reach_us(self, stream: Stream) -> int:
        """How much older than the newest member a member of `stream` may be."""
        del stream
        return self.window_us

    def bounds(self, streams: Sequence[Stream]) -> tuple[Bounds]:
        """The window as bounds on differences."""
        row = (self.window_us,) * len(streams)
        return ((row,) * len(streams),)


@dataclass(frozen=True, slots=True)
class PerStream:
    """A time window per stream: how much older than the newest member a tuple of that stream may be."""

    windows_us: Mapping[Stream, int]
    default_us: int | None = None
    """Window of streams that are not listed; None: all must be listed."""

    def reach_us(self, stream: Stream) -> int:
        """How much older than the newest member a member of `stream` may be."""
        reach_us = self.windows_us.get(stream, self.default_us)
        if reach_us is None:
            raise WindowError(f"stream {stream} has no window")
        return reach_us

    def bounds(self, streams: Sequence[Stream]) -> tuple[Bounds]:
        """The windows as bounds on differences."""
        return (tuple((self.reach_us(stream),) * len(streams) for stream in streams),)


@dataclass(frozen=True, slots=True)
class LastTuples:
    """A tuple window: the last `count` tuples of each stream, in order of arrival.

    Time plays no part: no tuple is late, and any two held tuples of different streams may join.
    """

    count: int
    counts: Mapping[Stream, int] = field(default_factory=dict)
    """Per-stream counts that override `count`."""

    def __post_init__(self) -> None:
        assert self.count >= 1, self.count
        assert all(count >= 1 for count in self.counts.values()), self.counts

    def count_of(self, stream: Stream) -> int:
        """How many tuples of `stream` can be partners at a time."""
        return self.counts.get(stream, self.count)


@dataclass(frozen=True, slots=True)
class PairWindow:
    """`WINDOW(first, second) = window_us`; directed: `DWINDOW`, `second` not before `first`."""

    first: Stream
    second: Stream
    window_us: int
    directed: bool = False


@dataclass(frozen=True, slots=True)
class Pairs:
    """Windows between pairs of streams: a connected graph."""

    windows: tuple[PairWindow, ...]
    two_way: bool = False
    """A path query (W-join §5.2.1): results of the directed windows as given, or of all reversed."""

    def streams(self) -> list[Stream]:
        """The streams in the order in which they are first named."""
        return list(dict.fromkeys(s for w in self.windows for s in (w.first, w.second)))

    def bounds(self, streams: Sequence[Stream]) -> tuple[Bounds, ...]:
        """The windows as bounds on differences, one per direction.

        Raises:
            WindowError: A stream is in no window, or the graph is not connected.
        """
        forward = _closure(_edges(self.windows), streams)
        if not self.two_way:
            return (forward,)
        turned = (PairWindow(w.second, w.first, w.window_us, w.directed) for w in self.windows)
        backward = _closure(_edges(turned), streams)
        return (forward,) if backward == forward else (forward, backward)


TimeWindows = Uniform | PerStream | Pairs
Windows = Uniform | PerStream | Pairs | LastTuples


class Strategy(StrEnum):
    """How to search when windows differ between pairs (W-join §5.1)."""

    PAIRWISE = "pairwise"
    """Search each pair within its own bound; no refinement needed."""
    GCA = "gca"
    """Global conservative approach: search all within the largest window, then refine."""
    LCA = "lca"
    """Local conservative approach: search each stream within its own largest window, then refine."""


def filter_bounds(alternatives: Sequence[Bounds], strategy: Strategy) -> Bounds:
    """Bounds that no result of any alternative violates, as wide as the strategy makes them."""
    size = len(alternatives[0])
    widest = tuple(
        tuple(max(bounds[i][j] for bounds in alternatives) for j in range(size))
        for i in range(size)
    )
    if strategy is Strategy.PAIRWISE:
        return widest
    local = [
        max((row[j] for j in range(size) if j != i), default=0) for i, row in enumerate(widest)
    ]
    if strategy is Strategy.LCA:
        return tuple((reach_us,) * size for reach_us in local)
    return ((max(local, default=0),) * size,) * size


def allows(bounds: Bounds, times: Sequence[int]) -> bool:
    """Whether members at `times`, by stream, are all within each other's windows."""
    return all(
        times[j] - at_us <= row[j]
        for at_us, row in zip(times, bounds, strict=True)
        for j in range(len(times))
    )


def _edges(windows: Iterable[PairWindow]) -> dict[tuple[Stream, Stream], int]:
    edges: dict[tuple[Stream, Stream], int] = {}
    for window in windows:
        assert window.window_us >= 0, window
        back_us = 0 if window.directed else window.window_us
        for pair, bound_us in (
            ((window.first, window.second), window.window_us),
            ((window.second, window.first), back_us),
        ):
            edges[pair] = min(bound_us, edges.get(pair, bound_us))
    return edges


def _closure(edges: Mapping[tuple[Stream, Stream], int], streams: Sequence[Stream]) -> Bounds:
    import networkx as nx  # here, since importing it takes a tenth of all imports of a run

    graph: nx.DiGraph[Stream] = nx.DiGraph()
    graph.add_nodes_from(streams)
    graph.add_weighted_edges_from((a, b, bound_us) for (a, b), bound_us in edges.items())
    for stream in streams:
        if len(streams) > 1 and graph.out_degree(stream) == 0:
            raise WindowError(f"stream {stream} has no window with any other")
    distances = dict(nx.all_pairs_dijkstra_path_length(graph))
    for a in streams:
        for b in streams:
            if b not in distances[a]:
                raise WindowError(f"no windows lead from stream {a} to stream {b}")
    return tuple(tuple(int(distances[a][b]) for b in streams) for a in streams)
