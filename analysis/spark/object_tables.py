"""Parquet files of an object store as Spark frames, read by Python in the tasks.

Spark itself reads such stores only with connectors that do not ship with it (`hadoop-aws` and others), configured apart.
Tasks read them by our own client instead, the one that wrote them, with the same credentials. What they cannot do is leave
out columns and rows that a query does not need: for many queries over large traces, use Spark's own connector.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from analysis.store.place import Place, place
from analysis.store.reading import opened

RUN: Final = "run"
_FILES: Final = StructType([StructField("file", StringType()), StructField(RUN, StringType())])
_BATCH_ROWS: Final = 50_000
_TASKS_MAX: Final = 200
"""Tasks for the files of a table: as many as Spark's default for shuffles."""


def read_objects(
    spark: SparkSession, files: Sequence[tuple[Place, str | None]], schema: StructType
) -> DataFrame:
    """The rows of files with the columns of `schema`, those that a file lacks as null.

    A file's run, if it is given, fills the column `run`.
    """
    arrow = to_arrow_schema(schema)

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for entry in batch.to_pylist():
                yield from file_rows(entry["file"], entry[RUN], arrow)

    listed = [(str(file), run) for file, run in files]
    columns = list(zip(*listed, strict=True)) or [(), ()]
    table = pa.table([pa.array(cells, pa.string()) for cells in columns], to_arrow_schema(_FILES))
    frame = spark.createDataFrame(table, _FILES)
    if len(listed) > 1:
        frame = frame.repartition(min(len(listed), _TASKS_MAX))
    return frame.mapInArrow(rows, schema)


def file_rows(file: str, run: str | None, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of one file in the columns and types of `schema`."""
    with opened(place(file)) as content:
        parquet = pq.ParquetFile(content)
        names = [name for name in schema.names if name in parquet.schema_arrow.names]
        for batch in parquet.iter_batches(_BATCH_ROWS, columns=names):
            arrays = []
            for field in schema:
                if field.name in names:
                    arrays.append(batch.column(field.name).cast(field.type))
                elif field.name == RUN:
                    arrays.append(pa.array([run] * len(batch), field.type))
                else:
                    arrays.append(pa.nulls(len(batch), field.type))
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)
