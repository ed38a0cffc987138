"""The Spark schema of every trace table, made from `sim.trace.tables`: nothing is inferred from files."""

from typing import Final

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from sim.trace.tables import TABLES, Kind

_TYPES: Final[dict[Kind, DataType]] = {
    Kind.INT32: IntegerType(),
    Kind.INT64: LongType(),
    Kind.FLOAT64: DoubleType(),
    Kind.BOOL: BooleanType(),
    Kind.TEXT: StringType(),
    Kind.NODES: ArrayType(IntegerType()),
    Kind.MEMBERS: ArrayType(
        StructType([StructField("node", IntegerType()), StructField("at_us", LongType())])
    ),
}

RUNS: Final = StructType(
    [
        StructField("run", StringType(), nullable=False),
        StructField("name", StringType(), nullable=False),
        StructField("strategy", StringType()),
        StructField("protocol", StringType()),
        StructField("motes", IntegerType()),
        StructField("seed", LongType(), nullable=False),
        StructField("simulated_s", DoubleType(), nullable=False),
        StructField("window_us", LongType()),
        StructField("arity", StringType()),
        StructField("answer", StringType(), nullable=False),
        StructField("delay_s", DoubleType(), nullable=False),
        StructField("delay_us", LongType(), nullable=False),
        StructField("end_us", LongType(), nullable=False),
        StructField("probe_ends", LongType(), nullable=False),
        StructField("recorded", ArrayType(StringType(), containsNull=False), nullable=False),
    ]
)
"""One row per run, from its manifest; `recorded` lists the trace tables that the run wrote."""


def table_schema(table: str) -> StructType:
    """The schema of a trace table as in its files."""
    return StructType([StructField(c.name, _TYPES[c.kind], c.nullable) for c in TABLES[table]])
