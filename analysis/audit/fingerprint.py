"""The fingerprint of a trace, by its definition in docs/TRACES.md: a digest of each column's values in order, over all tables."""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.audit.run_trace import RunTrace


def fingerprint(trace: RunTrace) -> str:
    """The digest of the tables that the run directory holds."""
    whole = hashlib.blake2b(digest_size=16)
    for table in sorted(trace.manifest["rows"]):
        count, digests = _table_digests(trace, table)
        whole.update(f"{table}:{count}:{','.join(digests)};".encode())
    return whole.hexdigest()


def _table_digests(trace: RunTrace, table: str) -> tuple[int, list[str]]:
    count = 0
    digests: list[Any] = []
    for path in trace.files(table):
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            texts = [field.name for field in schema if pa.types.is_string(field.type)]
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            for batch in file.iter_batches():
                count += batch.num_rows
                for place, content in enumerate(_contents(batch, schema)):
                    _nth(digests, place).update(content)
            empty = pa.Table.from_batches([], schema=file.schema_arrow).combine_chunks()
            for batch in empty.to_batches() or [pa.RecordBatch.from_pylist([], empty.schema)]:
                for place, content in enumerate(_contents(batch, schema)):
                    _nth(digests, place).update(content)  # a table without rows has digests too
    return count, [digest.hexdigest() for digest in digests]


def _nth(digests: list[Any], place: int) -> Any:  # noqa: ANN401 - hashlib has no public type
    if place == len(digests):
        digests.append(hashlib.blake2b(digest_size=16))
    return digests[place]


def _contents(batch: pa.RecordBatch, schema: pa.Schema) -> Iterator[bytes]:
    """What is digested of each column: which cells are null, if any may be, and the cells."""
    for field, column in zip(schema, batch.columns, strict=True):
        if field.nullable:
            yield np.asarray(column.is_valid()).astype(np.uint8).tobytes()
        if pa.types.is_list(field.type):
            lengths = column.value_lengths().fill_null(0)
            yield lengths.to_numpy(zero_copy_only=False).astype(np.int32).tobytes()
            flat = column.flatten()
            parts = flat.flatten() if pa.types.is_struct(flat.type) else [flat]
            yield from (part.to_numpy(zero_copy_only=False).tobytes() for part in parts)
        elif pa.types.is_dictionary(column.type):
            words = [f"{word}\0".encode() for word in column.dictionary.to_pylist()] + [b"\0"]
            codes = column.indices.fill_null(len(words) - 1).to_pylist()
            yield b"".join(map(words.__getitem__, codes))
        else:
            plain = column.fill_null(0) if column.null_count else column
            yield plain.to_numpy(zero_copy_only=False).tobytes()
