"""What finished sweeps say: for each point its place, and each metric's value for each seed."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.compare.captions import Origin, origin_of
from analysis.compare.estimates import Seen, asked_of, by_seed, scale_of, seen_in
from analysis.compare.groups import resolve_key
from analysis.compare.intervals import Estimate, estimate
from analysis.compare.sweep_folder import SweepFolder
from analysis.metrics.inputs import ANSWER, DELAY_S
from analysis.metrics.registry import METRICS
from sim.errors import InputError, TraceError, near_miss
from sim.trace.manifest import read_manifest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Candidate:
    """A point of a sweep, or several points that agree in some keys."""

    label: str
    place: Mapping[str, Any]
    """Its scenario keys."""
    seen: Mapping[str, Mapping[int, Seen]]
    """Each metric's value for each seed."""

    def estimate(self, metric: str) -> Estimate:
        """The mean over seeds, with its interval."""
        values = list(self.seen.get(metric, {}).values())
        return estimate(
            [each.value for each in values],
            scale_of(metric),
            bounds=sum(each.is_bound for each in values),
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """All points of the sweeps asked."""

    candidates: list[Candidate]
    origin: Origin
    unequal: bool = False
    """Whether runs were asked for different answers, or within different delays, so that costs do not compare."""

    def metric_or_key(self, name: str, option: str) -> tuple[str, bool]:
        """The metric, or the scenario key, that a name means, and whether it is a metric.

        Raises:
            InputError: there is neither.
        """
        metrics = {metric for each in self.candidates for metric in each.seen}
        if name in metrics:
            return name, True
        keys = list(dict.fromkeys(key for each in self.candidates for key in each.place))
        try:
            return resolve_key(name, keys), False
        except InputError:
            hint = near_miss(name, [*metrics, *METRICS, *keys])
            raise InputError(
                f"{option} {name}: expected a metric (motejoin docs metrics) or a key of the sweep{hint};"
                f" keys here: {', '.join(keys)}"
            ) from None


def gather(
    spark: "SparkSession",
    sweeps: Sequence[SweepFolder],
    metrics: Sequence[str],
    *,
    by: Sequence[str],
    command: str,
) -> Evidence:
    """What sweeps say about some metrics; with `by`, points that agree in these keys are one.

    Raises:
        InputError: there is no such key.
    """
    wanted = [name for name in dict.fromkeys(metrics) if name in METRICS]
    rows = [row.asDict() for row in _frame(spark, sweeps, wanted).collect()]
    settings = {
        (sweep.name, point): sweep.settings[point] for sweep in sweeps for point in sweep.places
    }
    keys = list(dict.fromkeys(key for each in settings.values() for key in each))
    axes = [resolve_key(key, keys) for key in by]
    folders = {sweep.name: sweep.directory for sweep in sweeps}
    # Points in the order of the sweep's file, which has numbers in order.
    order = {point: number for number, point in enumerate(settings)}
    rows.sort(key=lambda row: order[row["sweep"], row["point"]])
    groups: dict[str, list[dict[str, Any]]] = {}
    places: dict[str, dict[str, Any]] = {}
    for row in rows:
        place = settings[row["sweep"], row["point"]]
        _mend_bounds(row, wanted, folders[row["sweep"]])
        if axes:
            place = {axis: place.get(axis) for axis in axes}
            label = ", ".join(f"{axis}={value}" for axis, value in place.items())
        else:
            label = row["point"] if len(sweeps) == 1 else f"{row['sweep']}: {row['point']}"
        groups.setdefault(label, []).append(row)
        places[label] = place
    candidates = [
        Candidate(label, places[label], {name: _by_seed(group, name) for name in wanted})
        for label, group in groups.items()
    ]
    origin = origin_of(rows, [row["fingerprint"] for row in rows], command)
    return Evidence(candidates, origin, unequal=len(asked_of(rows)) > 1)


def _frame(
    spark: "SparkSession", sweeps: Sequence[SweepFolder], metrics: Iterable[str]
) -> "DataFrame":
    """The columns needed of all runs of all sweeps, in the order of points and seeds."""
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as F  # noqa: N812 - the name that all Spark code uses

    needed = ["run", "point", "seed", "name", "fingerprint", "simulated_s", "dead", "misses"]
    needed += [ANSWER.name, DELAY_S.name]
    needed += [name for name in metrics if name not in needed]
    frames = []
    for number, sweep in enumerate(sweeps):
        path = str((sweep.directory / "metrics.parquet").resolve())
        frame = spark.read.parquet(path)
        columns = [
            F.col(f"`{name}`") if name in frame.columns else F.lit(None).alias(name)
            for name in needed
        ]
        first = F.lit(number).alias("position")
        frames.append(frame.select(F.lit(sweep.name).alias("sweep"), first, *columns))
    return reduce(DataFrame.unionByName, frames).orderBy("position", "point", "seed")


def _mend_bounds(row: dict[str, Any], metrics: Sequence[str], folder: Path) -> None:
    """Put into a row what its manifest knows of a phenomenon that was never found: since when it was there."""
    if "detection_delay_s" not in metrics or row["detection_delay_s"] is not None:
        return
    if not row["misses"]:
        return
    try:
        tracking = read_manifest(folder / "runs" / row["run"]).counts.get("tracking") or {}
    except TraceError:
        return
    if tracking.get("appeared_s") is not None:
        row["never_found_s"] = row["simulated_s"] - tracking["appeared_s"]


def _by_seed(rows: Sequence[Mapping[str, Any]], metric: str) -> dict[int, Seen]:
    """The metric for each seed, a phenomenon that was never found with the time for which it was not."""
    found = by_seed(rows, metric)
    if metric != "detection_delay_s" or not any("never_found_s" in row for row in rows):
        return found
    values: dict[int, list[Seen]] = {}
    for row in rows:
        seen = seen_in(row, metric)
        if seen is not None and seen.is_bound and "never_found_s" in row:
            seen = Seen(row["never_found_s"], is_bound=True)
        if seen is not None:
            values.setdefault(row["seed"], []).append(seen)
    return {
        seed: Seen(
            math.fsum(each.value for each in own) / len(own), any(each.is_bound for each in own)
        )
        for seed, own in sorted(values.items())
    }
