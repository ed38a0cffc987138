"""Computes a run's phenomenon again from its manifest, for the map of its report."""

import numpy as np
from pydantic import TypeAdapter, ValidationError

from analysis.report.map.scenery import Scenery, snapshot_frames
from analysis.report.view import RunView
from scenarios.phenomena.contract import Surroundings
from scenarios.phenomena.registry import kind_of, phenomenon_tables
from sim.rng import RandomStreams
from sim.trace.tables import SINK


def scenery_of(run: RunView) -> Scenery | None:
    """What there is beside motes in a run; None if its phenomenon has nothing to show, or cannot be made again."""
    if not run.trace.has("motes"):
        return None
    try:
        table = TypeAdapter(phenomenon_tables()).validate_python(
            run.manifest.scenario["phenomenon"]
        )
    except ValidationError:
        # A run of another version, or of a kind that somebody's own module registers.
        return None
    kind = kind_of(table)
    if kind.scenery is None:
        return None
    node, x_m, y_m = run.trace.arrays("motes", "node", "x_m", "y_m")
    order = np.argsort(node)[(np.sort(node) == SINK).sum() :]
    field = run.manifest.scenario["field"]
    around = Surroundings(
        positions_m=np.stack([x_m, y_m], axis=1)[order],
        field_m=(field["width_m"], field["height_m"]),
        streams=RandomStreams(run.manifest.seed),
        base_dir=run.directory,
    )
    times_us = np.arange(run.frames.count, dtype=np.int64) * run.frames.step_us
    return kind.scenery(
        kind.make(table, around),
        times_us,
        snapshot_frames(run.frames),
        duration_s=run.manifest.simulated_s,
    )
