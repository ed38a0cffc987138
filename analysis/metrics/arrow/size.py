"""How large a run is for those who hold its pairs in memory."""

from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.trace.run_check import trace_parts
from sim.errors import TraceError
from sim.trace.manifest import Manifest

LISTINGS_MAX: Final = 50_000_000
"""Partners listed by a run's results up to which one process computes its recall."""

_LISTED: Final = "partners.list.element.node"


def listings(directory: Path, manifest: Manifest) -> int:
    """About how many partners a run's results list, from the footers of its files.

    Raises:
        TraceError: a file cannot be read.
    """
    if "results" not in manifest.rows:
        return 0
    count = 0
    for part in trace_parts(directory, "results"):
        try:
            footer = pq.read_metadata(part)
        except (OSError, pa.ArrowException) as fault:
            raise TraceError(f"{part}: cannot be read ({fault})") from fault
        count += listed(footer)
    return count


def listed(footer: pq.FileMetaData) -> int:
    """About how many partners the results of one file list, from its footer."""
    columns = [footer.schema.column(place).path for place in range(footer.num_columns)]
    place = columns.index(_LISTED)
    groups = range(footer.num_row_groups)
    # A row without partners counts as one.
    return sum(footer.row_group(group).column(place).num_values for group in groups)
