"""One election on a random field, with its figures and its picture."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace
from math import ceil, sqrt
from typing import Any

import numpy as np
from pydantic import ValidationError, create_model

from clustering.contract import Clusters, History, Situation, run_with
from clustering.neighbourhood import Neighbourhoods
from clustering.protocols.registry import option_flags, protocol_named, protocol_options
from clustering.quality import measure
from network.radio.profile import load_profile
from network.topology import place_uniform
from scenarios.schema.base import Loss, MoteCount, Positive, Seed, Share, Table
from scenarios.schema.clustering import chosen_options, option_faults, option_fields
from scenarios.schema.messages import faults_of
from scenarios.terminal.cluster_plot import save_plot
from scenarios.wiring.control_pace import CONTROL
from scenarios.wiring.counted_links import CountedAir
from sim.errors import Fault, InputError
from sim.rng import RandomStreams


class Field(Table):
    """The options that are not a protocol's, with the limits that scenario files have."""

    nodes: MoteCount
    side: Positive
    seed: Seed
    battery: Share
    loss: Loss
    range: Positive


def single_election(args: argparse.Namespace) -> str:
    """Hold an election, as the options of `motejoin cluster` say; returns its figures as text.

    Raises:
        InputError: with every invalid option.
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
    alive = np.ones(args.nodes, dtype=np.bool_)
    neighbourhoods = Neighbourhoods(positions_m)
    squares = ceil(args.side / (args.range * sqrt(2))) ** 2
    situation = Situation(
        neighbourhood=neighbourhoods.within(args.range),
        positions_m=positions_m,
        alive=alive,
        energy_share=1 - wear,
        history=History.first(args.nodes),
        heads_guess=min(squares, args.nodes),
        control=CONTROL,
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
    options = chosen_options(args.protocol, _given(args))
    election = protocol_named(args.protocol).elect(options, situation, streams.vector("election"))
    clusters = run_with(election, air)
    quality = measure(
        clusters, positions_m=positions_m, neighbourhood=situation.neighbourhood, alive=alive
    )
    figures = {
        "protocol": args.protocol,
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
    if clusters.heads_by_level:
        figures["heads_by_level"] = list(clusters.heads_by_level)
    return clusters, positions_m, figures


def _given(args: argparse.Namespace) -> dict[str, Any]:
    """The value of every protocol's options; those that the command line does not have are at their default."""
    return {
        key: getattr(args, key, shared.option.default) for key, shared in protocol_options().items()
    }


def _check(args: argparse.Namespace) -> None:
    """Reject invalid arguments, all at once."""
    flags = option_flags()
    table = create_model("Options", __base__=Field, **option_fields())
    given = {
        key: getattr(args, key)
        for key in table.model_fields
        if key in flags or key in Field.model_fields
    }
    faults = []
    try:
        table.model_validate(given)
    except ValidationError as error:
        faults = [_as_option(fault, flags) for fault in faults_of(error, table)]
    else:
        facts = {"range_m": args.range, "motes": args.nodes}
        names = flags | {"range_m": "--range", "motes": "--nodes", "protocol": "--protocol"}
        faults = list(option_faults(args.protocol, _given(args), facts, names))
    if faults:
        raise InputError("\n".join(faults))


def _as_option(fault: Fault, flags: Mapping[str, str]) -> str:
    """A key's fault, worded for its command-line option."""
    key = fault.place.partition("[")[0]
    return str(replace(fault, place=flags.get(key, f"--{key}")))


def _as_text(figures: dict[str, Any]) -> str:
    sizes = figures["cluster_sizes"]
    nearest_m = figures["min_head_distance_m"]
    lines = {
        "heads": f"{figures['heads']:,} of {figures['nodes']:,} motes"
        f" ({figures['heads'] / figures['nodes']:.1%}), {figures['self_elected']:,} self-elected",
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
