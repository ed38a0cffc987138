"""Runs of the shared-join workload, repeated over seeds: what `motejoin reproduce` draws and judges.

The seed is the unit. All schedules get the same arrivals of a seed, so that they are compared seed by seed. Bursts
are heavy-tailed (at an expected size of five their variance is infinite): one seed alone shows little.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context

from analysis.compare.intervals import Estimate, estimate
from scenarios.reproduce.figure import Request
from scenarios.reproduce.shared.workload import Measured, Setting, measure

TUPLES, TUPLES_QUICK = 100_000, 10_000
SEEDS, SEEDS_QUICK = (1, 2, 3, 4, 5), (1, 2)


@dataclass(frozen=True, slots=True)
class Repeated:
    """One setting under several seeds."""

    runs: tuple[Measured, ...]

    @property
    def overall_s(self) -> float:
        """The mean over seeds of the mean over queries."""
        return _mean([run.overall_s for run in self.runs])

    @property
    def mean_s(self) -> list[float]:
        """Per window, the mean over seeds of the mean response."""
        return [_mean(column) for column in zip(*(run.mean_s for run in self.runs), strict=True)]

    @property
    def max_s(self) -> list[float]:
        """Per window, the longest response under any seed."""
        return [max(column) for column in zip(*(run.max_s for run in self.runs), strict=True)]

    def of(self, value: Callable[[Measured], float]) -> Estimate:
        """The mean over seeds of a value of each run, with its interval."""
        return estimate(value(run) for run in self.runs)

    def against(
        self, other: "Repeated", compare: Callable[[Measured, Measured], float]
    ) -> Estimate:
        """The mean over seeds of a comparison of two runs of one seed, with its interval."""
        pairs = zip(self.runs, other.runs, strict=True)
        return estimate(compare(ours, theirs) for ours, theirs in pairs)


def tuples_of(request: Request) -> int:
    """Tuples of a run."""
    return TUPLES_QUICK if request.quick else TUPLES


def repeated(request: Request, settings: Sequence[Setting]) -> list[Repeated]:
    """Each setting under all seeds; runs not yet done are done in parallel."""
    seeds = SEEDS_QUICK if request.quick else SEEDS
    wanted = [[replace(setting, seed=seed) for seed in seeds] for setting in settings]
    everything = dict.fromkeys(each for group in wanted for each in group)
    missing = [setting for setting in everything if setting not in request.memo]
    if missing:
        request.report(f"{len(missing)} runs of {missing[0].tuples:,} tuples")
        with ProcessPoolExecutor(len(os.sched_getaffinity(0)), get_context("spawn")) as pool:
            request.memo.update(zip(missing, pool.map(measure, missing), strict=True))
    found: list[Repeated] = []
    for group in wanted:
        runs = [request.memo[setting] for setting in group]
        found.append(Repeated(tuple(run for run in runs if isinstance(run, Measured))))
    return found


def shown(value: Estimate, form: Callable[[float], str]) -> str:
    """A mean and its interval, in words."""
    assert value.mean is not None
    if value.low is None or value.high is None:
        return form(value.mean)
    return f"{form(value.mean)} [{form(value.low)}, {form(value.high)}]"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
