"""The plan of a sweep: every run with its resolved scenario, made before anything is started."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis.compare.compare_runs import Question
from analysis.compare.groups import Grouping, baselines, group_by_keys
from analysis.compare.metric_columns import check_metrics
from scenarios.sweep.file import POINT, Point, Sweep, point_scenario
from scenarios.sweep.task import Failure
from scenarios.wiring.queries import refused_functions
from sim.errors import Fault, ScenarioError


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run of a sweep: a point with a seed."""

    run: str
    point: Point
    seed: int
    scenario: dict[str, Any]
    """As resolved, in the form that a manifest has."""


@dataclass(frozen=True, slots=True)
class FailedRun:
    """An entry of `failures.json`."""

    run: str
    point: str
    seed: int
    failure: str
    error: str
    set: dict[str, Any]
    host: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs of a sweep, planned before anything is started."""

    sweep: Sweep
    runs: list[PlannedRun]
    """Those with a valid scenario, in the order of points, then seeds."""
    invalid: list[FailedRun]
    grouping: Grouping
    question: Question
    baseline_of: dict[str, str]
    allow_functions: bool = False
    """Whether runs may load the Python functions that the scenario names."""


def plan_sweep(sweep: Sweep, question: Question, *, allow_functions: bool = False) -> Plan:
    """Resolve every point and check all that can be checked before anything is started.

    Raises:
        ScenarioError: no point is valid, or the scenario names functions, which are not allowed.
        InputError: there is no such metric, key or baseline.
    """
    check_metrics(question.metrics)
    runs, invalid = [], []
    faults: dict[str, Fault] = {}
    for point in sweep.points:
        try:
            resolved = point_scenario(
                sweep.content,
                point.settings,
                seed=sweep.seeds[0],
                source=sweep.source,
                base_dir=sweep.base_dir,
            )
        except ScenarioError as error:
            faults |= {str(fault): fault for fault in error.faults}
            if sweep.omit_invalid:
                continue
            text = "; ".join(map(str, error.faults))
            invalid += [failed_run(point, seed, Failure.INVALID, text) for seed in sweep.seeds]
            continue
        refused = refused_functions(resolved.functions, allowed=allow_functions)
        if refused:
            raise ScenarioError(sweep.source, refused)
        content = json.dumps(resolved.model_dump(mode="json"))
        for seed in sweep.seeds:
            scenario = json.loads(content) | {"seed": seed}
            runs.append(PlannedRun(run_name(point, seed), point, seed, scenario))
    if not runs:
        raise ScenarioError(sweep.source, list(faults.values()))
    grouping = _grouping(runs, sweep, question.by)
    found = baselines(grouping, question.baseline) if question.baseline else {}
    return Plan(sweep, runs, invalid, grouping, question, found, allow_functions)


def run_name(point: Point, seed: int) -> str:
    """The name of a run and of its directory."""
    return f"{point.name}-{seed}"


def failed_run(
    point: Point, seed: int, failure: Failure, error: str, *, host: str = "", detail: str = ""
) -> FailedRun:
    """The entry of a run that failed."""
    return FailedRun(
        run_name(point, seed), point.name, seed, failure.value, error, point.settings, host, detail
    )


def identity(run: PlannedRun) -> dict[str, Any]:
    """The columns that identify a run of the sweep."""
    return {POINT: run.point.name} | run.point.place | run.point.settings


def samples(run: PlannedRun) -> float:
    """Roughly how many samples the motes take in a run, as a measure of its duration."""
    motes = run.scenario["motes"]
    return float(run.scenario["duration_s"] * motes["count"] / motes["interval_s"])


def _grouping(runs: Sequence[PlannedRun], sweep: Sweep, by: Sequence[str]) -> Grouping:
    if not by:
        points = {run.point.name: run.point.place for run in runs}
        return Grouping(sweep.axes, points, {run.run: run.point.name for run in runs})
    known = {run.run: {POINT: run.point.name} | run.point.place for run in runs}
    return group_by_keys({run.run: run.scenario for run in runs}, by, known)
