"""How a clustering protocol speaks: a generator that yields what is sent and is told what was heard.

A protocol core is a plain generator function, so that its paper's phases read from top to bottom. It
knows neither clock nor radio: `clustering.election` runs it over the simulated air, where messages take
time and energy and may be lost; `run_ideal` runs it at once, with perfect hearing.

    heard = yield Broadcast("head", announcers, …)
    heard = yield Unicast("join", members, heads, …)
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Nodes: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Reals: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Who hears whom, in compressed sparse rows: node i's listeners are targets[starts[i]:starts[i+1]].

    Links are symmetric: j in row i means i in row j.
    """

    starts: Nodes
    targets: Nodes
    distances_m: Reals
    """Of each link, in the order of `targets`."""

    @property
    def count(self) -> int:
        """Number of nodes."""
        return len(self.starts) - 1

    def degrees(self) -> Nodes:
        """Number of neighbours of each node."""
        return np.diff(self.starts)

    def sources(self) -> Nodes:
        """The sending node of each link, in the order of `targets`."""
        return np.repeat(np.arange(self.count), self.degrees())


@dataclass(frozen=True, slots=True)
class Broadcast:
    """Some nodes announce something to whoever is in range, all in the same interval."""

    kind: str
    """Message kind in traces, such as "cost" or "head"."""
    nodes: Nodes
    """Who announces; each node once."""
    body_bytes: int
    wait_us: int
    """How long the protocol waits for announcements before it goes on."""


@dataclass(frozen=True, slots=True)
class Unicast:
    """Some nodes each tell one other node something."""

    kind: str
    nodes: Nodes
    targets: Nodes
    body_bytes: int
    wait_us: int


Send: TypeAlias = Broadcast | Unicast


@dataclass(frozen=True, slots=True)
class Heard:
    """Who heard whom in answer to a `Send`: one entry per copy that arrived."""

    sources: Nodes
    targets: Nodes


@dataclass(frozen=True, slots=True)
class Clusters:
    """The outcome of an election."""

    head: Nodes
    """The head of each node; a head is its own; -1 for a node that took no part (dead)."""
    tentative_rounds: Nodes
    """Iterations in which each node announced itself as tentative head."""
    iterations: int

    def heads(self) -> Nodes:
        """The nodes that are heads, ascending."""
        return np.flatnonzero(self.head == np.arange(len(self.head)))


Election: TypeAlias = Generator[Send, Heard, Clusters]


def run_ideal(election: Election, neighbourhood: Neighbourhood, alive: Flags) -> Clusters:
    """Run an election at once, every live listener in range hearing everything."""
    heard = None
    while True:
        try:
            send = election.send(heard) if heard is not None else next(election)
        except StopIteration as finished:
            clusters: Clusters = finished.value
            return clusters
        heard = hear_all(send, neighbourhood, alive)


def hear_all(send: Send, neighbourhood: Neighbourhood, alive: Flags) -> Heard:
    """What perfect hearing makes of one sending."""
    if isinstance(send, Unicast):
        kept = alive[send.targets]
        return Heard(send.nodes[kept], send.targets[kept])
    starts = neighbourhood.starts[send.nodes]
    counts = neighbourhood.starts[send.nodes + 1] - starts
    sources = np.repeat(send.nodes, counts)
    # Positions of each announcer's links, without a loop over announcers.
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    targets = neighbourhood.targets[np.repeat(starts, counts) + offsets]
    kept = alive[targets]
    return Heard(sources[kept], targets[kept])
