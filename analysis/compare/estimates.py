"""Estimates over the runs of a group: means with 95 % intervals, and differences from a baseline.

The seed is the unit: a group's value for a seed is the mean over its runs of that seed, and intervals are
over seeds (`analysis.compare.intervals`). Runs of one seed have the same field and the same readings, so a difference is taken
seed by seed, in % of the baseline's value, and the interval is over those differences.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from analysis.compare.groups import Grouping, value_text
from analysis.compare.intervals import Estimate, Scale, estimate
from analysis.metrics.inputs import ANSWER, DELAY_S
from analysis.metrics.metric import SHARE
from analysis.metrics.registry import METRICS

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """A metric's value for one seed."""

    value: float
    is_bound: bool = False
    """Whether it is only known to be larger: a death that did not come before the run's end."""


def scale_of(metric: str) -> Scale:
    """What a metric can be; all are 0 or more."""
    share = metric in METRICS and METRICS[metric].unit == SHARE
    return Scale.SHARE if share else Scale.POSITIVE


def seen_in(row: Row, metric: str) -> Seen | None:
    """A run's value of a metric, or the least that it can be; None if it is not defined."""
    value = row.get(metric)
    if value is not None:
        return Seen(float(value))
    least = METRICS[metric].least if metric in METRICS else None
    bound = None if least is None else least(row)
    return None if bound is None else Seen(bound, is_bound=True)


def by_seed(rows: Iterable[Row], metric: str) -> dict[int, Seen]:
    """The metric's mean over the rows of each seed that have it, seeds in order."""
    values: dict[int, list[Seen]] = {}
    for row in rows:
        seen = seen_in(row, metric)
        if seen is not None:
            values.setdefault(row["seed"], []).append(seen)
    return {seed: _mean_of_seed(values[seed]) for seed in sorted(values)}


def _mean_of_seed(seen: Sequence[Seen]) -> Seen:
    if len(seen) == 1:
        return seen[0]  # A sweep's usual case, met a hundred times a run.
    return Seen(
        math.fsum(each.value for each in seen) / len(seen),
        is_bound=any(each.is_bound for each in seen),
    )


def _mean(values: Iterable[Seen], scale: Scale) -> Estimate:
    seen = list(values)
    return estimate([v.value for v in seen], scale, bounds=sum(v.is_bound for v in seen))


def _difference(own: Mapping[int, Seen], base: Mapping[int, Seen]) -> Estimate:
    """The mean difference in %, from the seeds that both have."""
    pairs = [(own[seed], base[seed]) for seed in own if seed in base and base[seed].value]
    if any(a.is_bound or b.is_bound for a, b in pairs):
        return Estimate(None, None, None, 0)
    ratios = estimate([a.value / b.value for a, b in pairs], Scale.POSITIVE)
    mean, low, high = (
        None if ratio is None else 100 * (ratio - 1)
        for ratio in (ratios.mean, ratios.low, ratios.high)
    )
    return Estimate(mean, low, high, ratios.n)


@dataclass(frozen=True, slots=True)
class Answers:
    """The estimates of every group and metric."""

    grouping: Grouping
    metrics: list[str]
    runs: dict[str, int]
    """Runs of each group."""
    means: dict[tuple[str, str], Estimate]
    """By group and metric."""
    differences: dict[tuple[str, str], Estimate]
    """In % of the baseline, by group and metric; empty without a baseline."""
    baseline_of: dict[str, str]
    unequal: list[str]
    """Groups without differences because they and their baseline were not asked for the same."""

    @property
    def note(self) -> str:
        """Why there are no differences where there are none; empty if there are all."""
        if not self.unequal:
            return ""
        return (
            f"There is no difference from a baseline for {', '.join(self.unequal)}: costs compare only at"
            " equal join.answer and join.delay_s, and these are not the baseline's."
        )


def answers(
    rows: Sequence[Row],
    grouping: Grouping,
    metrics: Sequence[str],
    baseline_of: Mapping[str, str],
) -> Answers:
    """Estimates of `metrics` for each group that has runs among `rows`.

    A group is not compared with a baseline that was asked for another answer, or within another delay.
    """
    members: dict[str, list[Row]] = {label: [] for label in grouping.places}
    for row in rows:
        members[grouping.group_of[row["run"]]].append(row)
    members = {label: group for label, group in members.items() if group}
    equal, unequal = comparable(rows, grouping, baseline_of)
    means, differences = {}, {}
    for metric in metrics:
        values = {label: by_seed(group, metric) for label, group in members.items()}
        for label, own in values.items():
            means[label, metric] = _mean(own.values(), scale_of(metric))
            base = values.get(equal.get(label, ""))
            if base is not None:
                differences[label, metric] = _difference(own, base)
    present, counts = present_groups([row["run"] for row in rows], grouping)
    return Answers(present, list(metrics), counts, means, differences, equal, unequal)


def comparable(
    rows: Iterable[Row], grouping: Grouping, baseline_of: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """The baselines of groups that were asked for the same as those, and the groups that were not."""
    asked: dict[str, set[tuple[Any, Any]]] = {}
    for row in rows:
        asked.setdefault(grouping.group_of[row["run"]], set()).update(asked_of([row]))
    given = {label: base for label, base in baseline_of.items() if {label, base} <= asked.keys()}
    unequal = [label for label, base in given.items() if len(asked[label] | asked[base]) > 1]
    equal = {label: base for label, base in baseline_of.items() if label not in unequal}
    return equal, unequal


def asked_of(rows: Iterable[Row]) -> set[tuple[Any, Any]]:
    """What runs were asked for: the level of the answer, and the delay allowed."""
    return {(row.get(ANSWER.name), row.get(DELAY_S.name)) for row in rows}


def present_groups(runs: Sequence[str], grouping: Grouping) -> tuple[Grouping, dict[str, int]]:
    """The groups that `runs` belong to, and how many of them each has."""
    group_of = {run: grouping.group_of[run] for run in runs}
    counts = Counter(group_of.values())
    places = {label: place for label, place in grouping.places.items() if counts[label]}
    return Grouping(grouping.axes, places, group_of), {label: counts[label] for label in places}


def summary_table(found: Answers, label: str) -> pa.Table:
    """One row per group: its label, its place, its runs; mean, low, high and n of every metric."""
    groups = list(found.grouping.places)
    columns: dict[str, pa.Array] = {label: pa.array(groups, pa.string())}
    for axis in found.grouping.axes:
        if axis not in columns:
            columns[axis] = value_array([found.grouping.places[g][axis] for g in groups])
    columns["runs"] = pa.array([found.runs[g] for g in groups], pa.int64())
    for metric in found.metrics:
        own = [found.means[g, metric] for g in groups]
        for part in ("mean", "low", "high"):
            columns[f"{metric}_{part}"] = pa.array([getattr(e, part) for e in own], pa.float64())
        columns[f"{metric}_n"] = pa.array([e.n for e in own], pa.int64())
    return pa.table(columns)


def difference_table(found: Answers, label: str) -> pa.Table:
    """One row per group and metric: the difference from its baseline in %, with interval and n."""
    keys = list(found.differences)
    own = list(found.differences.values())
    return pa.table(
        {
            label: pa.array([group for group, _ in keys], pa.string()),
            "baseline": pa.array([found.baseline_of[group] for group, _ in keys], pa.string()),
            "metric": pa.array([metric for _, metric in keys], pa.string()),
            "difference_percent": pa.array([e.mean for e in own], pa.float64()),
            "low": pa.array([e.low for e in own], pa.float64()),
            "high": pa.array([e.high for e in own], pa.float64()),
            "n": pa.array([e.n for e in own], pa.int64()),
        }
    )


def value_array(values: Sequence[Any]) -> pa.Array:
    """Scenario values as a column: numbers or text where they are all of a kind, else their text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int} or kinds <= {int, float}:
        return pa.array(values, pa.int64() if kinds <= {int} else pa.float64())
    if kinds <= {bool}:
        return pa.array(values, pa.bool_())
    return pa.array([None if v is None else value_text(v) for v in values], pa.string())
