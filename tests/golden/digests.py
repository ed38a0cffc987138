"""Digests of values: equal for equal values of equal type, whatever file, chunk or library they came in."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Section: TypeAlias = dict[str, int | float | str | bool | None]
"""Names with their digests, or with values that are short enough to be their own."""

_BYTES: Final = 6
"""Of a digest: one change in 2^48 goes unseen."""


def table_section(table: pa.Table) -> Section:
    """The number of rows and a digest per column; an empty table is its number of rows."""
    section: Section = {"rows": table.num_rows}
    if table.num_rows:
        for name in table.column_names:
            section[name] = column_digest(table.column(name))
    return section


def json_section(content: Mapping[str, Any]) -> Section:
    """Each key with its value, or with a digest of it if it is a list or an object."""
    return {
        key: json_digest(value) if isinstance(value, list | dict) else value
        for key, value in sorted(content.items())
    }


def json_digest(value: object) -> str:
    """A digest of what JSON can say; floats count by their shortest exact text, keys in order of name."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=_BYTES).hexdigest()


def column_digest(column: pa.ChunkedArray) -> str:
    """A digest of a column's type and values in order; floats count by their bits, and null is no value."""
    digest = hashlib.blake2b(digest_size=_BYTES)
    _feed(digest, column.combine_chunks())
    return digest.hexdigest()


def _feed(digest: "hashlib.blake2b", array: pa.Array) -> None:
    kind = array.type
    digest.update(f"{_type_name(kind)}:{len(array)};".encode())
    digest.update(array.is_valid().to_numpy(zero_copy_only=False).tobytes())
    if pa.types.is_struct(kind):
        for field in array.flatten():
            _feed(digest, field)
    elif pa.types.is_list(kind):
        _feed_lengths(digest, pc.list_value_length(array))
        _feed(digest, array.flatten())
    elif pa.types.is_string(kind):
        _feed_lengths(digest, pc.binary_length(array))
        digest.update("".join(text or "" for text in array.to_pylist()).encode())
    elif pa.types.is_null(kind):
        pass
    else:
        assert pa.types.is_primitive(kind), kind
        values = array.fill_null(pa.scalar(0).cast(kind)).to_numpy(zero_copy_only=False)
        digest.update(values.astype(values.dtype.newbyteorder("<")).tobytes())


def _feed_lengths(digest: "hashlib.blake2b", lengths: pa.Array) -> None:
    digest.update(lengths.fill_null(0).to_numpy(zero_copy_only=False).astype(np.dtype("<i8")))


def _type_name(kind: pa.DataType) -> str:
    if pa.types.is_struct(kind):
        return f"struct({','.join(field.name for field in kind)})"
    return "list" if pa.types.is_list(kind) else str(kind)
