"""One column of a batch of rows: as an Arrow array, and as the bytes that digests are taken of.

Arrays are made from NumPy's buffers. `pa.array` imports pandas if it is installed, which takes longer than many runs do.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

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


def convert(column: Column, cells: Sequence[Any]) -> tuple[pa.Array, list[bytes]]:
    """The column as an array, and its content as byte strings, the same number of them whatever the rows.

    Each string gets a digest of its own, so that the division of rows into batches has no effect.
    """
    valid = None
    if None in cells:
        assert column.nullable, column.name
        valid = np.array([cell is not None for cell in cells])
    match column.kind:
        case Kind.TEXT:
            array, content = _texts(cells, valid)
        case Kind.NODES | Kind.MEMBERS:
            array, content = _lists(column.kind, cells, valid)
        case Kind.BOOL:
            array, content = _bools(cells, valid)
        case _:
            array, content = _numbers(column, cells, valid)
    if column.nullable:
        present = np.ones(len(cells), np.uint8) if valid is None else valid.astype(np.uint8)
        content.insert(0, present.tobytes())
    return array, content


def convert_cells(column: Column, cells: Cells) -> "Converted":
    """The same of cells that are arrays already."""
    valid = cells.valid
    if valid is not None and valid.all():
        valid = None
    if cells.names is None:
        numbers = cells.numbers if valid is None else np.where(valid, cells.numbers, 0)
        array, content = _whole(column, numbers, valid)
    else:
        assert valid is None, column.name
        array = _decoded(cells.numbers, cells.names)
        content = [_text_bytes(_decoded(cells.numbers, [f"{name}\0" for name in cells.names]))]
    if column.nullable:
        present = np.ones(len(cells), np.uint8) if valid is None else valid.astype(np.uint8)
        content.insert(0, present.tobytes())
    return array, content


Converted = tuple[pa.Array, list[bytes]]
Valid = NDArray[np.bool_] | None
"""Which cells are not null; None: all."""


def _numbers(column: Column, cells: Sequence[Any], valid: Valid) -> Converted:
    if valid is not None:
        cells = [0 if cell is None else cell for cell in cells]
    return _whole(column, np.array(cells) if cells else np.empty(0, np.int64), valid)


def _whole(column: Column, numbers: NDArray[Any], valid: Valid) -> Converted:
    wanted = _NUMBERS[column.kind]
    # Whole numbers only, where whole numbers belong.
    assert numbers.dtype.kind == "i" or wanted is np.float64, (column.name, numbers.dtype)
    narrow = numbers.astype(wanted, copy=False)
    assert wanted is np.float64 or np.array_equal(narrow, numbers), column.name
    return _array(ARROW_TYPES[column.kind], len(numbers), valid, narrow), [narrow.tobytes()]


def _bools(cells: Sequence[Any], valid: Valid) -> Converted:
    bools = np.fromiter((bool(cell) for cell in cells), np.bool_, len(cells))
    bits = np.packbits(bools, bitorder="little")
    return _array(pa.bool_(), len(cells), valid, bits), [bools.tobytes()]


def _texts(cells: Sequence[Any], valid: Valid) -> Converted:
    texts = cells if valid is None else ["" if cell is None else cell for cell in cells]
    joined = "".join(texts)
    data = joined.encode()
    is_ascii = len(data) == len(joined)
    lengths = map(len, texts if is_ascii else [text.encode() for text in texts])
    ends = np.cumsum(np.fromiter(lengths, np.int64, len(texts)))
    array = _array(pa.string(), len(texts), valid, _offsets(ends), np.frombuffer(data, np.uint8))
    return array, ["\0".join([*texts, ""]).encode()]


def _decoded(positions: NDArray[np.int64], names: Sequence[str]) -> pa.Array:
    """The names at these positions."""
    texts = [name.encode() for name in names]
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    data = np.frombuffer(b"".join(texts), np.uint8)
    dictionary = _array(pa.string(), len(texts), None, _offsets(ends), data)
    indices = _array(pa.int32(), len(positions), None, positions.astype(np.int32))
    return pa.DictionaryArray.from_arrays(indices, dictionary).dictionary_decode()


def _text_bytes(array: pa.Array) -> bytes:
    """All texts of an array, one after another."""
    _, offsets, data = array.buffers()
    size = int(np.frombuffer(offsets, np.int32)[len(array)])
    return bytes(memoryview(data)[:size])


def _lists(kind: Kind, cells: Sequence[Any], valid: Valid) -> Converted:
    lists = cells if valid is None else [cell or () for cell in cells]
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    count = int(lengths.sum())
    if kind is Kind.NODES:
        nodes = np.fromiter(chain.from_iterable(lists), np.int32, count)
        child = _array(pa.int32(), count, None, nodes)
        columns: list[NDArray[Any]] = [nodes]
    else:
        who, when = split_members(lists, count)
        nodes, times = np.frombuffer(who, np.int32), np.frombuffer(when, np.int64)
        columns = [nodes, times]
        parts = [_array(pa.int32(), count, None, nodes), _array(pa.int64(), count, None, times)]
        members = ARROW_TYPES[kind].value_type
        child = pa.Array.from_buffers(members, count, [None], children=parts)
    buffers = [_mask(valid), pa.py_buffer(_offsets(np.cumsum(lengths)))]
    array = pa.Array.from_buffers(ARROW_TYPES[kind], len(lists), buffers, children=[child])
    content = [lengths.astype(np.int32).tobytes()]
    return array, content + [column.tobytes() for column in columns]


def _offsets(ends: NDArray[np.int64]) -> NDArray[np.int32]:
    """Where each cell begins, and the last one ends."""
    assert not len(ends) or ends[-1] <= np.iinfo(np.int32).max, ends[-1]
    return np.append(0, ends).astype(np.int32)


def _array(arrow_type: pa.DataType, length: int, valid: Valid, *data: NDArray[Any]) -> pa.Array:
    buffers = [_mask(valid), *(pa.py_buffer(part) for part in data)]
    return pa.Array.from_buffers(arrow_type, length, buffers)


def _mask(valid: Valid) -> pa.Buffer | None:
    return None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
