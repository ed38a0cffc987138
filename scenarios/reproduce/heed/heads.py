"""HEED's clustering study: share of heads against the cluster range."""

from typing import TYPE_CHECKING, Final

import numpy as np

from clustering.contract import Clusters, run_ideal
from clustering.neighbourhood import neighbourhood_within
from clustering.protocols.heed import election as heed
from clustering.protocols.heed.options import Cost
from network.topology import place_uniform
from scenarios.reproduce.drawing import curves, label_axes, panels
from scenarios.reproduce.figure import Figure, Finding, Point, Row, Size
from scenarios.reproduce.heed.lifetime_model import C_PROB, P_MIN
from scenarios.reproduce.table import Table
from scenarios.wiring.control_pace import CONTROL
from sim.rng import RandomStreams

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

# The clustering study: 1,000 nodes in 2,000 m x 2,000 m.
MOTES: Final = 1000
SIDE_M: Final = 2000.0
SEEDS: Final = {Size.FULL: 15, Size.QUICK: 3}
ITERATIONS_MAX: Final = 12
"""Lemma 1 at p_min 0.0005."""
SEPARATE: Final = {
    25.0: 0.807,
    50.0: 0.506,
    100.0: 0.208,
    150.0: 0.108,
    200.0: 0.064,
    300.0: 0.032,
    400.0: 0.020,
}
"""Share of heads by range, from a separate implementation, 15 runs, AMRP as squared distance."""
CLOSE: Final = 0.1


def _points(size: Size) -> list[Point]:
    return [
        {"range_m": range_m, "seed": seed}
        for range_m in SEPARATE
        for seed in range(1, SEEDS[size] + 1)
    ]


def measure(point: Point) -> list[Row]:
    """One election."""
    clusters = _elect(point["range_m"], point["seed"])
    return [
        {
            "heads": len(clusters.heads()) / MOTES,
            "iterations": int(clusters.iterations),
            "whose": "ours",
        }
    ]


def _elect(range_m: float, seed: int) -> Clusters:
    streams = RandomStreams(seed)
    positions_m = place_uniform(
        streams.vector("placement"), count=MOTES, width_m=SIDE_M, height_m=SIDE_M
    )
    alive = np.ones(MOTES, dtype=np.bool_)
    election = heed.elect(
        neighbourhood=neighbourhood_within(positions_m, range_m),
        alive=alive,
        energy_share=np.ones(MOTES),
        cost=Cost.AMRP,
        c_prob=C_PROB,
        p_min=P_MIN,
        random=streams.vector("election"),
        control=CONTROL,
    )
    return run_ideal(election, alive)


def _draw(table: Table) -> "Canvas":
    canvas, (axes,) = panels(1)
    curves(axes, table, "range_m", "heads", "whose", {"ours": "ours"})
    axes.plot(
        list(SEPARATE),
        list(SEPARATE.values()),
        "k+",
        markersize=12,
        label="separate implementation",
    )
    label_axes(axes, "cluster range (m)", "share of heads")
    return canvas


def _fall(table: Table) -> Finding:
    shares = table.curve("range_m", "heads")[1]
    holds = shares == sorted(shares, reverse=True)
    return Finding(holds, f"{shares[0]:.1%} at 25 m to {shares[-1]:.1%} at 400 m")


def _separate(table: Table) -> Finding:
    far = {
        range_m: table.mean("heads", range_m=range_m) / other - 1
        for range_m, other in SEPARATE.items()
    }
    wrong = {range_m: apart for range_m, apart in far.items() if abs(apart) > CLOSE}
    ours = ", ".join(f"{apart:+.1%} at {range_m:g} m" for range_m, apart in far.items())
    why = f"Too far at {', '.join(f'{r:g} m' for r in wrong)}; few seeds." if wrong else ""
    return Finding(not wrong, ours, why)


def _flat(table: Table) -> Finding:
    counts = sorted(set(table.column("iterations")))
    return Finding(len(counts) == 1, f"{', '.join(map(str, counts))} iterations at all ranges")


def _bound(table: Table) -> Finding:
    most = max(table.column("iterations"))
    return Finding(most <= ITERATIONS_MAX, f"{most} iterations at most")


FIGURE = Figure(
    "heed-heads",
    "HEED, clustering study",
    "share of heads against the cluster range",
    _points,
    measure,
    _draw,
    {
        "heed-heads-fall": _fall,
        "heed-heads-separate": _separate,
        "heed-iterations-flat": _flat,
        "heed-iterations-bound": _bound,
    },
    ("The paper has plots without numbers; ours are compared with a separate implementation.",),
)
