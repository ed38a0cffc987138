"""What a run will write, from two short trials of it.

A trial is the same run with fewer samples: motes sample k times less often, and the window, and what else is measured in
samples, is k times longer, so that a reading meets about as many others. Elections, routes and the phenomenon are those of the run.
What a table gets follows a power of the number of samples, nearly: messages of elections do not depend on it, those of readings grow with
it. Two trials, with 1/k and 1/(2k) of the samples, give the power of each table.
"""

import math
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq

from analysis.metrics.arrow.size import listed
from scenarios.schema.load import LoadedScenario
from scenarios.simulation.course import simulate
from scenarios.wiring.simulation import build_simulation, build_world
from sim.garbage import rare_collection
from sim.trace.recorder import Recorder

SAMPLES: Final = 10_000
"""Samples that the larger trial takes, about."""
THINNING_MIN: Final = 2.0
THINNING_MAX: Final = 16.0
"""The larger trial takes at most 1 of 2 samples and at least 1 of 16."""
POWER_MAX: Final = 2.0
"""Lists of partners can grow with the square of the number of samples; nothing grows faster."""
_STRETCHED: Final = ("window_s", "delay_s", "refresh_s")
"""Keys of `[join]` whose times are worth as much as the samples in them."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a run writes."""

    rows: Mapping[str, float]
    """Rows by table."""
    bytes: Mapping[str, float]
    """Bytes by table, without the footers of files."""
    listings: float
    """Partners that results list."""
    valued: float
    """Readings that have a value."""

    @property
    def trace_bytes(self) -> float:
        """All tables together."""
        return sum(self.bytes.values())


def thinning(samples: float) -> float:
    """The k of the larger trial of a run with so many samples."""
    return min(max(samples / SAMPLES, THINNING_MIN), THINNING_MAX)


def expected_sizes(loaded: LoadedScenario, seed: int, k: float) -> Sizes:
    """What the run will write, from trials with 1/k and 1/(2k) of its samples.

    Raises:
        ScenarioError: an input file named in the scenario is missing or bad.
        OSError: there is no room for the trials.
    """
    return extrapolated(try_out(loaded, seed, k), try_out(loaded, seed, 2 * k), k)


def extrapolated(larger: Sizes, smaller: Sizes, k: float) -> Sizes:
    """What the whole run writes, if a trial with 1/k of the samples wrote `larger`, and one with 1/(2k) `smaller`."""
    return Sizes(
        {table: whole(larger.rows[table], smaller.rows[table], k) for table in larger.rows},
        {table: whole(larger.bytes[table], smaller.bytes[table], k) for table in larger.bytes},
        whole(larger.listings, smaller.listings, k),
        whole(larger.valued, smaller.valued, k),
    )


def whole(at_k: float, at_2k: float, k: float) -> float:
    """An amount at k = 1 that follows a power of k, from the amounts at k and 2k."""
    if at_k <= 0.0:
        return 0.0
    power = math.log2(at_k / at_2k) if at_2k > 0.0 else 1.0
    return at_k * math.pow(k, min(max(power, 0.0), POWER_MAX))


def thinned(loaded: LoadedScenario, k: float) -> LoadedScenario:
    """The same run with 1/k of the samples."""
    scenario = loaded.scenario
    times_s = {key: getattr(scenario.join, key) for key in _STRETCHED}
    stretched = {key: k * time_s for key, time_s in times_s.items() if time_s is not None}
    parts = {
        "motes": scenario.motes.model_copy(update={"interval_s": k * scenario.motes.interval_s}),
        "join": scenario.join.model_copy(update=stretched),
    }
    return LoadedScenario(
        scenario.model_copy(update=parts), loaded.source, loaded.base_dir, loaded.allow_functions
    )


def try_out(loaded: LoadedScenario, seed: int, k: float) -> Sizes:
    """What a run with 1/k of the samples writes."""
    fewer = thinned(loaded, k)
    with tempfile.TemporaryDirectory(prefix="motejoin-trial-") as name:
        recorder = Recorder(Path(name), fewer.scenario.trace.chosen())
        try:
            simulation = build_simulation(build_world(fewer, seed), recorder)
            with rare_collection():
                simulate(simulation, lambda _: None)
            recorder.close()
        finally:
            recorder.abandon()
        return written(Path(name), simulation.sensing.with_value)


def written(directory: Path, valued: float) -> Sizes:
    """What the trace of a run in a directory holds, whose readings with a value are so many."""
    rows: dict[str, float] = {}
    sizes: dict[str, float] = {}
    listings = 0
    for place in sorted((directory / "trace").iterdir()):
        footers = [pq.read_metadata(part) for part in sorted(place.glob("part-*.parquet"))]
        rows[place.name] = sum(footer.num_rows for footer in footers)
        sizes[place.name] = sum(
            footer.row_group(group).column(column).total_compressed_size
            for footer in footers
            for group in range(footer.num_row_groups)
            for column in range(footer.num_columns)
        )
        if place.name == "results":
            listings = sum(map(listed, footers))
    return Sizes(rows, sizes, listings, valued)
