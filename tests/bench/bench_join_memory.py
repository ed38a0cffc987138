"""Peak memory of `motejoin join` over a file of ten million rows, compared with what its window needs.

*What the window needs* is the peak memory of the same command over a file that is just one window long: the program,
the tuples of a full window in the operator's tables, one batch of input and one of output. Anything that a longer file
adds is not due to the window.

    python -m tests.bench.bench_join_memory [ROWS]
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 10_000_000
STREAMS = 20
ROWS_PER_S = 1000
WINDOW_S = 600
CHUNK_ROWS = 100_000
GOAL = 1.5

# One partner on average, as in the other benchmarks: as many values as there are tuples in a window.
VALUES = ROWS_PER_S * WINDOW_S


def main(rows: int = ROWS) -> None:
    """Print both peaks and their ratio."""
    print(
        f"motejoin join, snjoin, variable arity: {rows:,} rows of {STREAMS} streams, {ROWS_PER_S:,}/s,"
        f" window {WINDOW_S} s, {VALUES:,} values"
    )
    with TemporaryDirectory() as folder:
        window = _peak(Path(folder), ROWS_PER_S * WINDOW_S)
        whole = _peak(Path(folder), rows)
    print(f"  one window {window / 2**20:,.0f} MiB, all rows {whole / 2**20:,.0f} MiB")
    met = "met" if whole <= GOAL * window else "NOT MET"
    print(f"  {whole / window:.2f} times what the window needs, goal at most {GOAL}: {met}")


def _peak(folder: Path, rows: int) -> int:
    """Peak resident memory of the command over a file of `rows` rows, in bytes."""
    source, target = folder / "in.parquet", folder / "out.parquet"
    _write(source, rows)
    words = ["join", "--operator", "snjoin", "--arity", "variable", "--form", "latest"]
    command = [sys.executable, "-m", "scenarios", *words, "--window", f"{WINDOW_S}s"]
    with subprocess.Popen([*command, source, target], stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, process.returncode
    results = pq.ParquetFile(target).metadata.num_rows
    assert results > rows // 3, results
    unit = 1 if sys.platform == "darwin" else 1024
    return usage.ru_maxrss * unit


def _write(path: Path, rows: int) -> None:
    draws = np.random.default_rng(1)
    names = pa.array([f"sensor-{number}" for number in range(STREAMS)])
    schema = pa.schema([("stream", pa.string()), ("value", pa.int64()), ("at_us", pa.int64())])
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, rows, CHUNK_ROWS):
            count = min(CHUNK_ROWS, rows - first)
            streams = names.take(pa.array(draws.integers(0, STREAMS, count)))
            times_us = np.arange(first, first + count) * (1_000_000 // ROWS_PER_S)
            values = pa.array(draws.integers(0, VALUES, count))
            writer.write_table(pa.table([streams, values, pa.array(times_us)], schema=schema))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
