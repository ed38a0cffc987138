"""What a run needs of disk and memory: the least, the most, and what trials of it show.

The numbers are from runs of shipped and random scenarios; `tests/bench/needs_of_runs.py` measures them, and how good the estimates are.
"""

from dataclasses import dataclass
from typing import Final

from analysis.metrics.arrow.size import LISTINGS_MAX
from scenarios.schema.load import LoadedScenario
from scenarios.schema.scenario import Scenario
from scenarios.simulation.trial import Sizes, expected_sizes, thinning
from sim.trace.recorder import BATCH_ROWS

READING_BYTES: Final = 5
"""Of a row of `readings` on disk, at least; most take 8 to 12."""
FOOTER_BYTES: Final = 2_500
"""Of a table on disk, beside its rows."""
TRACE_MOST: Final = 1_000
"""Bytes of the trace for each sample or row of `energy`: five times as many as in any run that was seen."""
PROCESS_BYTES: Final = 210_000_000
"""Memory of a run of few motes: Python, NumPy, Arrow and the rest of the program."""
PROCESS_LEAST_BYTES: Final = 150_000_000
MOTE_BYTES: Final = 5_000
"""Memory of a mote: battery, neighbours, queues, random streams."""
ROW_BYTES: Final = 100
"""Memory of a row that waits to be written: about ten cells of columns, and what writing them takes."""
READING_HELD_BYTES: Final = 400
"""Memory for a reading with a value: in windows, and when metrics are computed."""
LISTED_BYTES: Final = 12
"""Memory for a partner that results list, when recall is computed."""
LISTED_MOST: Final = 500
"""Partners that results list for each sample: far more than in any run that was seen, where there were up to 14."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What a run needs, or what there is for it."""

    trace_bytes: float
    memory_bytes: float

    def times(self, factor: float) -> "Needs":
        """So many times as much of both."""
        return Needs(factor * self.trace_bytes, factor * self.memory_bytes)


def samples_of(scenario: Scenario) -> float:
    """The samples that motes take, if none dies."""
    motes = scenario.motes
    return motes.count * (scenario.duration_s - motes.start_s - motes.drain_s) / motes.interval_s


def least_needs(scenario: Scenario) -> Needs:
    """What a run needs whatever motes sense, if none dies."""
    written = "readings" in scenario.trace.chosen()
    memory_bytes = PROCESS_LEAST_BYTES + MOTE_BYTES / 2 * scenario.motes.count
    return Needs(samples_of(scenario) * READING_BYTES * written, memory_bytes)


def most_needs(scenario: Scenario) -> Needs:
    """More than a run is likely to need."""
    samples = samples_of(scenario)
    motes, tables = scenario.motes.count, scenario.trace.chosen()
    energy_rows = motes * (2 + scenario.duration_s / scenario.trace.energy_every_s)
    trace_bytes = TRACE_MOST * (samples + energy_rows)
    sizes = Sizes(dict.fromkeys(tables, BATCH_ROWS), {}, LISTED_MOST * samples, samples)
    return Needs(trace_bytes, 2 * needs_of(sizes, motes).memory_bytes)


def expected_needs(loaded: LoadedScenario, seed: int) -> Needs:
    """What a run needs, from trials of it.

    Raises:
        ScenarioError: an input file named in the scenario is missing or bad.
        OSError: there is no room for the trials.
    """
    sizes = expected_sizes(loaded, seed, thinning(samples_of(loaded.scenario)))
    return needs_of(sizes, loaded.scenario.motes.count)


def needs_of(sizes: Sizes, motes: int) -> Needs:
    """What a run of so many motes needs that writes so much."""
    waiting = sum(min(rows, BATCH_ROWS) for rows in sizes.rows.values())
    memory_bytes = PROCESS_BYTES + MOTE_BYTES * motes + ROW_BYTES * waiting
    memory_bytes += READING_HELD_BYTES * sizes.valued
    memory_bytes += LISTED_BYTES * min(sizes.listings, LISTINGS_MAX)
    return Needs(sizes.trace_bytes + FOOTER_BYTES * len(sizes.rows), memory_bytes)
