"""Several levels of HEED: the heads of one level elect heads among themselves at a longer range.

The HEED paper's Lemma 8 gives six times the cluster range as the range at which heads surely reach each
other; any ascending ranges may be given here.
"""

from collections.abc import Generator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from clustering.contract import Clusters, ControlMessages, Flags, Heard, Nodes, Reals, Send
from clustering.neighbourhood import neighbourhood_within
from clustering.protocols.heed import election as heed
from clustering.protocols.heed.options import Cost
from sim.trace.tables import SINK


def elect(
    *,
    positions_m: Reals,
    alive: Flags,
    energy_share: Reals,
    ranges_m: Sequence[float],
    cost: Cost,
    c_prob: float,
    p_min: float,
    random: np.random.Generator,
    control: ControlMessages,
    cost_news: Flags | None = None,
) -> Generator[Send, Heard, tuple[Clusters, ...]]:
    """Elect heads, heads of heads, and so on: one level per range, the motes' own level first.

    In each level, nodes that are not heads of the level below count as taking no part. `cost_news` concerns the
    first level; at the upper levels heads exchange their costs every time, since the heads differ every time.
    """
    assert all(near < far for near, far in pairwise(ranges_m)), ranges_m
    levels: list[Clusters] = []
    taking_part = alive
    for range_m in ranges_m:
        level = yield from heed.elect(
            neighbourhood=neighbourhood_within(positions_m, range_m, among=taking_part),
            alive=taking_part,
            energy_share=energy_share,
            cost=cost,
            c_prob=c_prob,
            p_min=p_min,
            random=random,
            control=control,
            cost_news=cost_news if not levels else None,
        )
        levels.append(level)
        taking_part = np.zeros(len(alive), dtype=np.bool_)
        taking_part[level.heads()] = True
    return tuple(levels)


def top_heads(levels: Sequence[Clusters]) -> Nodes:
    """The head of the highest level above each node; -1 for a node that took no part."""
    top = levels[0].head
    for level in levels[1:]:
        top = np.where(top >= 0, level.head[top], -1)
    return top


def in_one(levels: Sequence[Clusters]) -> Clusters:
    """The motes' own clusters, with the way up from each head: the first head above it that is another node."""
    up = np.full(len(levels[0].head), SINK)
    for level in levels[1:]:
        # A node that is below another at one level takes no part in those above.
        is_below = (level.head >= 0) & (level.head != np.arange(len(up)))
        up = np.where(is_below, level.head, up)
    return replace(levels[0], up=up, heads_by_level=tuple(len(level.heads()) for level in levels))
