"""PWindow Example 1 and the queries of §1 and §3 over it: run on our engine, second by second."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from join.dsms.catalog import Catalog, StreamSchema, Type
from join.dsms.changes import Delta, Row
from join.dsms.engine import Engine
from join.dsms.operators.aggregate_registry import aggregate_named
from join.dsms.operators.group_by import Aggregate, GroupBy
from join.dsms.windows.predicate_window import PredicateWindow
from join.dsms.windows.sliding import PartitionWindow, Window
from sim.units import US_PER_S

COLUMNS: Final = {
    "SensorID": Type.INTEGER,
    "Temperature": Type.REAL,
    "at_us": Type.INTEGER,
}

# §1.1: <SensorID, Temperature, TimeStamp>
EXAMPLE_1: Final = ((2, 88, 1), (2, 92, 2), (3, 91, 3), (1, 95, 4), (2, 89, 5), (3, 95, 6))
LATER: Final = ((1, 80, 7), (3, 80, 8))
"""Ours: sensor 1 cools down before sensor 3, which came first."""
END_S: Final = 8

HOT: Final = "S.Temperature > 90"
QUERIES: Final = {
    "q1": f"SELECT S.SensorID FROM Sensors S [PWINDOW {HOT} ON S.SensorID]",
    "q2": f"SELECT S.SensorID FROM Sensors S [RANGE 5 s] WHERE {HOT}",
    "where": f"SELECT S.SensorID FROM Sensors S WHERE {HOT}",
    "partition-window": f"SELECT S.SensorID FROM Sensors S [PARTITION BY S.SensorID ROWS 1 WHERE {HOT}]",
    "partition-query": f"SELECT S.SensorID, S.Temperature FROM Sensors S [PARTITION BY S.SensorID ROWS 1] WHERE {HOT}",
    "now": f"SELECT S.SensorID FROM Sensors S [NOW] WHERE {HOT}",
    "range": "SELECT S.SensorID FROM Sensors S [RANGE 3 s]",
    "dynamic": "SELECT S.SensorID FROM Sensors S [PWINDOW S.at_us >= NOW - 3 s ON at_us]",
    **{
        f"range-{half / 2:g}": f"SELECT S.SensorID FROM Sensors S [RANGE {500 * half} ms] WHERE {HOT}"
        for half in range(1, 21)
    },
}
"""§1.1 (Q1, Q2), §3.1 to §3.4, §4.3, and sliding windows of half a second to ten."""


def rows_of(tuples: Sequence[tuple[int, int, int]]) -> list[Row]:
    """The rows of a sequence of tuples."""
    return [(sensor, float(hot), at_s * US_PER_S) for sensor, hot, at_s in tuples]


def catalog() -> Catalog:
    """The stream of the example."""
    known = Catalog()
    known.add_stream(StreamSchema("Sensors", COLUMNS))
    return known


def play(sql: str, tuples: Sequence[tuple[int, int, int]]) -> list[tuple[int, str, str]]:
    """For each second: the sensors in the answer, and the changes since the second before."""
    engine = Engine(catalog())
    engine.add_query("q", sql)
    inside: Counter[object] = Counter()
    shown = []
    rows = rows_of(tuples)
    for at_s in range(1, END_S + 1):
        outputs = []
        for row in rows:
            if row[2] == at_s * US_PER_S:
                outputs += engine.arrive("Sensors", row, at_s * US_PER_S)
        outputs += engine.advance(at_s * US_PER_S)
        changes = []
        for output in outputs:
            changes.append(f"{output.change.value}{output.row[0]}")
            if output.old is not None:
                inside[output.old[0]] -= 1
            inside[output.row[0]] += -1 if output.change == "-" else 1
        answer = sorted(str(sensor) for sensor, count in inside.items() if count > 0)
        shown.append((at_s, " ".join(answer), " ".join(changes)))
    return shown


def counts(window: Window) -> list[int]:
    """COUNT(*) as an operator shows it that handles one change after the other (§3.3.2), for ten hot sensors, then one again."""
    rows = rows_of([(sensor, 95, sensor + 1) for sensor in range(10)] + [(3, 96, 11)])
    function = aggregate_named("COUNT")
    assert function is not None
    grouped = GroupBy(None, [Aggregate(function.make, _sensor)])
    shown: list[int] = []
    for row in rows:
        at_us = row[2]
        assert isinstance(at_us, int)
        for delta in window.insert(row, at_us, at_us):
            shown += [_number(change) for change in grouped.apply([delta])]
    return shown


def _number(change: Delta) -> int:
    assert change.new is not None
    count = change.new[0]
    assert isinstance(count, int)
    return count


def windows() -> dict[str, Window]:
    """The two windows whose counts §3.3.2 compares."""
    return {
        "partition": PartitionWindow(_sensor, 1),
        "predicate": PredicateWindow(enters=_is_hot, key=_sensor),
    }


def _sensor(row: Row) -> object:
    return row[0]


def _is_hot(row: Row) -> bool:
    temperature = row[1]
    assert isinstance(temperature, float)
    return temperature > 90


def selectivities(tuples: Sequence[tuple[int, int, int]]) -> tuple[float, float]:
    """Positive and negative selectivity of Q1's window (§5.2)."""
    window = PredicateWindow(enters=_is_hot, key=_sensor)
    for row in rows_of(tuples):
        at_us = row[2]
        assert isinstance(at_us, int)
        window.insert(row, at_us, at_us)
    return window.stats.positive, window.stats.negative


def evaluations(queries: int, *, different: bool) -> int:
    """How often the predicate is evaluated by so many queries over Example 1, with one window or each with its own."""
    known = catalog()
    called = [0]

    def hot(temperature: float) -> bool:
        called[0] += 1
        return temperature > 90

    call: Callable[..., object] = hot
    known.add_function("hot", call, 1)
    engine = Engine(known)
    for number in range(queries):
        # An addition of nothing makes the window another one.
        extra = f" + {number} - {number}" if different else ""
        sql = f"SELECT S.SensorID FROM Sensors S [PWINDOW hot(S.Temperature{extra}) ON S.SensorID]"
        engine.add_query(f"q{number}", sql)
    for row in rows_of(EXAMPLE_1):
        at_us = row[2]
        assert isinstance(at_us, int)
        engine.arrive("Sensors", row, at_us)
    engine.finish()
    return called[0]
