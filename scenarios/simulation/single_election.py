"""One election on a random field, with its figures and its picture."""

import argparse
import json
from dataclasses import replace
from itertools import pairwise
from math import ceil, sqrt
from typing import Any, Self

import numpy as np
from pydantic import ValidationError, model_validator

from clustering.contract import Clusters, run_with
from clustering.neighbourhood import Neighbourhoods
from clustering.protocols import heed_levels as hierarchy
from clustering.protocols.grid import CellHead
from clustering.protocols.heed import Cost
from clustering.protocols.leach import Epoch, Lot
from clustering.protocols.registry import Protocol, Settings, Situation, Weight, elect
from clustering.quality import measure
from network.radio.profile import load_profile
from network.topology import place_uniform
from scenarios.schema.base import (
    Count,
    Hops,
    Loss,
    MoteCount,
    Positive,
    PositiveShare,
    Seed,
    Share,
    Table,
)
from scenarios.schema.messages import faults_of
from scenarios.terminal.cluster_plot import save_plot
from scenarios.wiring.control_pace import CONTROL
from scenarios.wiring.counted_links import CountedAir
from sim.errors import Fault, InputError
from sim.rng import RandomStreams


class Options(Table):
    """The options that are numbers, with the limits that scenario files have."""

    nodes: MoteCount
    side: Positive
    seed: Seed
    battery: Share
    loss: Loss
    protocol: str
    range: Positive
    c_prob: PositiveShare
    p_min: PositiveShare
    upper_range: list[Positive]
    heads: Count | None
    hops: Hops

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        if self.heads is not None and self.heads > self.nodes:
            raise ValueError(f"--heads = {self.heads}: expected at most --nodes = {self.nodes}")
        if self.upper_range and self.protocol != Protocol.HEED:
            raise ValueError(
                f"--upper-range: expected --protocol heed, found {self.protocol}: no other has levels"
            )
        if any(near >= far for near, far in pairwise([self.range, *self.upper_range])):
            found = ", ".join(f"{range_m:g}" for range_m in self.upper_range)
            raise ValueError(f"--upper-range = {found}: expected ranges that ascend from --range")
        return self


def single_election(args: argparse.Namespace) -> str:
    """Hold an election, as the options of `motejoin cluster` say; returns its figures as text.

    Raises:
        InputError: with every option that no election can be held with.
    """
    _check(args)
    clusters, positions_m, figures = hold_election(args)
    if args.plot is not None:
        title = (
            f"{args.protocol}: {figures['heads']:,} heads of {figures['nodes']:,} motes,"
            f" range {args.range:g} m, seed {args.seed}"
        )
        save_plot(args.plot, clusters=clusters, positions_m=positions_m, title=title)
    return json.dumps(figures) if args.json else _as_text(figures)


def hold_election(
    args: argparse.Namespace,
) -> tuple[Clusters, np.ndarray[Any, np.dtype[np.float64]], dict[str, Any]]:
    """The motes' clusters, their positions and the figures to show."""
    streams = RandomStreams(args.seed)
    positions_m = place_uniform(
        streams.vector("placement"), count=args.nodes, width_m=args.side, height_m=args.side
    )
    wear = streams.vector("batteries").random(args.nodes) * (1 - args.battery)
    heads_wanted = args.heads or ceil(args.side / (args.range * sqrt(2))) ** 2
    settings = Settings(
        protocol=Protocol(args.protocol),
        control=CONTROL,
        cost=Cost(args.cost),
        c_prob=args.c_prob,
        p_min=args.p_min,
        expected_heads=min(heads_wanted, args.nodes),
        lot=Lot(args.lot),
        weight=Weight(args.weight),
        hops_max=args.hops,
        cell_head=CellHead(args.cell_head),
    )
    alive = np.ones(args.nodes, dtype=np.bool_)
    neighbourhoods = Neighbourhoods(positions_m)
    situation = Situation(
        neighbourhood=neighbourhoods.within(args.range),
        positions_m=positions_m,
        alive=alive,
        energy_share=1 - wear,
        epoch=Epoch.first(count=args.nodes, expected_heads=settings.expected_heads),
    )
    air = CountedAir(
        load_profile("first-order"),
        positions_m=positions_m,
        sink_m=(args.side / 2, args.side / 2),
        neighbourhoods=neighbourhoods,
        alive=alive,
        loss=args.loss,
        random=streams.vector("radio.loss"),
    )
    random = streams.vector("election")
    if args.upper_range:
        levels = run_with(
            hierarchy.elect(
                positions_m=positions_m,
                alive=alive,
                energy_share=situation.energy_share,
                ranges_m=[args.range, *args.upper_range],
                cost=settings.cost,
                c_prob=settings.c_prob,
                p_min=settings.p_min,
                random=random,
                control=CONTROL,
            ),
            air,
        )
    else:
        levels = (run_with(elect(settings, situation, random), air),)
    clusters = levels[0]
    quality = measure(
        clusters, positions_m=positions_m, neighbourhood=situation.neighbourhood, alive=alive
    )
    figures = {
        "protocol": settings.protocol.value,
        "seed": args.seed,
        "side_m": args.side,
        "range_m": args.range,
        "nodes": quality.nodes,
        "heads": quality.heads,
        "self_elected": quality.self_elected,
        "iterations": clusters.iterations,
        "uncovered": quality.uncovered,
        "cluster_sizes": list(quality.sizes),
        "heads_with_no_member": quality.memberless,
        "min_head_distance_m": quality.head_distance_m_min,
        "max_hops": quality.hops_max,
        "messages": air.messages,
        "bytes": air.bytes,
        "energy_j": air.energy_j,
    }
    if args.upper_range:
        figures["heads_by_level"] = [len(level.heads()) for level in levels]
    return clusters, positions_m, figures


def _check(args: argparse.Namespace) -> None:
    """Refuse arguments that no election can be held with, all at once."""
    given = {name: getattr(args, name) for name in Options.model_fields}
    try:
        Options.model_validate(given)
    except ValidationError as error:
        faults = faults_of(error, Options)
        raise InputError("\n".join(_as_options(fault) for fault in faults)) from None


def _as_options(fault: Fault) -> str:
    """A fault of a key, said of the option that it came from."""
    key = fault.place.partition("[")[0].replace("_", "-")
    return str(replace(fault, place=f"--{key}" if key else ""))


def _as_text(figures: dict[str, Any]) -> str:
    sizes = figures["cluster_sizes"]
    nearest_m = figures["min_head_distance_m"]
    lines = {
        "heads": f"{figures['heads']:,} of {figures['nodes']:,} motes"
        f" ({figures['heads'] / figures['nodes']:.1%}), {figures['self_elected']:,} for want of one",
        "iterations": f"{figures['iterations']:,}",
        "uncovered": f"{figures['uncovered']:,}",
        "cluster size": f"{np.mean(sizes):.1f} on average, {sizes[0]:,} at most",
        "no member": f"{figures['heads_with_no_member']:,} heads",
        "nearest heads": "only one head" if nearest_m is None else f"{nearest_m:.1f} m apart",
        "hops to head": f"{figures['max_hops']:,} at most",
        "control": f"{figures['messages']:,} messages, {figures['bytes']:,} bytes,"
        f" {figures['energy_j']:.3g} J",
    }
    if "heads_by_level" in figures:
        lines["levels"] = " > ".join(f"{heads:,}" for heads in figures["heads_by_level"]) + " heads"
    title = (
        f"{figures['protocol']}, seed {figures['seed']}: {figures['nodes']:,} motes in"
        f" {figures['side_m']:g} x {figures['side_m']:g} m, range {figures['range_m']:g} m"
    )
    return "\n".join([title, *(f"  {name:<13} {text}" for name, text in lines.items())])
