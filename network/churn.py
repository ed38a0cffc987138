"""Churn: motes that crash and recover, are added or removed, and outages of the sink.

A mote that is down neither senses, sends, receives nor draws energy, and what it held in memory is lost. A mote
that has not been added yet counts as down; one that is removed stays down.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from network.contract import NodeId
from network.ledger import Ledger
from network.listening import Listening
from sim.kernel import Kernel
from sim.rng import RandomStreams
from sim.trace.recorder import Rows
from sim.trace.rows import fault_row
from sim.trace.tables import SINK, Event


@dataclass(frozen=True, slots=True)
class Change:
    """A crash, recovery, arrival, departure or sink outage, at a given time."""

    at_us: int
    node: NodeId
    event: Event


def crashes(
    streams: RandomStreams, count: int, *, mean_up_us: float, mean_down_us: float, end_us: int
) -> list[Change]:
    """Crashes and recoveries of each mote, with exponential times up and down; no recovery if down is 0."""
    changes = []
    for node in range(count):
        rng = streams.scalar("faults.crash", node)
        at_us = round(rng.expovariate(1 / mean_up_us))
        while at_us < end_us:
            changes.append(Change(at_us, node, Event.CRASH))
            if not mean_down_us:
                break
            at_us += 1 + round(rng.expovariate(1 / mean_down_us))
            changes.append(Change(at_us, node, Event.RECOVERY))
            at_us += 1 + round(rng.expovariate(1 / mean_up_us))
    return changes


def arrivals(
    streams: RandomStreams, nodes: Sequence[NodeId], *, from_us: int, until_us: int
) -> list[Change]:
    """Additions of `nodes`, each at a uniform time."""
    rng = streams.scalar("faults.added")
    return [Change(rng.randrange(from_us, until_us), node, Event.ADDED) for node in nodes]


def departures(
    streams: RandomStreams, count: int, *, removed: int, from_us: int, until_us: int
) -> list[Change]:
    """Removals of `removed` motes chosen at random, at uniform times."""
    rng = streams.scalar("faults.removed")
    nodes = sorted(rng.sample(range(count), removed))
    return [Change(rng.randrange(from_us, until_us), node, Event.REMOVED) for node in nodes]


def _order(change: Change) -> tuple[int, NodeId, bool, Event]:
    """By time, then node; an outage of the sink ends before the next one begins at the same time."""
    return change.at_us, change.node, change.event is Event.SINK_DOWN, change.event


class Churn:
    """Applies changes in time order."""

    def __init__(
        self,
        kernel: Kernel,
        ledger: Ledger,
        listening: Listening | None,
        rows: Rows,
        changes: Sequence[Change],
        *,
        on_down: Sequence[Callable[[NodeId], None]] = (),
        on_up: Sequence[Callable[[NodeId], None]] = (),
    ) -> None:
        self._kernel = kernel
        self._ledger = ledger
        self._listening = listening
        self._rows = rows
        self._on_down = on_down
        self._on_up = on_up
        self._changes = sorted(changes, key=_order)
        self.gone: set[NodeId] = {c.node for c in changes if c.event is Event.ADDED}
        """Motes that are not in the field: not added yet, or removed. Crashed motes are in the field."""
        self._down: set[NodeId] = set()
        self.happened: list[tuple[int, NodeId, bool]] = []
        """(time, mote, whether it came up or went down), without deaths."""

    @property
    def absent(self) -> list[NodeId]:
        """The motes that are not in the field at the start."""
        return sorted({c.node for c in self._changes if c.event is Event.ADDED})

    def start(self) -> None:
        """Take down the motes that are added later, and schedule all changes."""
        for node in self.absent:
            self._ledger.set_down(node)
        for change in self._changes:
            self._kernel.call_at(change.at_us, self._apply, change)

    def _apply(self, change: Change) -> None:
        node = change.node
        if self._listening is not None and node != SINK:
            self._listening.settle_one(node)  # it may die of what it owes
        match change.event:
            case Event.CRASH:
                if not self._ledger.alive[node]:
                    return
                self._down.add(node)
                self._take_down(node)
            case Event.RECOVERY:
                if node not in self._down or node in self.gone:
                    return
                self._bring_up(node)
            case Event.ADDED:
                self._bring_up(node)
            case Event.REMOVED:
                if node in self.gone or not self._ledger.residual_j[node]:
                    return
                self.gone.add(node)
                if self._ledger.alive[node]:
                    self._take_down(node)
            case Event.SINK_DOWN | Event.SINK_UP:
                pass
        self._rows.append(fault_row(at_us=change.at_us, node=node, event=change.event))

    def _take_down(self, node: NodeId) -> None:
        self.happened.append((self._kernel.now_us, node, False))
        self._ledger.set_down(node)
        for listener in self._on_down:
            listener(node)

    def _bring_up(self, node: NodeId) -> None:
        self.gone.discard(node)
        self._down.discard(node)
        self.happened.append((self._kernel.now_us, node, True))
        self._ledger.set_up(node)
        if self._listening is not None:
            self._listening.on_up(node)
        for listener in self._on_up:
            listener(node)
