"""The shipped scenarios show what they claim."""

from pathlib import Path

import numpy as np
import pytest

from scenarios.schema.load import load_scenario
from scenarios.simulation.sensing import PoissonTimes
from scenarios.wiring.simulation import World, build_world
from sim.rng import RandomStreams
from sim.units import US_PER_S, to_us
from tests.support.checkers.trace import check_trace
from tests.support.requirements import recorded_file
from tests.support.runs import run_here


def ideal_coverage(world: World, seed: int) -> float:
    """Coverage of an exact join that receives every reading at once, as the summary defines it."""
    scenario = world.scenario
    motes, window_us = scenario.motes.count, to_us(scenario.join.window_s)
    times = PoissonTimes(
        RandomStreams(seed).vector("motes.sampling"),
        count=motes,
        interval_us=to_us(scenario.motes.interval_s),
        start_us=to_us(scenario.motes.start_s),
        stop_us=to_us(scenario.duration_s),
    )
    newest_us: dict[int, np.ndarray] = {}
    overlaps = []
    for now_us in range(0, to_us(scenario.duration_s), US_PER_S):
        nodes, at_us = times.until(now_us)
        if len(nodes):
            values = world.phenomenon.sample(nodes, at_us).values
            for value in np.unique(values[values >= 0]).tolist():
                newest = newest_us.setdefault(value, np.full(motes, -(10**12)))
                newest[nodes[values == value]] = at_us[values == value]
        answer = np.zeros(motes, dtype=bool)
        for newest in newest_us.values():
            current = newest >= now_us - window_us
            if current.sum() > 1:
                answer |= current
        inside = np.zeros(motes, dtype=bool)
        for cloud in world.phenomenon.truth(now_us).values():
            inside[cloud] = True
        if (inside | answer).any():
            overlaps.append((inside & answer).sum() / (inside | answer).sum())
    return float(np.mean(overlaps))


@pytest.mark.slow
def test_the_gas_cloud_can_be_tracked_with_a_coverage_of_nine_tenths() -> None:
    """The limit set by sensors, sampling and window alone; with seeds other than those used for tuning."""
    seed = 13
    world = build_world(load_scenario("gas-cloud"), seed)
    assert ideal_coverage(world, seed) >= 0.9


def test_probing_every_head_comes_near_the_limit_of_the_sensors(tmp_path: Path) -> None:
    seed = 13
    manifest = run_here(tmp_path / "run", "--seed", str(seed), "--set", "join.feedback=off")
    ideal = ideal_coverage(build_world(load_scenario("gas-cloud-small"), seed), seed)
    assert manifest.counts["tracking"]["coverage"] == pytest.approx(ideal, abs=0.02)


def test_churn_loses_heads_and_readings_and_objects_are_still_tracked(tmp_path: Path) -> None:
    counts = run_here(tmp_path / "run", "--set", "duration_s=120.0", scenario="churn").counts
    trace = check_trace(tmp_path / "run")
    events = {event for (event,) in trace.rows("SELECT DISTINCT event FROM faults")}
    assert events == {"added", "removed", "crash", "recovery"}
    assert counts["drops"]["state lost"] > 0
    assert counts["tracking"]["coverage"] > 0.5


@pytest.mark.slow
def test_the_recorded_gas_release_is_found(tmp_path: Path) -> None:
    file = recorded_file("orebro3dsen", "Exp05.csv.gz")
    words = ["--set", f'phenomenon.file="{file}"']
    tracking = run_here(tmp_path / "run", *words, scenario="replay-gas").counts["tracking"]
    check_trace(tmp_path / "run")
    # The release begins about 600 s into the recording, where the scenario starts; replayed ten times faster.
    assert tracking["appeared_s"] < 20.0
    assert tracking["detected_s"] - tracking["appeared_s"] < 10.0
    assert tracking["inside_most"] > 20
    assert tracking["coverage"] > 0.8
