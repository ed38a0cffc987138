"""FROM SENSORS: streams whose columns differ in type, and readings without a sensor."""

import pytest

from join.dsms.catalog import Catalog, StreamSchema, Type
from join.dsms.engine import Engine
from join.dsms.language.errors import QueryError

SQL = "SELECT x, arity, sensors FROM SENSORS JOIN ON x WINDOW 1 s"


def engine(**kinds: Type) -> Engine:
    """Streams, by name, of readings `x` of a type."""
    catalog = Catalog()
    for name, kind in kinds.items():
        columns = {"x": kind, "node": Type.INTEGER, "at_us": Type.INTEGER}
        catalog.add_stream(StreamSchema(name, columns))
    return Engine(catalog)


@pytest.mark.parametrize("kinds", [(Type.INTEGER, Type.REAL), (Type.REAL, Type.INTEGER)])
def test_whole_numbers_in_one_stream_and_real_ones_in_another_are_real(
    kinds: tuple[Type, Type],
) -> None:
    sensors = engine(A=kinds[0], B=kinds[1])
    query = sensors.add_query("q", SQL)
    assert query.columns["x"] is Type.REAL
    outputs = sensors.arrive("A", (7, 1, 0), 0)
    outputs += sensors.arrive("B", (7.0, 2, 1), 1)
    outputs += sensors.advance(1)
    assert [output.row for output in outputs] == [(7, 2, (1, 2))]


@pytest.mark.parametrize("other", [Type.TEXT, Type.BOOLEAN, Type.OTHER])
def test_streams_whose_values_cannot_be_compared_are_rejected_and_named(other: Type) -> None:
    with pytest.raises(QueryError) as caught:
        engine(A=Type.INTEGER, B=other).add_query("q", SQL)
    (fault,) = caught.value.faults
    assert (fault.at.line, fault.at.column) == (1, 31)
    assert fault.message == f"x is integer in A, {other} in B: these cannot be compared"


def test_a_reading_that_arrives_before_its_time_joins_at_that_time() -> None:
    sensors = engine(A=Type.INTEGER)
    sensors.add_query("q", SQL)
    outputs = sensors.arrive("A", (7, 1, 1_500_000), 1_500_000, now_us=300_000)
    # More than the window before the first one's time.
    outputs += sensors.arrive("A", (7, 2, 400_000), 400_000, now_us=400_000)
    outputs += sensors.arrive("A", (7, 3, 600_000), 600_000, now_us=600_000)
    outputs += sensors.advance(1_550_000)
    assert [(output.at_us, output.change.value, *output.row) for output in outputs] == [
        (600_000, "+", 7, 2, (2, 3)),
        (1_400_001, "-", 7, 2, (2, 3)),
        (1_500_000, "+", 7, 2, (1, 3)),
    ]


def test_a_reading_without_a_sensor_joins_nothing() -> None:
    sensors = engine(A=Type.INTEGER)
    sensors.add_query("q", SQL)
    outputs = sensors.arrive("A", (7, 1, 0), 0)
    outputs += sensors.arrive("A", (7, None, 1), 1)
    assert outputs == []
    assert not sensors.arrive("A", (7, 2, 2), 2)
    (output,) = sensors.advance(2)
    assert output.row == (7, 2, (1, 2))
