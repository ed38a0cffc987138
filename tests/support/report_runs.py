"""Hand-made run directories for tests of the report: every number in them is known."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.trace.count_check import RECOUNTS
from analysis.trace.reader import TraceTables
from sim.trace.manifest import Manifest, Status
from sim.trace.recorder import Recorder
from sim.trace.tables import SINK, TABLES, Kind

S = 1_000_000

NOTHING: dict[Kind, Any] = {
    Kind.INT32: 0,
    Kind.INT64: 0,
    Kind.FLOAT64: 0.0,
    Kind.BOOL: False,
    Kind.TEXT: "",
    Kind.NODES: [],
    Kind.MEMBERS: [],
}
"""Values of the columns that a hand-made row omits because the report does not read them."""

COUNTS: dict[str, Any] = {
    "messages": 7,
    "bytes": 1_234_567,
    "traffic": {
        "probe": {"sent": 5, "sent_bytes": 1_234_000, "received": 4, "lost": 1, "in_flight": 0},
        "head": {"sent": 2, "sent_bytes": 567, "received": 8, "lost": 0, "in_flight": 2},
    },
    "energy_j": 12.5,
    "energy_by_cause_j": {"tx": 10.0, "rx": 2.0, "idle": 0.0, "cpu": 0.25, "sense": 0.25},
    "control_j": 1.25,
    "deaths": 1,
    "alive": 3,
    "readings": 40,
    "readings_with_value": 10,
    "fates": {"dropped": 3, "joined": 7},
    "drops": {"dead": 3, "state lost": 2},
    "results": 6,
    "mean_width": 2.5,
    "mean_delay_ms": 31.25,
    "probes": 4,
    "heads_probed": 10,
    "heads_matched": 5,
    "rounds": 1,
    "mean_heads": 2.0,
    "tracking": {
        "appeared_s": 2.0,
        "detected_s": 5.0,
        "coverage": 0.625,
        "false_alarms": 0.125,
        "inside_most": 3,
        "answer_most": 3,
    },
    "events": 100,
}


def scenario(*, motes: int, **changes: object) -> dict[str, Any]:
    """A resolved scenario, with the keys that the report reads."""
    return {
        "name": "by-hand",
        "description": "made by hand",
        "field": {"width_m": 10.0, "height_m": 10.0},
        "motes": {"count": motes},
        "clustering": {"protocol": "heed"},
        "join": {"strategy": "snjoin-star", "window_s": 5.0},
        "trace": {"partners": True},
        "phenomenon": {"kind": "gas-cloud"},
        **changes,
    }


def mote_rows(motes: int) -> list[tuple[Any, ...]]:
    """Motes on the diagonal and the sink below the field."""
    return [*((n, float(n), float(n), 20.0) for n in range(motes)), (SINK, 5.0, -2.0, None)]


def write_run(
    directory: Path,
    rows: Mapping[str, Sequence[tuple[Any, ...]]],
    *,
    motes: int = 4,
    duration_s: float = 10.0,
    values: Mapping[str, str] | None = None,
    batch: int = 1_000_000,
    name: str = "by-hand",
    inputs: Mapping[str, str] | None = None,
    **changes: object,
) -> Manifest:
    """Write a complete run directory with these rows in these tables, and no others.

    A row may be short; the omitted columns get default values.
    Further arguments replace tables of the scenario.
    """
    recorder = Recorder(directory, sorted(rows))
    for table, table_rows in rows.items():
        for position, row in enumerate(table_rows):
            further = TABLES[table][len(row) :]
            recorder.rows(table).append(
                (*row, *(None if column.nullable else NOTHING[column.kind] for column in further))
            )
            if position % batch == batch - 1:
                recorder.flush(1)
    counted, fingerprint = recorder.close()
    manifest = Manifest(
        name=name,
        seed=7,
        scenario=scenario(motes=motes, **changes),
        versions={"python": "3.11"},
        inputs=dict(inputs or {}),
        status=Status.COMPLETE,
        simulated_s=duration_s,
        wall_s=1.0,
        rows=counted,
        counts=dict(COUNTS),
        values=dict(values or {}),
        fingerprint=fingerprint,
    )
    # Counts that a recorded table determines come from it; the rest are made up.
    trace = TraceTables(directory, manifest)
    for table in RECOUNTS.keys() & rows.keys():
        columns, recount = RECOUNTS[table].columns, RECOUNTS[table].counts
        manifest.counts |= recount(trace.batches(table, *columns))
    manifest.write(directory)
    return manifest
