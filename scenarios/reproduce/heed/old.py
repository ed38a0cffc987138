"""HEED's clusters on its paper's field, and HEED against LEACH in its application study, compared with others' results."""

import csv
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Final

import numpy as np
from matplotlib.figure import Figure as Canvas

from analysis.compare.intervals import estimate
from clustering.contract import Clusters, run_ideal
from clustering.neighbourhood import neighbourhood_within
from clustering.protocols.heed import election as heed
from clustering.protocols.heed.options import Cost
from network.topology import place_uniform
from scenarios.reproduce.figure import Figure, Request, Verdict
from scenarios.reproduce.heed_lifetime_model import C_PROB, P_MIN, Contender, Life, Setting, live
from scenarios.wiring.control_pace import CONTROL
from sim.rng import RandomStreams

MOTES: Final = (300, 500, 700)
MOTES_QUICK: Final = (300, 500)
SEEDS, SEEDS_QUICK = 3, 2

# The clustering study of Younis & Fahmy 2004: 1,000 nodes in 2,000 m x 2,000 m.
FIELD_MOTES: Final = 1000
FIELD_SIDE_M: Final = 2000.0
SEEDS_HEADS, SEEDS_HEADS_QUICK = 15, 3
OTHERS_HEADS: Final = {
    25.0: 0.807,
    50.0: 0.506,
    100.0: 0.208,
    150.0: 0.108,
    200.0: 0.064,
    300.0: 0.032,
    400.0: 0.020,
}
"""Share of heads by range, from a separate implementation, 15 runs, AMRP as squared distance."""

LABELS: Final = {
    Contender.HEED: "HEED, costs sent when changed",
    Contender.HEED_CHATTY: "HEED, costs sent every round",
    Contender.LEACH: "LEACH, all motes in turn",
    Contender.GEN_LEACH_SINK: "gen-LEACH, total sent by the sink",
    Contender.GEN_LEACH: "gen-LEACH, energies sent by all",
    Contender.DIRECT: "no clusters",
}
STYLES: Final = {
    Contender.HEED: ("#2166ac", "o-"),
    Contender.HEED_CHATTY: ("#67a9cf", "o--"),
    Contender.LEACH: ("#b2182b", "s-"),
    Contender.GEN_LEACH_SINK: ("#e08214", "^-"),
    Contender.GEN_LEACH: ("#fdb863", "^--"),
    Contender.DIRECT: ("#7f7f7f", "x-"),
}
PANELS: Final[dict[str, Callable[[Life], float]]] = {
    "first": lambda life: life.first_dead,
    "half": lambda life: life.half_dead,
    "last": lambda life: life.last_dead,
}
FACTS: Final[dict[str, Callable[[Life], float]]] = {
    "heads": lambda life: life.heads,
    "control_mj_per_mote_round": lambda life: 1e3 * life.control_j,
    "data_mj_per_mote_round": lambda life: 1e3 * life.data_j,
    "first_led": lambda life: life.first_led,
    "first_to_sink_m": lambda life: life.first_to_sink_m,
}
"""What explains the lifetimes, as columns of the table."""

Lives = dict[tuple[Contender, int], list[Life]]


def figure_lifetime(request: Request) -> list[Verdict]:
    """Rounds until the first, half and the last mote are dead, against the number of motes."""
    motes = MOTES_QUICK if request.quick else MOTES
    seeds = SEEDS_QUICK if request.quick else SEEDS
    lives = _lives(request, motes, seeds)
    _draw(request, lives, motes)
    _write(request, lives)
    return [
        _outlives(lives, motes, Contender.HEED, Contender.GEN_LEACH, "first", "outlives"),
        _outlives(lives, motes, Contender.HEED, Contender.GEN_LEACH, "last", "outlives"),
        _outlives(lives, motes, Contender.HEED_CHATTY, Contender.GEN_LEACH, "first", "outlives"),
        _outlives(lives, motes, Contender.HEED, Contender.GEN_LEACH_SINK, "first", "not given"),
        _outlives(
            lives,
            motes,
            Contender.HEED,
            Contender.LEACH,
            "first",
            "LEACH itself does better where it suits",
        ),
        _outlives(lives, motes, Contender.HEED, Contender.DIRECT, "first", "outlives"),
    ]


def _lives(request: Request, motes: Sequence[int], seeds: int) -> Lives:
    """All lives, two or more at a time."""
    settings = [
        Setting(contender, count, seed)
        for count in sorted(motes, reverse=True)  # the longest first
        for contender in LABELS
        for seed in range(1, seeds + 1)
    ]
    lives: Lives = {}
    request.report(f"{len(settings)} networks to simulate")
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        for setting, life in zip(settings, pool.map(live, settings), strict=True):
            lives.setdefault((setting.contender, setting.motes), []).append(life)
    return lives


def _mean_half(rounds: Callable[[Life], float], lives: Sequence[Life]) -> tuple[float, float]:
    """The mean over lives, and half the width of its 95 % interval."""
    found = estimate(rounds(life) for life in lives)
    assert found.mean is not None
    assert found.half is not None
    return found.mean, found.half


def _draw(request: Request, lives: Lives, motes: Sequence[int]) -> None:
    canvas = Canvas(figsize=(12, 4.2))
    for axes, (name, rounds) in zip(canvas.subplots(1, len(PANELS)), PANELS.items(), strict=True):
        for contender, label in LABELS.items():
            points = [_mean_half(rounds, lives[contender, n]) for n in motes]
            means, halves = zip(*points, strict=True)
            colour, style = STYLES[contender]
            axes.errorbar(motes, means, halves, fmt=style, color=colour, label=label, capsize=3)
        axes.set_title(f"{name} mote dead" if name != "half" else "half of the motes dead")
        axes.set_xlabel("motes")
        axes.set_ylim(bottom=0)
        axes.grid(axis="y", alpha=0.3)
        if name == "first":
            axes.set_ylabel("rounds")
    handles, labels = canvas.axes[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="lower center", ncols=3, frameon=False)
    canvas.tight_layout(rect=(0, 0.12, 1, 1))
    canvas.savefig(request.directory / "heed-lifetime.png", dpi=150)


def _write(request: Request, lives: Lives) -> None:
    columns = [f"{name}_{end}" for name in PANELS for end in ("mean", "half_width")]
    with (request.directory / "heed-lifetime.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["contender", "motes", "seeds", *columns, *FACTS])
        for (contender, motes), found in sorted(lives.items()):
            cells: list[float] = []
            for rounds in PANELS.values():
                cells += _mean_half(rounds, found)
            cells += [float(np.mean([fact(life) for life in found])) for fact in FACTS.values()]
            writer.writerow([contender, motes, len(found), *(f"{cell:.4g}" for cell in cells)])


def _outlives(
    lives: Lives, motes: Sequence[int], one: Contender, other: Contender, what: str, paper: str
) -> Verdict:
    """Whether the mean of `one` is above that of `other` at every size, both on the same fields."""
    rounds = PANELS[what]
    means = [
        [float(np.mean([rounds(life) for life in lives[who, n]])) for n in motes]
        for who in (one, other)
    ]
    pairs = [f"{n}: {a:.0f} against {b:.0f}" for n, a, b in zip(motes, *means, strict=True)]
    return Verdict(
        f"{LABELS[one]}, outlives {LABELS[other]} ({what} mote)",
        paper,
        f"rounds at {', '.join(pairs)}",
        all(a > b for a, b in zip(*means, strict=True)),
    )


def figure_heads(request: Request) -> list[Verdict]:
    """Share of heads against the cluster range, on the field of the paper's clustering study."""
    seeds = range(1, (SEEDS_HEADS_QUICK if request.quick else SEEDS_HEADS) + 1)
    rows, verdicts = [], []
    for range_m, others in OTHERS_HEADS.items():
        outcomes = [_elect_on_the_papers_field(range_m, seed) for seed in seeds]
        share = estimate(len(clusters.heads()) / FIELD_MOTES for clusters in outcomes)
        assert share.mean is not None
        assert share.half is not None
        iterations = sorted({clusters.iterations for clusters in outcomes})
        rows.append([range_m, share.mean, share.half, others, max(iterations)])
        verdicts.append(
            Verdict(
                f"range {range_m:g} m: share of heads within a tenth of a separate implementation's",
                f"{others:.1%} (separate implementation; the paper has plots)",
                f"{share.mean:.1%} ± {share.half:.1%}, {iterations} iterations",
                abs(share.mean - others) <= 0.1 * others,
            )
        )
    canvas = Canvas(figsize=(6, 4))
    axes = canvas.subplots()
    ranges_m, means, halves, others_shares, _ = zip(*rows, strict=True)
    axes.errorbar(ranges_m, means, halves, fmt="o-", color="#2166ac", label="ours", capsize=3)
    axes.plot(ranges_m, others_shares, "k+", markersize=12, label="separate implementation")
    axes.set_xlabel("cluster range (m)")
    axes.set_ylabel("share of heads")
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", alpha=0.3)
    axes.legend(frameon=False)
    canvas.savefig(request.directory / "heed-heads.png", dpi=150, bbox_inches="tight")
    header = ["range_m", "heads", "half_width", "others", "iterations_max"]
    with (request.directory / "heed-heads.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return verdicts


def _elect_on_the_papers_field(range_m: float, seed: int) -> Clusters:
    streams = RandomStreams(seed)
    positions_m = place_uniform(
        streams.vector("placement"),
        count=FIELD_MOTES,
        width_m=FIELD_SIDE_M,
        height_m=FIELD_SIDE_M,
    )
    alive = np.ones(FIELD_MOTES, dtype=np.bool_)
    election = heed.elect(
        neighbourhood=neighbourhood_within(positions_m, range_m),
        alive=alive,
        energy_share=np.ones(FIELD_MOTES),
        cost=Cost.AMRP,
        c_prob=C_PROB,
        p_min=P_MIN,
        random=streams.vector("election"),
        control=CONTROL,
    )
    return run_ideal(election, alive)


FIGURES = (
    Figure(
        "heed-heads",
        "share of heads against the cluster range (HEED, clustering study)",
        figure_heads,
    ),
    Figure(
        "heed-lifetime",
        "rounds until the first, half and the last mote are dead: HEED, LEACH (HEED, application study)",
        figure_lifetime,
    ),
)
