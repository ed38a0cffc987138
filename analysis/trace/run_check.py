"""Checks that a run directory is complete: a valid manifest, and a trace with the rows that it lists."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.trace.scenario import scenario_key
from sim.errors import TraceError
from sim.trace.manifest import Manifest, read_complete
from sim.trace.tables import TABLES, AnswerLevel


def check_run(directory: Path) -> Manifest:
    """The manifest of a complete run directory, after a check that its trace has all rows.

    Raises:
        TraceError: the directory is not complete.
    """
    manifest = read_complete(directory)
    _check_tables(directory, manifest)
    _check_scenario(directory, manifest)
    return manifest


def trace_parts(directory: Path, table: str) -> list[Path]:
    """The files of a table."""
    return sorted((directory / "trace" / table).glob("part-*.parquet"))


def _check_tables(directory: Path, manifest: Manifest) -> None:
    """Reject a trace that has more or fewer rows than its manifest lists."""
    for table, count in manifest.rows.items():
        if table not in TABLES:
            continue
        parts = trace_parts(directory, table)
        if not parts:
            raise TraceError(f"{directory}: no trace/{table}/part-*.parquet, expected {count} rows")
        try:
            found = sum(pq.read_metadata(part).num_rows for part in parts)
        except (pa.ArrowException, OSError) as fault:
            raise TraceError(f"{directory}: trace/{table} cannot be read ({fault})") from fault
        if found != count:
            raise TraceError(f"{directory}: trace/{table} has {found} rows, expected {count}")


def _check_scenario(directory: Path, manifest: Manifest) -> None:
    """Reject a manifest that metrics cannot be computed from."""
    if not manifest.simulated_s > 0:
        raise TraceError(
            f"{directory}: simulated_s = {manifest.simulated_s} in its manifest, expected more than 0"
        )
    for key in ("window_s", "delay_s"):
        number = scenario_key(manifest.scenario, "join", key)
        if number is not None and not isinstance(number, (int, float)):
            raise TraceError(
                f"{directory}: join.{key} = {number!r} in its manifest, expected a number"
            )
    levels = [level.value for level in AnswerLevel]
    answer = scenario_key(manifest.scenario, "join", "answer")
    if answer is not None and answer not in levels:
        raise TraceError(
            f"{directory}: join.answer = {answer!r} in its manifest, expected one of {', '.join(levels)}"
        )
    motes, rows = scenario_key(manifest.scenario, "motes", "count"), manifest.rows.get("motes")
    if rows and motes != rows - 1:  # the sink has a row too
        raise TraceError(
            f"{directory}: motes.count = {motes!r} in its manifest, expected {rows - 1} as in its trace"
        )
