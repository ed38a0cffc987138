"""Every query printed in the papers, adapted in names only, on a stream small enough to check by hand."""

from collections.abc import Sequence

import pytest

from join.dsms.catalog import Catalog, StreamSchema, Table, Type
from join.dsms.changes import Row
from join.dsms.engine import Engine

S = 1_000_000
"""Microseconds in a second."""

Changes = list[tuple[float, str, Row]]

Arrivals = Sequence[tuple[str, int, Row]]
"""Stream, seconds and values."""


def catalog(*streams: str, **columns: Type) -> Catalog:
    made = Catalog()
    for stream in streams:
        made.add_stream(StreamSchema(stream, {**columns, "at_us": Type.INTEGER}))
    return made


def changes_of(known: Catalog, sql: str, arrivals: Arrivals, until_s: int = 0) -> Changes:
    """The changes of a query's result as (seconds, kind, row)."""
    engine = Engine(known)
    engine.add_query("q", sql)
    outputs = []
    for stream, at_s, values in arrivals:
        outputs += engine.arrive(stream, (*values, at_s * S), at_s * S)
    outputs += engine.advance(until_s * S)
    return [(o.at_us / S, o.change.value, o.row) for o in outputs]


def found(changes: Changes) -> list[tuple[float, Row]]:
    """The results with the time each was found: a W-join's output stream is its additions."""
    return [(at_s, row) for at_s, change, row in changes if change == "+"]


# PWindow: Example 1 and its variants. <SensorID, Temperature, TimeStamp>

EXAMPLE_1 = [
    ("Sensors", at_s, (sensor, float(temperature)))
    for sensor, temperature, at_s in [
        (2, 88, 1),
        (2, 92, 2),
        (3, 91, 3),
        (1, 95, 4),
        (2, 89, 5),
        (3, 95, 6),
    ]
]


def example_1(sql: str, until_s: int = 0) -> Changes:
    known = catalog("Sensors", SensorID=Type.INTEGER, Temperature=Type.REAL)
    return changes_of(known, sql, EXAMPLE_1, until_s)


def answer_at_6(changes: Changes) -> list[object]:
    """The sensors in the result after the sixth tuple."""
    inside: list[object] = []
    for _, change, row in changes:
        if change == "+":
            inside.append(row[0])
        elif change == "-":
            inside.remove(row[0])
    return sorted(inside)  # type: ignore[type-var]


def test_pwindow_q1_the_answer_at_time_6_is_sensors_1_and_3() -> None:
    changes = example_1(
        "SELECT S.SensorID FROM Sensors S [PWINDOW S.Temperature > 90 ON S.SensorID]"
    )
    assert changes == [
        (2, "+", (2,)),
        (3, "+", (3,)),
        (4, "+", (1,)),
        (5, "-", (2,)),
        (6, "u", (3,)),
    ]
    assert answer_at_6(changes) == [1, 3]


def test_pwindow_3_1_where_never_removes_a_sensor() -> None:
    changes = example_1("SELECT S.SensorID FROM Sensors S WHERE S.Temperature > 90")
    assert changes == [(2, "+", (2,)), (3, "+", (3,)), (4, "+", (1,)), (6, "+", (3,))]


def test_pwindow_q2_a_sliding_window_keeps_sensor_2_until_it_is_old() -> None:
    changes = example_1("SELECT S.SensorID FROM Sensors S [RANGE 5 s] WHERE S.Temperature > 90", 8)
    assert answer_at_6([c for c in changes if c[0] <= 6]) == [1, 2, 3, 3]
    # The paper's open window drops the row at 7, our closed one just after it.
    assert changes[-1] == (7.000001, "-", (2,))


def test_pwindow_3_3_1_a_partitioned_window_predicate_keeps_the_last_hot_reading() -> None:
    changes = example_1(
        "SELECT S.SensorID FROM Sensors S [Partition By S.SensorID Rows 1 WHERE S.Temperature > 90]"
    )
    assert answer_at_6(changes) == [1, 2, 3]
    assert not [c for c in changes if c[0] == 5]


def test_pwindow_3_3_2_a_partitioned_window_with_a_query_predicate_does_not_confirm_a_sensor() -> (
    None
):
    changes = example_1(
        "SELECT S.SensorID FROM Sensors S [Partition By S.SensorID ROWS 1] WHERE S.Temperature > 90"
    )
    assert answer_at_6(changes) == [1, 3]
    # The row that leaves and the one that comes are equal here, so that the answer does not change.
    assert [c for c in changes if c[0] == 6] == []


@pytest.mark.parametrize(
    "window", ["[Partition By S.SensorID ROWS 1]", "[PWINDOW S.Temperature > 90 ON S.SensorID]"]
)
def test_pwindow_3_3_2_the_count_never_shows_the_transient_value(window: str) -> None:
    known = catalog("Sensors", SensorID=Type.INTEGER, Temperature=Type.REAL)
    arrivals = [("Sensors", n, (n, 95.0)) for n in range(10)] + [("Sensors", 10, (3, 96.0))]
    sql = f"SELECT COUNT(*) FROM Sensors S {window} WHERE S.Temperature > 90"
    counts = [row[0] for _, _, row in changes_of(known, sql, arrivals)]
    assert counts == list(range(1, 11))


def test_pwindow_3_4_now_shows_the_sensors_of_this_instant() -> None:
    changes = example_1("SELECT S.SensorID FROM Sensors S [NOW] WHERE S.Temperature > 90")
    assert changes[:3] == [(2, "+", (2,)), (2.000001, "-", (2,)), (3, "+", (3,))]
    assert answer_at_6(changes) == [3]


def test_pwindow_4_2_persons_in_alert_rooms_also_as_the_rooms_change() -> None:
    known = catalog("Rfid", PersonID=Type.TEXT, RoomID=Type.INTEGER)
    known.add_table(Table("AlertValues", {"RoomID": Type.INTEGER}, [(7,)]))
    engine = Engine(known)
    engine.add_query(
        "q", "SELECT R.PersonID FROM Rfid R [PWINDOW R.RoomID IN AlertValues ON R.PersonID]"
    )
    outputs = engine.arrive("Rfid", ("ann", 7, 1), 1)
    outputs += engine.arrive("Rfid", ("bob", 8, 2), 2)
    outputs += engine.change_table("AlertValues", 3, insert=[(8,)])
    outputs += engine.arrive("Rfid", ("ann", 9, 4), 4)
    outputs += engine.change_table("AlertValues", 5, delete=[(8,)])
    outputs += engine.advance(5)
    assert [(o.at_us, o.change.value, o.row[0]) for o in outputs] == [
        (1, "+", "ann"),
        (3, "+", "bob"),
        (4, "-", "ann"),
        (5, "-", "bob"),
    ]


def test_pwindow_4_3_a_sliding_window_as_a_dynamic_predicate() -> None:
    changes = example_1(
        "SELECT S.SensorID FROM Sensors S PWINDOW S.at_us > NOW - 5 s ON S.at_us", until_s=7
    )
    assert [c for c in changes if c[1] == "-"] == [(6, "-", (2,)), (7, "-", (2,))]
    assert len([c for c in changes if c[1] == "+"]) == 6


def test_pwindow_4_4_in_and_out_are_two_predicates() -> None:
    changes = example_1(
        "SELECT S.SensorID FROM Sensors S"
        " [PWINDOW IN S.Temperature > 91 OUT S.Temperature < 89 ON S.SensorID]"
    )
    assert changes == [(2, "+", (2,)), (4, "+", (1,)), (5, "u", (2,)), (6, "+", (3,))]


# Shared: the data centre. (LocationId, Value, TimeStamp)

DATA_CENTRE = [
    ("Temperature", 0, (1, 40.0)),
    ("Humidity", 10, (1, 90.0)),
    ("Temperature", 20, (2, 41.0)),
    ("Humidity", 30, (2, 20.0)),
    ("Humidity", 50, (2, 95.0)),
    ("Temperature", 70, (1, 10.0)),
    ("Temperature", 3620, (1, 50.0)),
]


def data_centre(sql: str) -> Changes:
    known = catalog("Temperature", "Humidity", LocationId=Type.INTEGER, Value=Type.REAL)
    return changes_of(known, sql, DATA_CENTRE)


def test_shared_q1_counts_locations_that_are_hot_and_humid_within_a_minute() -> None:
    assert data_centre(
        "SELECT COUNT(DISTINCT A.LocationId) FROM Temperature A, Humidity B"
        " WHERE A.LocationId = B.LocationId and A.Value > 30 and B.Value > 80 WINDOW 1 min;"
    ) == [
        (0, "+", (0,)),
        (10, "u", (1,)),
        (50, "u", (2,)),
        (60.000001, "u", (1,)),
        (80.000001, "u", (0,)),
    ]


def test_shared_q2_reports_maxima_per_location_over_an_hour() -> None:
    assert data_centre(
        "SELECT A.LocationId, MAX(A.Value), MAX(B.Value) FROM Temperature A, Humidity B"
        " WHERE A.LocationId = B.LocationId GROUP BY A.LocationId WINDOW 1 hour;"
    ) == [
        (10, "+", (1, 40.0, 90.0)),
        (30, "+", (2, 41.0, 20.0)),
        (50, "u", (2, 41.0, 95.0)),
        (3600.000001, "u", (1, 10.0, 90.0)),
        (3610.000001, "-", (1, 10.0, 90.0)),
    ]


# W-join and SSDBM: forms of window joins.


def test_ssdbm_binary_join_of_two_gas_sensors() -> None:
    known = catalog("Sensor1", "Sensor2", gas=Type.TEXT)
    arrivals: Arrivals = [
        ("Sensor1", 0, ("CO",)),
        ("Sensor2", 5, ("CO",)),
        ("Sensor2", 6, ("NO",)),
        ("Sensor1", 16, ("CO",)),
    ]
    sql = "SELECT A.gas FROM Sensor1 A, Sensor2 B WHERE A.gas = B.gas WINDOW (A,B) = 10 s"
    assert found(changes_of(known, sql, arrivals)) == [(5, ("CO",))]


PATH: Arrivals = [
    ("Camera1", 0, ("car",)),
    ("Camera2", 8, ("Car",)),
    ("Camera3", 12, ("CAR",)),
    ("Camera3", 14, ("car",)),
    ("Camera2", 15, ("bus",)),
]


def test_ssdbm_path_join_of_cameras_by_a_user_function() -> None:
    known = catalog("Camera1", "Camera2", "Camera3", obj=Type.TEXT)
    known.add_function("similar", lambda a, b: a.lower() == b.lower(), 2)
    sql = (
        "SELECT A.obj, C.obj FROM Camera1 A, Camera2 B, Camera3 C"
        " WHERE similar(A.obj, B.obj) AND similar(B.obj, C.obj) AND WINDOW(A,B) = 10 s AND WINDOW(B,C) = 5 s"
    )
    assert found(changes_of(known, sql, PATH)) == [(12, ("car", "CAR"))]


def test_w_join_form_2_a_window_for_every_pair() -> None:
    known = catalog("Camera1", "Camera2", "Camera3", ObjID=Type.TEXT)
    sql = (
        "SELECT A.ObjID FROM Camera1 A, Camera2 B, Camera3 C"
        " WINDOW (A,B) = {} AND WINDOW (B,C) = 5 s AND WINDOW (A,C) = {}"
        " WHERE A.ObjID=B.ObjID AND B.ObjID=C.ObjID"
    )
    arrivals: Arrivals = [
        ("Camera1", 0, ("x",)),
        ("Camera2", 8, ("x",)),
        ("Camera3", 12, ("x",)),
    ]
    assert found(changes_of(known, sql.format("10 s", "12 s"), arrivals)) == [(12, ("x",))]
    assert found(changes_of(known, sql.format("10 s", "11 s"), arrivals)) == []
    assert found(changes_of(known, sql.format("7 s", "12 s"), arrivals)) == []


def test_w_join_form_3_packets_over_links_between_some_networks() -> None:
    known = catalog("Network1", "Network2", "Network3", PacktID=Type.INTEGER)
    sql = (
        "SELECT A.PacktID FROM Network1 A, Network2 B, Network3 C"
        " WINDOW (A,B) = 10 s AND WINDOW (B,C) = 5 s"
        " WHERE A.PacktID=B.PacktID AND B.PacktID=C.PacktID"
    )
    arrivals: Arrivals = [
        ("Network1", 0, (4,)),
        ("Network2", 9, (4,)),
        ("Network3", 14, (4,)),
        ("Network3", 15, (4,)),
    ]
    assert found(changes_of(known, sql, arrivals)) == [(14, (4,))]


def test_w_join_form_1_and_ssdbm_uniform_clique_of_stores() -> None:
    known = catalog("Store1", "Store2", "Store3", ItemNum=Type.INTEGER, ItemName=Type.TEXT)
    sql = (
        "SELECT A.ItemName FROM Store1 A, Store2 B, Store3 C WINDOW = 10 s"
        " WHERE A.ItemNum=B.ItemNum AND B.ItemNum=C.ItemNum"
    )
    arrivals: Arrivals = [
        ("Store2", 0, (1, "tea")),
        ("Store1", 4, (1, "tea")),
        ("Store3", 10, (1, "tea")),
        ("Store3", 11, (1, "tea")),
    ]
    assert changes_of(known, sql, arrivals) == [(10, "+", ("tea",)), (10.000001, "-", ("tea",))]


GRAPH = (
    "SELECT A.gas FROM Sensor1 A, Sensor2 B, Sensor3 C, Sensor4 D"
    " WHERE A.gas = B.gas AND B.gas = C.gas AND C.gas = D.gas {}"
)


@pytest.mark.parametrize(
    ("windows", "is_found"),
    [
        (
            "WINDOW (A,B) = 3 s AND WINDOW (B,C) = 3 s AND WINDOW (C,D) = 3 s AND WINDOW (A,D) = 9 s",
            True,
        ),
        (
            "WINDOW (A,B) = 3 s AND WINDOW (B,C) = 3 s AND WINDOW (C,D) = 3 s AND WINDOW (A,D) = 8 s",
            False,
        ),
        ("WINDOW (A,B) = 3 s AND WINDOW (B,C) = 3 s AND WINDOW (C,D) = 3 s", True),
        ("WINDOW (A,B) = 3 s AND WINDOW (B,C) = 2 s AND WINDOW (C,D) = 3 s", False),
        (
            (
                "WINDOW (A,B) = 3 s AND WINDOW (A,C) = 6 s AND WINDOW (A,D) = 9 s"
                " AND WINDOW (B,C) = 3 s AND WINDOW (B,D) = 6 s AND WINDOW (C,D) = 3 s"
            ),
            True,
        ),
        (
            (
                "WINDOW (A,B) = 3 s AND WINDOW (A,C) = 6 s AND WINDOW (A,D) = 9 s"
                " AND WINDOW (B,C) = 3 s AND WINDOW (B,D) = 5 s AND WINDOW (C,D) = 3 s"
            ),
            False,
        ),
        ("WINDOW 9 s", True),
        ("WINDOW 8 s", False),
    ],
    ids=[
        "graph",
        "graph too tight",
        "path",
        "path too tight",
        "clique",
        "clique too tight",
        "uniform",
        "short",
    ],
)
def test_ssdbm_graph_and_clique_joins_of_gas_sensors(windows: str, is_found: bool) -> None:
    known = catalog("Sensor1", "Sensor2", "Sensor3", "Sensor4", gas=Type.TEXT)
    arrivals: Arrivals = [(f"Sensor{n + 1}", 3 * n, ("CO",)) for n in range(4)]
    expected = [(9.0, ("CO",))] if is_found else []
    assert found(changes_of(known, GRAPH.format(windows), arrivals)) == expected


def test_w_join_5_2_1_directed_path_of_moving_objects() -> None:
    known = catalog("Sensor1", "Sensor2", "Sensor3", ObjID=Type.INTEGER)
    sql = (
        "SELECT A.ObjID FROM Sensor1 A, Sensor2 B, Sensor3 C WHERE A.ObjID = B.ObjID AND B.ObjID = C.ObjID"
        " AND DWINDOW(A,B) = 5 s AND DWINDOW(B,C) = 5 s"
    )
    there: Arrivals = [(f"Sensor{n}", 2 * n, (7,)) for n in (1, 2, 3)]
    back: Arrivals = [(f"Sensor{n}", 8 - 2 * n, (7,)) for n in (3, 2, 1)]
    assert found(changes_of(known, sql, there)) == [(6, (7,))]
    assert found(changes_of(known, sql, back)) == []
    # The camera in the middle has the smallest window with any other: its row is the first that is too old.
    assert changes_of(known, sql, there, until_s=60)[-1] == (9.000001, "-", (7,))


def test_w_join_5_2_1_path_query_is_the_union_of_both_directions() -> None:
    known = catalog("Sensor1", "Sensor2", "Sensor3", ObjID=Type.INTEGER)
    sql = (
        "SELECT A.ObjID FROM Sensor1 A, Sensor2 B, Sensor3 C WHERE A.ObjID = B.ObjID AND B.ObjID = C.ObjID"
        " AND DWINDOW(A,B) = 5 s AND DWINDOW(B,C) = 3 s EITHER WAY"
    )
    there: Arrivals = [("Sensor1", 2, (7,)), ("Sensor2", 7, (7,)), ("Sensor3", 10, (7,))]
    back: Arrivals = [("Sensor3", 2, (7,)), ("Sensor2", 5, (7,)), ("Sensor1", 10, (7,))]
    to_and_fro: Arrivals = [("Sensor1", 2, (7,)), ("Sensor2", 4, (7,)), ("Sensor3", 3, (7,))]
    at_once: Arrivals = [(f"Sensor{n}", 2, (7,)) for n in (1, 2, 3)]
    assert found(changes_of(known, sql, there)) == [(10, (7,))]
    assert found(changes_of(known, sql, back)) == [(10, (7,))]
    assert found(changes_of(known, sql, sorted(to_and_fro, key=lambda each: each[1]))) == []
    assert found(changes_of(known, sql, at_once)) == [(2, (7,))]


def test_snjoin_variable_arity_join_of_all_sensors() -> None:
    known = catalog("one", "two", "three", gas=Type.TEXT)
    arrivals: Arrivals = [
        ("one", 0, ("CO",)),
        ("two", 10, ("CO",)),
        ("three", 30, ("CO",)),
    ]
    assert changes_of(
        known, "SELECT * FROM SENSORS JOIN ON gas WINDOW 60 s", arrivals, until_s=100
    ) == [
        (10, "+", ("CO", 2, ("one", "two"))),
        (30, "u", ("CO", 3, ("one", "three", "two"))),
        (60.000001, "u", ("CO", 2, ("three", "two"))),
        (70.000001, "-", ("CO", 2, ("three", "two"))),
    ]
