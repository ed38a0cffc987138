"""Checks a manifest's counts against its trace: a report shows them, and a file can be edited.

Counts are recomputed table by table, as far as tables were written; those that would need the simulation itself,
such as how the answer followed the phenomenon, are not checked.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analysis.compare.groups import flatten
from analysis.trace.reader import TraceTables, codes
from sim.errors import TraceError
from sim.trace.kinds import CAUSES, CONTROL
from sim.trace.manifest import MANIFEST, Manifest

_SUM_ERROR: Final = 1e-9
"""Relative: joules were added up in another order."""

BELIEVED: Final = "tracking"
"""Measured during the run: afterwards only their type can be checked."""

Batches: TypeAlias = Iterable[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class Recount:
    """The counts that one table determines."""

    columns: tuple[str, ...]
    counts: Callable[[Batches], dict[str, Any]]
    """Takes these columns, returns counts by the manifest's names."""


def check_counts(directory: Path, manifest: Manifest, trace: TraceTables) -> None:
    """Reject a manifest whose counts differ from its trace.

    Raises:
        TraceError: with every such count, found and expected.
    """
    faults = [
        f"{directory / MANIFEST}: counts.{key} = {found!r}, expected a number"
        for key, found in flatten({BELIEVED: manifest.counts.get(BELIEVED, {})}).items()
        if key == BELIEVED or not isinstance(found, int | float | None)
    ]
    for table, recount in RECOUNTS.items():
        # A trace of an older version may lack a column.
        if trace.has(table) and all(trace.has_column(table, name) for name in recount.columns):
            expected = recount.counts(trace.batches(table, *recount.columns))
            found = {key: manifest.counts[key] for key in expected if key in manifest.counts}
            faults += [
                f"{directory / MANIFEST}: counts.{key} = {ours!r}, expected {theirs!r} as in trace/{table}"
                for key, (ours, theirs) in _differences(found, expected).items()
            ]
    if faults:
        raise TraceError("\n".join(faults))


def _differences(
    found: Mapping[str, Any], expected: Mapping[str, Any]
) -> dict[str, tuple[object, object]]:
    """Found and expected by dotted key, where they differ; a missing name counts as 0."""
    ours, theirs = flatten(found), flatten({key: expected[key] for key in found})
    pairs = {key: (ours.get(key, 0), theirs.get(key, 0)) for key in {**ours, **theirs}}
    return {key: pair for key, pair in pairs.items() if not _agree(*pair)}


def _agree(one: object, other: object) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return isclose(one, other, rel_tol=_SUM_ERROR, abs_tol=_SUM_ERROR)
    return one == other


def _rows(key: str) -> Callable[[Batches], dict[str, Any]]:
    """How many rows there are."""
    return lambda batches: {key: sum(map(len, batches))}


def _rows_by_text(key: str) -> Callable[[Batches], dict[str, Any]]:
    """How many rows there are, by the text in a column."""

    def counts(batches: Batches) -> dict[str, Any]:
        rows: Counter[str] = Counter()
        for batch in batches:
            positions, texts = codes(batch.column(0))
            numbers = np.bincount(positions, minlength=len(texts)).tolist()
            rows.update(dict(zip(texts, numbers, strict=True)))
        return {key: {text: number for text, number in rows.items() if number}}

    return counts


def _readings(batches: Batches) -> dict[str, Any]:
    taken = empty = 0
    for batch in batches:
        taken += len(batch)
        empty += batch.column(0).null_count
    return {"readings": taken, "readings_with_value": taken - empty}


def _traffic(batches: Batches) -> dict[str, Any]:
    sums: Counter[tuple[str, str]] = Counter()
    for batch in batches:
        positions, kinds = codes(batch.column("kind"))
        for name in batch.schema.names[1:]:
            totals = np.zeros(len(kinds), np.int64)
            np.add.at(totals, positions, batch.column(name).to_numpy())
            sums.update({(kind, name): int(n) for kind, n in zip(kinds, totals, strict=True)})
    traffic = {
        kind: {
            **{name: sums[kind, name] for name in ("sent", "sent_bytes", "received", "lost")},
            "in_flight": sums[kind, "addressed"] - sums[kind, "received"] - sums[kind, "lost"],
        }
        for kind in sorted({kind for kind, _ in sums})
    }
    return {
        "messages": sum(cells["sent"] for cells in traffic.values()),
        "bytes": sum(cells["sent_bytes"] for cells in traffic.values()),
        "traffic": traffic,
    }


def _probes(batches: Batches) -> dict[str, Any]:
    probes = probed = matched = 0
    for batch in batches:
        probes += len(batch)
        probed += pc.sum(batch.column("heads_probed")).as_py()
        matched += pc.sum(batch.column("heads_matched")).as_py()
    return {"probes": probes, "heads_probed": probed, "heads_matched": matched}


def _results(batches: Batches) -> dict[str, Any]:
    """Rows without an origin are departures; those that amend a result count all its partners so far."""
    results = delay_us = 0
    width_of: dict[tuple[int, int], int] = {}
    for batch in batches:
        joined = batch.filter(batch.column("origin").is_valid())
        first = joined.filter(pc.invert(joined.column("amends")))
        results += len(first)
        delay_us += pc.sum(first.column("delay_us"), min_count=0).as_py()
        readings = zip(
            joined.column("origin").to_pylist(),
            joined.column("origin_at_us").to_pylist(),
            strict=True,
        )
        width_of.update(zip(readings, joined.column("arity").to_pylist(), strict=True))
    return {
        "results": results,
        "mean_width": sum(width_of.values()) / results if results else None,
        "mean_delay_ms": delay_us / results / 1000 if results else None,
    }


def _energy(batches: Batches) -> dict[str, Any]:
    """Joules are spent since the start: the last sample has all of them."""
    at_us, total_j = -1, np.zeros(len(CAUSES) + 1)
    for batch in batches:
        times_us, *joules = (column.to_numpy() for column in batch.columns)
        if times_us[-1] != at_us:
            at_us, total_j = times_us[-1], np.zeros(len(joules))
        last = times_us == at_us
        total_j += [column[last].sum() for column in joules]
    *by_cause_j, control_j = total_j.tolist()
    return {
        "energy_j": sum(by_cause_j),
        "energy_by_cause_j": dict(zip(CAUSES, by_cause_j, strict=True)),
        "control_j": control_j,
    }


RECOUNTS: Final = {
    "readings": Recount(("value",), _readings),
    "fates": Recount(("fate",), _rows_by_text("fates")),
    "traffic": Recount(("kind", "sent", "sent_bytes", "received", "lost", "addressed"), _traffic),
    "probes": Recount(("heads_probed", "heads_matched"), _probes),
    "requests": Recount(("outcome",), _rows_by_text("requests")),
    "results": Recount(("origin", "origin_at_us", "arity", "delay_us", "amends"), _results),
    "energy": Recount(("at_us", *(f"{cause}_j" for cause in (*CAUSES, CONTROL))), _energy),
    "drops": Recount(("reason",), _rows_by_text("drops")),
    "deaths": Recount(("node",), _rows("deaths")),
}
