"""Max-min d-cluster: every node within d hops of its head.

After Amis, Prakash, Vuong & Huynh, "Max-min d-cluster formation in wireless ad hoc networks", INFOCOM 2000.

Paper           Here
d               hops_max
node id         weight (ties: the higher node number is larger); the node numbers, in the paper
WINNER          winner, a place in the order of weights
Floodmax        the first d rounds
Floodmin        the second d rounds
node pair       a node that won in a round of either flood

The paper ends with a convergecast from the gateways to the heads. Here the heads' announcements are forwarded
outwards for d rounds, and each member joins the neighbour from which it heard of its head. This builds the
same trees and gives every node its next hop (`Clusters.via`). A node that no announcement of its chosen
head reaches, because of loss or because other clusters lie between, follows another head that it heard of
or else elects itself.
"""

from collections.abc import Generator

import numpy as np

from clustering.contract import (
    Broadcast,
    Clusters,
    ControlMessages,
    Election,
    Flags,
    Heard,
    Neighbourhood,
    Nodes,
    Reals,
    Send,
)
from clustering.protocols.finalize import BestHeard, elect_uncovered, join_heads


def elect(
    *,
    neighbourhood: Neighbourhood,
    alive: Flags,
    weight: Reals,
    hops_max: int,
    random: np.random.Generator,
    control: ControlMessages,
) -> Election:
    """Elect cluster heads with members up to `hops_max` hops away.

    Args:
        neighbourhood: Links within radio range.
        alive: The nodes that take part.
        weight: What makes a node a good head.
        hops_max: How far a member may be from its head (d).
        random: Draws one order of back-offs, used by nodes that no head's announcement reached.
        control: Size and pace of the messages.
    """
    assert hops_max >= 1, hops_max
    count = neighbourhood.count
    own = np.arange(count)
    by_place = np.argsort(weight, kind="stable")
    winners = yield from _flood(
        np.argsort(by_place),
        alive=alive,
        hops_max=hops_max,
        neighbourhood=neighbourhood,
        control=control,
    )
    chosen = by_place[winners]
    head, via, hops = yield from _spread(
        np.where(alive, chosen, -1),
        alive=alive,
        hops_max=hops_max,
        neighbourhood=neighbourhood,
        control=control,
    )
    # A node that no announcement reached elects itself or follows one that does, at one hop.
    latecomers = BestHeard(own)
    elected = yield from elect_uncovered(
        latecomers,
        uncovered=alive & (head == -1),
        neighbourhood=neighbourhood,
        random=random,
        control=control,
    )
    late = alive & (head == -1)
    via = np.where(late, np.where(elected, own, latecomers.nodes()), via)
    head = np.where(late, via, head)
    hops[late & ~elected] = 1

    # Join from the heads outwards: a node whose next hop elected itself follows that one.
    self_elected = elected
    for depth in range(1, hops_max + 1):
        members = np.flatnonzero(alive & (hops == depth))
        unheard = yield from join_heads(via, members=members, control=control)
        head[members] = head[via[members]]
        if unheard.any():
            yield Broadcast(
                "head",
                np.flatnonzero(unheard),
                neighbourhood,
                control.body_bytes,
                control.interval_us,
            )
        head[unheard] = via[unheard] = own[unheard]
        self_elected = self_elected | unheard
    return Clusters(
        head=head,
        via=via,
        self_elected=self_elected,
        tentative_rounds=np.zeros(count, dtype=np.int64),
        iterations=2 * hops_max,
    )


def _flood(
    place: Nodes,
    *,
    alive: Flags,
    hops_max: int,
    neighbourhood: Neighbourhood,
    control: ControlMessages,
) -> Generator[Send, Heard, Nodes]:
    """Flood the largest, then the smallest places, and return the place that each node chooses."""
    winner = place
    logs: list[list[Nodes]] = []
    for prefer in (np.maximum, np.minimum):
        log: list[Nodes] = []
        for _ in range(hops_max):
            heard = yield Broadcast(
                "winner",
                np.flatnonzero(alive),
                neighbourhood,
                control.body_bytes,
                control.interval_us,
            )
            received = winner[heard.sources]
            winner = winner.copy()
            prefer.at(winner, heard.targets, received)
            log.append(winner)
        logs.append(log)
    largest, smallest = logs
    # Rule 1: a node that sees its own place come back in Floodmin leads.
    leads = np.any([seen == place for seen in smallest], axis=0)
    # Rule 2: else the smallest node pair. Rule 3: else the largest of Floodmax.
    nobody = len(place)
    pair = np.full(len(place), nobody)
    for seen in smallest:
        is_pair = np.any([seen == earlier for earlier in largest], axis=0)
        pair = np.where(is_pair, np.minimum(pair, seen), pair)
    return np.where(leads, place, np.where(pair < nobody, pair, largest[-1]))


def _spread(
    chosen: Nodes,
    *,
    alive: Flags,
    hops_max: int,
    neighbourhood: Neighbourhood,
    control: ControlMessages,
) -> Generator[Send, Heard, tuple[Nodes, Nodes, Nodes]]:
    """Forward the heads' announcements outwards; returns each node's head (-1 if none came), next hop and hops."""
    own = np.arange(neighbourhood.count)
    head = np.where(chosen == own, own, -1)
    via = head.copy()
    hops = np.zeros(neighbourhood.count, dtype=np.int64)
    second_choice = np.full(neighbourhood.count, -1)
    for depth in range(1, hops_max + 1):
        relays = np.flatnonzero((head >= 0) & (hops == depth - 1))
        heard = yield Broadcast(
            "head", relays, neighbourhood, control.body_bytes, control.interval_us
        )
        # A mote that was down when the election began may hear of heads by now; it takes part in the next one.
        is_first = alive[heard.targets] & (head[heard.targets] == -1)
        sources, targets = heard.sources[is_first], heard.targets[is_first]
        is_chosen = head[sources] == chosen[targets]
        offers = BestHeard(own)
        offers.note(sources[is_chosen], targets[is_chosen])
        reached = np.flatnonzero(~offers.missing())
        via[reached] = offers.nodes()[reached]
        head[reached] = chosen[reached]
        hops[reached] = depth
        others = BestHeard(own)
        others.note(sources, targets)
        second_choice = np.where(
            (second_choice == -1) & ~others.missing(), others.nodes(), second_choice
        )
    fallback = np.flatnonzero((head == -1) & (second_choice >= 0))
    via[fallback] = second_choice[fallback]
    hops[fallback] = hops[via[fallback]] + 1
    head[fallback] = head[via[fallback]]
    return head, via, hops
