"""Files, rows, fingerprint and node numbers."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.audit.fingerprint import fingerprint
from analysis.audit.registry import Violation, check
from analysis.audit.run_trace import NULL, RunTrace
from sim.trace.tables import TABLES, Kind

_NODES = ("node", "source", "target", "head", "origin", "origin_head", "via", "up", "region")


def damaged_files(trace: RunTrace) -> Iterator[Violation]:
    """Files that cannot be read; no other check is possible then."""
    for table in trace.manifest["rows"]:
        for path in trace.files(table):
            try:
                pq.read_table(path)
            except (OSError, pa.ArrowException) as fault:
                name = path.relative_to(trace.directory)
                yield Violation(f"{name} cannot be read: {str(fault).splitlines()[0]}")


def wrong_rows(trace: RunTrace) -> Iterator[Violation]:
    """Tables that are missing, unknown, or have another number of rows than the manifest says."""
    for table, rows in trace.manifest["rows"].items():
        files = trace.files(table)
        if table not in TABLES:
            yield Violation(f"the manifest has rows of {table}, which is no table of a trace")
        elif not files:
            yield Violation(f"trace/{table} has no file; expected {rows:,} rows")
        else:
            found = sum(pq.read_metadata(path).num_rows for path in files)
            if found != rows:
                yield Violation(f"trace/{table} has {found:,} rows, the manifest says {rows:,}")
    written = {path.name for path in (trace.directory / "trace").iterdir()}
    for table in sorted(written - trace.manifest["rows"].keys()):
        yield Violation(f"trace/{table} is there, but not in the manifest")


@check("fingerprint")
def fingerprint_differs(trace: RunTrace) -> Iterator[Violation]:
    """The manifest's fingerprint is that of the tables."""
    found = fingerprint(trace)
    if found != trace.manifest["fingerprint"]:
        said = trace.manifest["fingerprint"]
        yield Violation(f"the fingerprint of the tables is {found}, the manifest says {said}")


@check("nodes")
def unknown_nodes(trace: RunTrace) -> Iterator[Violation]:
    """Every node is the sink or a mote of the scenario."""
    for table in sorted(trace.manifest["rows"]):
        for column in TABLES[table]:
            if column.kind in {Kind.NODES, Kind.MEMBERS}:
                nodes = trace.lists(table, column.name).nodes
            elif column.kind is Kind.INT32 and column.name in _NODES:
                nodes = trace.column(table, column.name)
            else:
                continue
            unknown = (nodes != NULL) & ((nodes < -1) | (nodes >= trace.motes))
            if unknown.any():
                first = int(nodes[np.argmax(unknown)])
                text = f"{table}.{column.name} has node {first}; expected -1 to {trace.motes - 1}"
                yield Violation(text, int(unknown.sum()))
