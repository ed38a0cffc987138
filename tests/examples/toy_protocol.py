"""A clustering protocol in one file: one mote of so many leads, and all take turns."""

from dataclasses import dataclass

import numpy as np

from clustering.contract import Clusters, Election, Situation
from clustering.protocols.finalize import join_nearest
from clustering.protocols.options import ClusteringProtocol, Limits, ProtocolOptions, option
from clustering.protocols.registry import register


@dataclass(frozen=True, slots=True)
class Options(ProtocolOptions):
    """Keys of `[clustering]`, and options of `motejoin cluster`."""

    one_in: int = option(10, "one mote of so many leads", Limits(least=2))


def elect(options: Options, now: Situation, random: np.random.Generator) -> Election:
    """Heads announce themselves; the others join the nearest head that they hear."""
    del random  # numbers decide
    numbers = np.arange(len(now.alive))
    is_head = now.alive & (numbers % options.one_in == now.history.round % options.one_in)
    head, left_alone = yield from join_nearest(
        is_head,
        alive=now.alive,
        positions_m=now.positions_m,
        neighbourhood=now.neighbourhood,
        control=now.control,
    )
    return Clusters(
        head=head,
        via=head,
        self_elected=left_alone,
        tentative_rounds=np.zeros_like(head),
        iterations=1,
    )


register(ClusteringProtocol("toy", "one mote of so many leads, in turn", Options, elect))
