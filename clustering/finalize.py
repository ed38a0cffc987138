"""How elections end: uncovered nodes elect themselves, members join, whatever was lost on the way.

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
        by_rank = np.argsort(self._rank)
        own = np.arange(self._nobody)
        return np.where(self.missing(), own, np.append(by_rank, -1)[self._best])


def ranking(cost: Reals) -> Nodes:
    """Each node's place when ordered by ascending cost, ties by node number."""
    rank = np.empty(len(cost), dtype=np.int64)
    rank[np.argsort(cost, kind="stable")] = np.arange(len(cost))
    return rank


def elect_uncovered(
    heads: BestHeard,
    *,
    uncovered: Flags,
    neighbourhood: Neighbourhood,
    random: np.random.Generator,
    control: ControlMessages,
) -> Generator[Send, Heard, Flags]:
    """Let uncovered nodes announce themselves as heads one after another, and return which did.

    Each waits a random back-off and stays silent if it hears a head meanwhile. Nodes out of each other's
    hearing share a slot: who speaks is the same as if all had spoken in turn.
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
    """Let `members` tell the heads of their `choice` that they join, and return who was never heard."""
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
