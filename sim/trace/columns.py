"""One column of a batch of rows: as an Arrow array, and as the bytes that digests are taken of.

Arrays are made from NumPy's buffers. `pa.array` imports pandas if it is installed, which takes longer than many runs do.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sim.trace.cell_arrays import nodes_of, reals, whole_numbers, words
from sim.trace.cells import Cells
from sim.trace.members import split_members
from sim.trace.tables import Column, Kind

ARROW_TYPES: Final[dict[Kind, pa.DataType]] = {
    Kind.INT32: pa.int32(),
    Kind.INT64: pa.int64(),
    Kind.FLOAT64: pa.float64(),
    Kind.BOOL: pa.bool_(),
    Kind.TEXT: pa.string(),
    Kind.NODES: pa.list_(pa.int32()),
    Kind.MEMBERS: pa.list_(pa.struct([("node", pa.int32()), ("at_us", pa.int64())])),
}

_NUMBERS: Final = {Kind.INT32: np.int32, Kind.INT64: np.int64, Kind.FLOAT64: np.float64}


def convert(column: Column, cells: Sequence[Any]) -> "Converted":
    """The column as an array, and its content as byte strings, the same number of them whatever the rows.

    Each string gets a digest of its own, so that the division of rows into batches has no effect.
    """
    if column.kind in {Kind.NODES, Kind.MEMBERS}:
        return _convert_lists(column, cells)
    return convert_cells(column, _as_arrays(column.kind, cells))


def convert_cells(column: Column, cells: Cells) -> "Converted":
    """The same of cells that are arrays already."""
    valid = cells.valid
    if valid is not None and valid.all():
        valid = None
    numbers = cells.numbers if valid is None else np.where(valid, cells.numbers, 0)
    if cells.names is not None:
        assert valid is None or cells.names[0] == "", (
            column.name,
            cells.names,
        )  # what null counts as
        array = _decoded(numbers, cells.names, valid)
        content = _text_bytes(_decoded(numbers, [f"{name}\0" for name in cells.names]))
    elif column.kind is Kind.BOOL:
        bools = numbers.astype(np.bool_)
        bits = np.packbits(bools, bitorder="little")
        array, content = _array(pa.bool_(), len(bools), valid, bits), bools.tobytes()
    else:
        narrow = numbers.astype(_NUMBERS[column.kind], copy=False)
        assert narrow is numbers or np.array_equal(narrow, numbers), column.name
        array = _array(ARROW_TYPES[column.kind], len(narrow), valid, narrow)
        content = narrow.tobytes()
    return array, [*_presence(column, len(numbers), valid), content]


Converted = tuple[pa.Array, list[bytes]]
Valid = NDArray[np.bool_] | None
"""Which cells are not null; None: all."""


def _as_arrays(kind: Kind, cells: Sequence[Any]) -> Cells:
    names: list[str] | None = None
    numbers: NDArray[Any]
    match kind:
        case Kind.TEXT:
            positions, names, present, nulls = words(cells)
            numbers = np.frombuffer(positions, np.int64)
        case Kind.FLOAT64:
            floats, present, nulls = reals(cells)
            numbers = np.frombuffer(floats, np.float64)
        case _:
            whole, present, nulls = whole_numbers(cells)
            numbers = np.frombuffer(whole, np.int64)
    return Cells(numbers, np.frombuffer(present, np.bool_) if nulls else None, names)


def _presence(column: Column, rows: int, valid: Valid) -> list[bytes]:
    """For a column that may have nulls: which cells are there."""
    assert valid is None or column.nullable, column.name
    if not column.nullable:
        return []
    return [b"\1" * rows if valid is None else valid.tobytes()]


def _decoded(positions: NDArray[Any], names: Sequence[str], valid: Valid = None) -> pa.Array:
    """The names at these positions."""
    texts = [name.encode() for name in names]
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    data = np.frombuffer(b"".join(texts), np.uint8)
    dictionary = _array(pa.string(), len(texts), None, _offsets(ends), data)
    indices = _array(pa.int32(), len(positions), valid, positions.astype(np.int32))
    return pa.DictionaryArray.from_arrays(indices, dictionary).dictionary_decode()


def _text_bytes(array: pa.Array) -> bytes:
    """All texts of an array, one after another."""
    _, offsets, data = array.buffers()
    size = int(np.frombuffer(offsets, np.int32)[len(array)])
    return bytes(memoryview(data)[:size])


def _convert_lists(column: Column, cells: Sequence[Any]) -> Converted:
    valid = None
    if None in cells:
        valid = np.array([cell is not None for cell in cells])
        cells = [cell or () for cell in cells]
    lengths = np.fromiter(map(len, cells), np.int64, len(cells))
    count = int(lengths.sum())
    if column.kind is Kind.NODES:
        nodes = np.frombuffer(nodes_of(cells, count), np.int32)
        child = _array(pa.int32(), count, None, nodes)
        columns: list[NDArray[Any]] = [nodes]
    else:
        who, when = split_members(cells, count)
        nodes, times = np.frombuffer(who, np.int32), np.frombuffer(when, np.int64)
        columns = [nodes, times]
        parts = [_array(pa.int32(), count, None, nodes), _array(pa.int64(), count, None, times)]
        members = ARROW_TYPES[column.kind].value_type
        child = pa.Array.from_buffers(members, count, [None], children=parts)
    buffers = [_mask(valid), pa.py_buffer(_offsets(np.cumsum(lengths)))]
    array = pa.Array.from_buffers(ARROW_TYPES[column.kind], len(cells), buffers, children=[child])
    content = [lengths.astype(np.int32).tobytes(), *(part.tobytes() for part in columns)]
    return array, [*_presence(column, len(cells), valid), *content]


def _offsets(ends: NDArray[np.int64]) -> NDArray[np.int32]:
    """Where each cell begins, and the last one ends."""
    assert not len(ends) or ends[-1] <= np.iinfo(np.int32).max, ends[-1]
    return np.append(0, ends).astype(np.int32)


def _array(arrow_type: pa.DataType, length: int, valid: Valid, *data: NDArray[Any]) -> pa.Array:
    buffers = [_mask(valid), *(pa.py_buffer(part) for part in data)]
    return pa.Array.from_buffers(arrow_type, length, buffers)


def _mask(valid: Valid) -> pa.Buffer | None:
    return None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
