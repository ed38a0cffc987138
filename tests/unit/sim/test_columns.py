"""Columns made from buffers are what Arrow itself makes of the same cells."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.trace.columns import ARROW_TYPES, convert
from sim.trace.tables import Column, Kind

INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
CELLS: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.INT32: INT32,
    Kind.INT64: INT64,
    Kind.FLOAT64: st.floats(allow_nan=False) | st.integers(-9, 9),
    Kind.BOOL: st.booleans(),
    Kind.TEXT: st.text(),
    Kind.NODES: st.lists(INT32, max_size=4),
    Kind.MEMBERS: st.lists(st.tuples(INT32, INT64), max_size=4),
}


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("nullable", [False, True], ids=["required", "nullable"])
@given(data=st.data())
def test_an_array_is_the_one_that_arrow_makes(
    kind: Kind, nullable: bool, data: st.DataObject
) -> None:
    cell = CELLS[kind] | st.none() if nullable else CELLS[kind]
    cells = data.draw(st.lists(cell, max_size=20))
    array, _ = convert(Column("c", kind, nullable), cells)
    array.validate(full=True)
    assert array.equals(pa.array(cells, ARROW_TYPES[kind]))


@pytest.mark.parametrize("kind", Kind)
@given(data=st.data())
def test_content_says_what_the_cells_are_and_batches_add_up(
    kind: Kind, data: st.DataObject
) -> None:
    column = Column("c", kind, nullable=True)
    cells = st.lists(CELLS[kind] | st.none(), max_size=8)
    one, other = data.draw(cells), data.draw(cells)
    parts = [convert(column, rows)[1] for rows in (one, other)]
    whole = convert(column, one + other)[1]
    assert [b"".join(pair) for pair in zip(*parts, strict=True)] == whole
    valid, *values = whole
    assert list(valid) == [cell is not None for cell in one + other]
    match kind:
        case Kind.TEXT:
            assert values == ["".join(f"{text or ''}\0" for text in one + other).encode()]
        case Kind.INT64:
            assert values == [np.array([n or 0 for n in one + other], np.int64).tobytes()]


@pytest.mark.parametrize(
    ("kind", "cells"),
    [(Kind.INT64, [1.5]), (Kind.INT32, [2**31]), (Kind.INT32, [None])],
    ids=["a fraction", "too large", "missing"],
)
def test_a_cell_that_does_not_belong_is_refused(kind: Kind, cells: list[Any]) -> None:
    with pytest.raises(AssertionError):
        convert(Column("c", kind), cells)
