"""The end of an election: uncovered nodes elect themselves and members join, even if messages were lost.

Protocols share these steps, so that the promise of `clustering.contract` is kept in one place.
"""

from collections.abc import Generator

import numpy as np

from clustering.contract import (
    Broadcast,
    ControlMessages,
    Flags,
    Heard,
    Neighbourhood,
    Nodes,
    Reals,
    Send,
    Unicast,
)


class BestHeard:
    """The best head that each node has heard of, by a ranking on which all nodes agree."""

    def __init__(self, rank: Nodes) -> None:
        self._rank = rank
        self._nobody = len(rank)
        self._best: Nodes = np.full(len(rank), self._nobody)

    def note(self, sources: Nodes, targets: Nodes) -> None:
        """Each of `targets` heard the head beside it in `sources`."""
        np.minimum.at(self._best, targets, self._rank[sources])

    def ranks(self) -> Nodes:
        """The rank of each node's best head, beyond all ranks if it heard of none."""
        return self._best

    def missing(self) -> Flags:
        """The nodes that have heard of no head."""
        missing: Flags = self._best == self._nobody
        return missing

    def nodes(self) -> Nodes:
        """Each node's best head, itself if it heard of none."""
        own = np.arange(self._nobody)
        by_rank = np.empty(self._nobody + 1, dtype=np.int64)
        by_rank[self._rank] = own
        return np.where(self.missing(), own, by_rank[self._best])


def ranking(cost: Reals) -> Nodes:
    """Each node's place when ordered by ascending cost, ties by node number."""
    rank = np.empty(len(cost), dtype=np.int64)
    rank[np.argsort(cost, kind="stable")] = np.arange(len(cost))
    return rank


def settle(
    head: Nodes,
    heads: BestHeard,
    *,
    alive: Flags,
    neighbourhood: Neighbourhood,
    random: np.random.Generator,
    control: ControlMessages,
) -> Generator[Send, Heard, tuple[Nodes, Flags]]:
    """Settle every live node that has no head yet.

    Args:
        head: Each node's head as far as it stands, -1 where it does not.
        heads: The heads that each node has heard of.
        alive: The nodes that take part.
        neighbourhood: Links within cluster range.
        random: Draws one order of back-offs.
        control: Size and pace of the messages.

    Returns:
        Each live node's head, and which nodes elected themselves here.
    """
    own = np.arange(neighbourhood.count)
    elected = yield from elect_uncovered(
        heads,
        uncovered=alive & (head == -1),
        neighbourhood=neighbourhood,
        random=random,
        control=control,
    )
    members = np.flatnonzero(alive & (head == -1) & ~elected)
    head = np.where(alive & (head == -1), np.where(elected, own, heads.nodes()), head)
    unheard = yield from join_heads(head, members=members, control=control)
    if unheard.any():
        yield Broadcast(
            "head", np.flatnonzero(unheard), neighbourhood, control.body_bytes, control.interval_us
        )
    return np.where(unheard, own, head), elected | unheard


def join_nearest(
    is_head: Flags,
    *,
    alive: Flags,
    positions_m: Reals,
    neighbourhood: Neighbourhood,
    control: ControlMessages,
) -> Generator[Send, Heard, tuple[Nodes, Flags]]:
    """Heads advertise themselves, and every other live node joins the nearest that it hears.

    Distance stands in for signal strength. A node that hears no head, or that no head hears, becomes its own head
    without members.

    Returns:
        Each live node's head, and which nodes became their own heads.
    """
    heard = yield Broadcast(
        "head", np.flatnonzero(is_head), neighbourhood, control.body_bytes, control.interval_us
    )
    own = np.arange(neighbourhood.count)
    steps_m = positions_m[heard.sources] - positions_m[heard.targets]
    # By listener, then nearest first; the first of each listener's entries is its choice.
    order = np.lexsort((heard.sources, (steps_m**2).sum(axis=1), heard.targets))
    listeners, first = np.unique(heard.targets[order], return_index=True)
    choice = own.copy()
    choice[listeners] = heard.sources[order][first]
    choice[is_head] = own[is_head]
    members = np.flatnonzero(alive & (choice != own))
    unheard = yield from join_heads(choice, members=members, control=control)
    head = np.where(alive, np.where(unheard, own, choice), -1)
    return head, alive & ~is_head & (head == own)


def elect_uncovered(
    heads: BestHeard,
    *,
    uncovered: Flags,
    neighbourhood: Neighbourhood,
    random: np.random.Generator,
    control: ControlMessages,
) -> Generator[Send, Heard, Flags]:
    """Uncovered nodes announce themselves as heads one after another; returns which did.

    Each waits a random back-off and stays silent if it hears a head meanwhile. Nodes out of each other's
    hearing share a slot: the same nodes announce as if all had taken turns.
    """
    turn = random.permutation(neighbourhood.count)
    elected = np.zeros(neighbourhood.count, dtype=np.bool_)
    waiting = uncovered & heads.missing()
    sources, targets = neighbourhood.sources(), neighbourhood.targets
    while waiting.any():
        rivals = waiting[sources] & waiting[targets]
        sources, targets = sources[rivals], targets[rivals]
        speaking = waiting.copy()
        speaking[targets[turn[sources] < turn[targets]]] = False
        speakers = np.flatnonzero(speaking)
        heard = yield Broadcast(
            "head", speakers, neighbourhood, control.body_bytes, control.slot_us
        )
        elected |= speaking
        heads.note(speakers, speakers)
        heads.note(heard.sources, heard.targets)
        waiting &= heads.missing()
    return elected


def join_heads(
    choice: Nodes, *, members: Nodes, control: ControlMessages
) -> Generator[Send, Heard, Flags]:
    """Send a join message from each of `members` to the head of its `choice`; returns those never heard."""
    unheard = np.zeros(len(choice), dtype=np.bool_)
    unheard[members] = True
    for _ in range(control.join_attempts):
        if not unheard.any():
            break
        callers = np.flatnonzero(unheard)
        heard = yield Unicast(
            "join", callers, choice[callers], control.body_bytes, control.interval_us
        )
        unheard[heard.sources] = False
    return unheard
