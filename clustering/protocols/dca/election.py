"""DCA: the heaviest of its neighbours leads, and nobody decides before heavier neighbours have.

After Basagni, "Distributed clustering for ad hoc networks", I-SPAN 1999.

Paper           Here
w_v             weight (ties: the lower node number is heavier)
CH(v)           a "head" broadcast
JOIN(v, u)      a "join" broadcast
Cluster(-)      links of `heavier` whose source is not known to have joined another

The paper assumes that no message is lost. Here a node that missed a neighbour's decision stops waiting for it
when nobody sends any more: it joins the heaviest head that it heard of or elects itself.
"""

import numpy as np

from clustering.contract import (
    Broadcast,
    Clusters,
    ControlMessages,
    Election,
    Flags,
    Neighbourhood,
    Nodes,
    Reals,
)
from clustering.protocols.finalize import BestHeard, ranking, settle


def elect(
    *,
    neighbourhood: Neighbourhood,
    alive: Flags,
    weight: Reals,
    random: np.random.Generator,
    control: ControlMessages,
) -> Election:
    """Elect cluster heads.

    Args:
        neighbourhood: Links within cluster range.
        alive: The nodes that take part.
        weight: What makes a node a good head, such as its residual energy.
        random: Draws one order of back-offs, used only after loss.
        control: Size and pace of the messages.
    """
    rank = ranking(-weight)
    count = neighbourhood.count
    head = np.full(count, -1)
    heads = BestHeard(rank)

    # Init: every node learns the weights of its neighbours.
    heard = yield Broadcast(
        "weight", np.flatnonzero(alive), neighbourhood, control.body_bytes, control.interval_us
    )
    heavier = rank[heard.sources] < rank[heard.targets]
    # The heavier neighbours that a node still waits for, one entry each.
    sources, targets = heard.sources[heavier], heard.targets[heavier]
    undecided = alive.copy()
    iterations = 0
    while True:
        # A node decides on the heaviest neighbour that has not joined another: follow it if it is a
        # head, lead if there is none, wait if it has not announced its decision.
        hopes = BestHeard(rank)
        hopes.note(sources, targets)
        joining = undecided & (heads.ranks() < rank) & (heads.ranks() <= hopes.ranks())
        leading = undecided & hopes.missing() & ~joining
        if not (leading | joining).any():
            break
        iterations += 1
        undecided &= ~(leading | joining)
        if leading.any():
            leaders = np.flatnonzero(leading)
            head[leaders] = leaders
            heard = yield Broadcast(
                "head", leaders, neighbourhood, control.body_bytes, control.interval_us
            )
            heads.note(heard.sources, heard.targets)
        gone = np.zeros(len(sources), dtype=np.bool_)
        if joining.any():
            choice = heads.nodes()
            heard = yield Broadcast(
                "join",
                np.flatnonzero(joining),
                neighbourhood,
                control.body_bytes,
                control.interval_us,
            )
            by_head = heard.targets == choice[heard.sources]
            members = heard.sources[by_head]
            head[members] = choice[members]
            # Only entries of nodes that joined just now can have gone: far fewer than all.
            recent = np.flatnonzero(joining[sources])
            gone[recent] = _is_among(
                sources[recent] * count + targets[recent],
                heard.sources * count + heard.targets,
            )
        kept = undecided[targets] & ~gone
        sources, targets = sources[kept], targets[kept]

    # Nodes that missed a decision, and members whose head missed theirs.
    head, settled_alone = yield from settle(
        head, heads, alive=alive, neighbourhood=neighbourhood, random=random, control=control
    )
    return Clusters(
        head=head,
        via=head,
        self_elected=settled_alone,
        tentative_rounds=np.zeros(count, dtype=np.int64),
        iterations=iterations,
    )


def _is_among(wanted: Nodes, keys: Nodes) -> Flags:
    """Whether each of `wanted` is one of `keys`: np.isin, several times as fast on keys nearly in order."""
    ordered = np.append(np.sort(keys, kind="stable"), -1)
    is_among: Flags = ordered[np.searchsorted(ordered[:-1], wanted)] == wanted
    return is_among
