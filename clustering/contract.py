"""The contract of clustering protocols: a generator that yields what to send and receives what was heard.

A protocol core is a plain generator function, so that its paper's phases read from top to bottom. It
uses neither clock nor radio: `clustering.election` runs it over the simulated air, where messages take
time and energy and may be lost; `run_ideal` runs it at once and loses nothing.

    heard = yield Broadcast("head", announcers, …)
    heard = yield Unicast("join", members, heads, …)

The caller may lose any copy of any message, and nodes may fall silent half-way. The core guarantees that every
node that was alive at the start ends as a head, or as a member of a head that heard it join.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from sim.trace.tables import SINK

Nodes: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Reals: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Links in compressed sparse rows: the nodes that hear node i are targets[starts[i]:starts[i+1]].

    Invariants:
        * Links are symmetric: j in row i means i in row j.
        * A row is ascending, holds each listener once and never the node itself.
    """

    starts: Nodes
    targets: Nodes
    distances_m: Reals
    """Length of each link, in the order of `targets`."""
    range_m: float
    """How far an announcement carries: no link is longer."""

    @property
    def count(self) -> int:
        """Number of nodes."""
        return len(self.starts) - 1

    def degrees(self) -> Nodes:
        """Number of neighbours of each node."""
        return np.diff(self.starts)

    def listeners(self, node: int) -> list[int]:
        """The nodes that hear `node`, ascending."""
        listeners: list[int] = self.targets[self.starts[node] : self.starts[node + 1]].tolist()
        return listeners

    def sources(self) -> Nodes:
        """The sending node of each link, in the order of `targets`."""
        return np.repeat(np.arange(self.count), self.degrees())

    def only(self, links: Flags) -> "Neighbourhood":
        """The same nodes with only these links; keep both directions or neither."""
        kept_before = np.concatenate([[0], np.cumsum(links)])
        return Neighbourhood(
            starts=kept_before[self.starts],
            targets=self.targets[links],
            distances_m=self.distances_m[links],
            range_m=self.range_m,
        )

    def links(self, sources: Nodes, targets: Nodes) -> Nodes:
        """The index of each link from source to target, -1 where there is none."""
        # Rows are ascending, so the links are ascending as (source, target) too.
        keys = self.sources() * self.count + self.targets
        wanted = sources * self.count + targets
        found = np.searchsorted(keys, wanted)
        is_link = np.append(keys, -1)[found] == wanted
        return np.where(is_link, found, -1)


@dataclass(frozen=True, slots=True)
class ControlMessages:
    """Size and pace of a protocol's control messages."""

    body_bytes: int
    """Size of every control message, without the radio's header."""
    interval_us: int
    """How long nodes listen when all may announce (t_c in the HEED paper)."""
    slot_us: int
    """How long nodes listen when a few announce in turn, after a random back-off."""
    join_attempts: int
    """How often a node sends its join message to a head before it gives that head up."""


@dataclass(frozen=True, slots=True)
class Broadcast:
    """Some nodes each announce something to all in range, in the same interval."""

    kind: str
    """Message kind in traces, such as "cost" or "head"."""
    nodes: Nodes
    """The nodes that announce, each once; if there are none, the interval passes in silence."""
    within: Neighbourhood
    """The intended receivers, and the range. Others in range may spend energy on the announcement but do
    not count as hearing it."""
    body_bytes: int
    wait_us: int
    """How long the protocol waits for announcements before it continues."""


@dataclass(frozen=True, slots=True)
class Unicast:
    """Some nodes each send a message to one other node; nodes and targets may also be the sink."""

    kind: str
    nodes: Nodes
    targets: Nodes
    body_bytes: int
    wait_us: int


Send: TypeAlias = Broadcast | Unicast


@dataclass(frozen=True, slots=True)
class Heard:
    """The outcome of a `Send`: one entry (source, target) per copy that arrived.

    The sender of a `Unicast` is assumed to know whether it arrived, as if by an acknowledgement.
    """

    sources: Nodes
    targets: Nodes


@dataclass(frozen=True, slots=True)
class Clusters:
    """The outcome of an election."""

    head: Nodes
    """The head of each node; a head is its own; -1 for a node that took no part (dead)."""
    via: Nodes
    """The next hop of each node to its head: the head itself unless the protocol makes wider clusters."""
    self_elected: Flags
    """Self-elected heads: they heard of no head that accepted them."""
    tentative_rounds: Nodes
    """Iterations in which each node announced itself as tentative head."""
    iterations: int
    up: Nodes | None = None
    """Heads of heads: where each head forwards messages for the sink, to a head of a higher level or the sink
    itself; the sink for all other nodes. None without levels."""
    heads_by_level: tuple[int, ...] = ()
    """How many heads were elected at each level; empty without levels."""

    def heads(self) -> Nodes:
        """The nodes that are heads, ascending."""
        return np.flatnonzero(self.head == np.arange(len(self.head)))

    def among(self, alive: Flags) -> "Clusters":
        """The clusters that remain when only `alive` nodes are left.

        Dead nodes belong to no cluster. A member whose path to its head leads through a dead node becomes its
        own head; a head whose head is dead sends to the sink.
        """
        own = np.arange(len(self.head))
        takes_part = alive & (self.head >= 0)
        is_led = takes_part & (self.head == own)
        for _ in own:
            reached = takes_part & is_led[self.via]
            if np.array_equal(reached, is_led):
                break
            is_led = reached
        is_orphan = takes_part & ~is_led
        up = self.up
        if up is not None:
            up = np.where(is_led & (up >= 0) & alive[up], up, SINK)
        return replace(
            self,
            head=np.where(is_orphan, own, np.where(takes_part, self.head, -1)),
            via=np.where(is_orphan, own, np.where(takes_part, self.via, -1)),
            self_elected=takes_part & (self.self_elected | is_orphan),
            up=up,
        )


@dataclass(frozen=True, slots=True)
class History:
    """The facts about earlier elections that protocols use."""

    round: int
    """How many there have been."""
    last_led: Nodes
    """The round in which each node was last elected head; -1 if never, or only self-elected."""
    took_part: Flags
    """The nodes that took part in the previous election; none before the first."""

    @classmethod
    def first(cls, count: int) -> Self:
        """The history before any election among `count` nodes."""
        return cls(0, np.full(count, -1), np.zeros(count, dtype=np.bool_))

    def after(self, clusters: Clusters) -> Self:
        """The history for the round that follows an election."""
        elected = clusters.heads()
        elected = elected[~clusters.self_elected[elected]]
        last_led = self.last_led.copy()
        last_led[elected] = self.round
        return replace(self, round=self.round + 1, last_led=last_led, took_part=clusters.head >= 0)


@dataclass(frozen=True, slots=True)
class Situation:
    """The network at the start of an election."""

    neighbourhood: Neighbourhood
    """Links within cluster range."""
    positions_m: Reals
    """Where the nodes are, a row each."""
    alive: Flags
    """The nodes that take part."""
    energy_share: Reals
    """Each node's residual energy as a share of a full battery."""
    history: History
    heads_guess: int
    """How many heads to aim at by default, for protocols that aim at a number."""
    control: ControlMessages
    """Size and pace of the messages."""


Election: TypeAlias = Generator[Send, Heard, Clusters]
Hearing: TypeAlias = Callable[[Send], Heard]

Outcome = TypeVar("Outcome")


def run_ideal(steps: Generator[Send, Heard, Outcome], alive: Flags) -> Outcome:
    """Run an election, or steps of one, at once; every live node in range hears everything."""
    return run_with(steps, lambda send: hear_all(send, alive))


def run_with(steps: Generator[Send, Heard, Outcome], hear: Hearing) -> Outcome:
    """Run an election, or steps of one, at once; `hear` decides which copies arrive."""
    try:
        send = next(steps)
        while True:
            send = steps.send(hear(send))
    except StopIteration as finished:
        outcome: Outcome = finished.value
        return outcome


def hear_all(send: Send, alive: Flags) -> Heard:
    """The outcome of one `Send` if nothing is lost."""
    if isinstance(send, Unicast):
        kept = (send.targets == SINK) | alive[send.targets]
        return Heard(send.nodes[kept], send.targets[kept])
    starts = send.within.starts[send.nodes]
    counts = send.within.starts[send.nodes + 1] - starts
    sources = np.repeat(send.nodes, counts)
    # Positions of each announcer's links, without a loop over announcers.
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    targets = send.within.targets[np.repeat(starts, counts) + offsets]
    kept = alive[targets]
    return Heard(sources[kept], targets[kept])
