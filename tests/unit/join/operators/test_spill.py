"""Spilled tuples come back as they were, whatever their types, from files that hold data only."""

import datetime as dt
import tempfile
from pathlib import Path

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from join.operators.spill import DiskPart, Spilled

VALUES = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.text(),
    st.floats(allow_nan=False),
    st.booleans(),
    st.binary(),
    st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-1000, max_value=1000),
    st.datetimes(min_value=dt.datetime(1700, 1, 1), max_value=dt.datetime(2200, 1, 1)),
    st.dates(min_value=dt.date(1700, 1, 1)),
)
TIMES = st.integers(0, 2**62)
STREAMS = st.one_of(st.text(), st.integers(0, 2**31))
TUPLES = st.builds(Spilled, st.tuples(TIMES, TIMES, STREAMS, VALUES), TIMES, st.booleans())


@given(st.lists(TUPLES, max_size=30), st.integers(1, 7))
def test_tuples_come_back_in_order_with_their_types(tuples: list[Spilled], batch: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        part = DiskPart(Path(folder) / "part.spill", lambda _: 10, batch)
        for each in tuples:
            part.append(each)
        found = part.read()
    assert found == tuples
    types = [[type(cell) for cell in spilled.record] for spilled in tuples]
    assert [[type(cell) for cell in spilled.record] for spilled in found] == types


def test_a_file_of_spilled_tuples_is_arrow(tmp_path: Path) -> None:
    part = DiskPart(tmp_path / "part.spill", lambda _: 10, 1)
    part.append(Spilled((1, 2, "A", "v"), 3, True))
    with (tmp_path / "part.spill").open("rb") as file:
        assert int.from_bytes(file.read(4), "little") == 1
        with pa.ipc.open_stream(file) as reader:
            (row,) = reader.read_all().to_pylist()
    assert row["value"] == "v"
