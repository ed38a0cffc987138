"""The engine, its planner and its expressions, beyond what snapshots and the papers' queries cover."""

import heapq
from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from join.dsms.catalog import Catalog, StreamSchema, Table, Type
from join.dsms.changes import Row
from join.dsms.clocked import QuerySite
from join.dsms.engine import Engine
from join.dsms.feeds.shared import SharedFeed
from join.dsms.language.errors import QueryError
from join.dsms.running_query import Output
from join.dsms.shared.virtual_cpu import CpuCosts
from sim.errors import InputError

COLUMNS = {
    "id": Type.INTEGER,
    "v": Type.REAL,
    "name": Type.TEXT,
    "ok": Type.BOOLEAN,
    "at_us": Type.INTEGER,
}


def catalog() -> Catalog:
    known = Catalog()
    for stream in ("S", "T", "U"):
        known.add_stream(StreamSchema(stream, COLUMNS))
    known.add_table(Table("Rooms", {"id": Type.INTEGER, "name": Type.TEXT}, [(1, "lab")]))
    known.add_function("similar", lambda a, b: abs(a - b) <= 1, 2)
    known.add_function("shared_letters", lambda a, b: frozenset(a) & frozenset(b), 2)
    known.add_function("unknown", lambda a: None, 1)
    known.add_function("broken", lambda a: a["x"], 1)
    return known


def plan(sql: str, schedule: str | None = None) -> list[str]:
    return [line.strip() for line in Engine(catalog(), schedule=schedule).explain(sql).splitlines()]


def value(expression: str, **columns: object) -> object:
    """The value of an expression on one row."""
    engine = Engine(catalog())
    engine.add_query("q", f"SELECT {expression} FROM S")
    row = {"id": 1, "v": 2.5, "name": "x", "ok": True, "at_us": 0, **columns}
    assert not engine.arrive("S", tuple(row.values()), 0)
    (output,) = engine.advance(0)
    return output.row[0]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("7 / 2", 3.5),
        ("7 / 0", None),
        ("-7 % 3", -1),
        ("7 % 0", None),
        ("id - 2.5", -1.5),
        ("NULL + 1", None),
        ("NULL = NULL", None),
        ("NULL IS NULL", True),
        ("ok AND NULL", None),
        ("NOT ok AND NULL", False),
        ("ok OR NULL", True),
        ("NOT NULL", None),
        ("name IN ('x', 'y')", True),
        ("name IN ('y', NULL)", None),
        ("name NOT IN ('y')", True),
        ("id IN Rooms.id", True),
        ("name IN Rooms.name", False),
        ("id BETWEEN 1 AND 2", True),
        ("upper(name)", "X"),
        ("distance(0, 0, 3, 4)", 5.0),
        ("abs(NULL)", None),
        ("5 min", 300_000_000),
        ("shared_letters(name, 'xy')", True),
        ("shared_letters(name, 'yz')", False),
        ("NOT shared_letters(name, 'yz')", True),
        ("shared_letters(name, 'xy') AND ok", True),
        ("unknown(name)", None),
    ],
)
def test_values_of_expressions(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT x FROM S", "no column 'x'"),
        ("SELECT X.id FROM S", "no stream 'X'"),
        ("SELECT id FROM S, T WINDOW 1 s", "is ambiguous: write S.id or T.id"),
        ("SELECT id FROM S, S WINDOW 1 s", "two streams are named S"),
        ("SELECT id FROM S WHERE v", "expected a condition"),
        ("SELECT id FROM S WHERE v AND ok", "v is real; expected a condition"),
        ("SELECT id FROM S WHERE NOT v", "NOT of real"),
        ("SELECT id FROM S WHERE name > 3", "> between text and integer"),
        ("SELECT name + 1 FROM S", "+ of text"),
        ("SELECT -name FROM S", "minus of text"),
        ("SELECT id FROM S WHERE id IN ('a')", "'a' in a list for integer"),
        ("SELECT id FROM S WHERE name IN Rooms.id", "these cannot be compared"),
        ("SELECT id FROM S WHERE name IN Rooms", "several columns: say which of Rooms.id"),
        ("SELECT id FROM S WHERE id IN Room.id", "no table 'Room'"),
        ("SELECT id FROM S WHERE id IN Rooms.no", "no column of Rooms 'no'"),
        ("SELECT id FROM S WHERE similar(id)", "similar takes 2 arguments, found 1"),
        ("SELECT id FROM S WHERE simlar(id, 1)", "did you mean similar?"),
        ("SELECT id FROM S WHERE count(id) > 1", "count is allowed only in SELECT"),
        ("SELECT id FROM S WHERE at_us > NOW", "NOW has a meaning only in PWINDOW"),
        ("SELECT id FROM S [PWINDOW v * NOW > 3 ON id]", "NOW can only be compared"),
        ("SELECT id FROM S [PWINDOW abs(NOW) > 3 ON id]", "NOW can only be compared"),
        ("SELECT id FROM S [PWINDOW NOW - at_us IN (1, 2) ON id]", "NOW can only be compared"),
        ("SELECT id FROM S [PWINDOW ok AND NOW IS NOT NULL ON id]", "NOW can only be compared"),
        ("SELECT id FROM S [PWINDOW NOW NOT IN Rooms.id ON id]", "NOW can only be compared"),
        ("SELECT id FROM S [PWINDOW NOT (NOW) ON id]", "NOW can only be compared"),
        ("SELECT id FROM S [PWINDOW (NOW > at_us) = TRUE ON id]", "NOW can only be compared"),
        ("SELECT id FROM S [PWINDOW IN v > 1 OUT v < 2 ON id]", "IN and OUT overlap: v = 1.5"),
        ("SELECT id FROM S [PWINDOW IN ok OUT name = 'a' ON id]", "IN and OUT overlap"),
        ("SELECT id FROM S [PARTITION BY id ROWS 1 WHERE id IN Rooms.id]", "use WHERE"),
        ("SELECT id FROM S [ROWS 5] WINDOW 1 s", "S already has a window"),
        ("SELECT id, COUNT(*) FROM S", "id is neither in GROUP BY nor inside"),
        ("SELECT * FROM S GROUP BY id", "name the columns"),
        ("SELECT SUM(name) FROM S", "SUM of text"),
        ("SELECT SUM(DISTINCT v) FROM S", "only COUNT supports it"),
        ("SELECT SUM(*) FROM S", "only COUNT takes *"),
        ("SELECT MAX(v, id) FROM S", "MAX takes one argument, found 2"),
        ("SELECT MAX(COUNT(*)) FROM S", "COUNT is allowed only in SELECT"),
        ("SELECT S.id FROM S, T WINDOW 1 s WHERE WINDOW (S,T) = 2 s", "one or the other"),
        ("SELECT S.id FROM S, T WHERE S.ok OR WINDOW (S,T) = 2 s", "only be joined with AND"),
        ("SELECT S.id FROM S, T WINDOW (S,S) = 2 s", "between S and itself"),
        ("SELECT * FROM SENSORS JOIN ON gas WINDOW 1 s", "no column of any stream 'gas'"),
        ("SELECT * FROM SENSORS JOIN ON id", "needs WINDOW"),
    ],
)
def test_semantic_errors_are_reported(sql: str, says: str) -> None:
    with pytest.raises(QueryError, match="line 1, column") as caught:
        Engine(catalog()).add_query("q", sql)
    assert says in str(caught.value)


def test_all_errors_are_reported_at_once() -> None:
    with pytest.raises(QueryError) as caught:
        Engine(catalog()).add_query("q", "SELECT x, y FROM S [PWINDOW z > 1 ON w] WHERE u")
    assert len(caught.value.faults) == 5


def test_an_int_column_between_in_and_out_does_not_overlap() -> None:
    Engine(catalog()).explain("SELECT id FROM S [PWINDOW IN id > 1 OUT id < 2 ON name]")


@pytest.mark.parametrize(
    ("sql", "schedule", "has"),
    [
        ("SELECT S.id FROM S, T WHERE S.id = T.id WINDOW 1 s", None, "hash W-join (hw) on S.id = T.id, window 1 s"),
        ("SELECT S.id FROM S, T WHERE S.id = T.id WINDOW 1 s", "lwo", "shared window hash join on S.id = T.id, window 1 s"),
        ("SELECT S.id FROM S, T WHERE S.v < T.v WINDOW 1 s", "swf", "shared window nested-loop join where S.v < T.v, window 1 s"),
        ("SELECT S.id FROM S, T WHERE S.v < T.v WINDOW 1 s", None, "merge W-join (mw) where S.v < T.v, window 1 s"),
        ("SELECT S.id FROM S, T, U WHERE S.id = T.id AND T.id = U.id AND S.name = U.name WINDOW 1 s", "mqt", "hash W-join (hw) on S.id = T.id = U.id, window 1 s"),
        ("SELECT S.id FROM S, T, U WHERE S.id = T.id AND T.v = U.v WINDOW 1 s", "mqt", "merge W-join (mw) where S.id = T.id AND T.v = U.v, window 1 s"),
        ("SELECT S.id FROM S, T, U WHERE S.id = T.id AND T.id = U.id WINDOW (S,T) = 1 s AND WINDOW (T,U) = 2 s", None, "hash W-join (hw) on S.id = T.id = U.id, windows S – T 1 s, T – U 2 s, LCA"),
        ("SELECT S.id FROM S, T WHERE S.id = T.id WINDOW (S,T) = 1 s", None, "hash W-join (hw) on S.id = T.id, window 1 s"),
        ("SELECT S.id FROM S, T WHERE S.id = T.id AND WINDOW (T,S) = 1 s", "mqt", "shared window hash join on S.id = T.id, window 1 s"),
        ("SELECT S.id FROM S, T WHERE S.id = T.id DWINDOW (S,T) = 1 s", "mqt", "hash W-join (hw) on S.id = T.id, windows S → T 1 s, LCA"),
        ("SELECT S.id FROM S [ROWS 2], T [NOW] WHERE S.id = T.id AND S.v < T.v", None, "hash join on S.id = T.id where S.v < T.v"),
        ("SELECT S.id FROM S [ROWS 2], T [ROWS 2] WHERE similar(S.v, T.v)", None, "nested-loop join where similar(S.v, T.v)"),
        ("SELECT a.id FROM S a, S b WHERE a.id = b.id WINDOW 1 s", "mqt", "shared window hash join on a.id = b.id, window 1 s"),
        ("SELECT S.id FROM S, T WHERE S.id = T.id AND S.id IN Rooms.id WINDOW 1 s", "mqt", "hash W-join (hw) on S.id = T.id, window 1 s"),
        ("SELECT S.id FROM S, T WHERE sqrt(S.v) = T.v WINDOW 1 s", "mqt", "shared window hash join on sqrt(S.v) = T.v, window 1 s"),
        ("SELECT S.id FROM S, T WHERE S.v >= 0 AND sqrt(S.v) = T.v WINDOW 1 s", "mqt", "hash W-join (hw) on sqrt(S.v) = T.v, window 1 s"),
        ("SELECT S.id FROM S, T WHERE S.id > 1 AND similar(S.v, T.v) WINDOW 1 s", "mqt", "merge W-join (mw) where similar(S.v, T.v), window 1 s"),
        ("SELECT S.id IN Rooms.id FROM S, T WHERE S.id = T.id WINDOW 1 s", "mqt", "hash W-join (hw) on S.id = T.id, window 1 s"),
        ("SELECT DISTINCT id FROM S WHERE v > 1 AND (ok OR v < 0)", None, "select v > 1 AND (ok OR (v < 0))"),
    ],
)  # fmt: skip
def test_the_planner_chooses(sql: str, schedule: str | None, has: str) -> None:
    assert has in plan(sql, schedule)


def test_selections_are_pushed_down_unless_the_join_is_shared() -> None:
    sql = "SELECT S.id FROM S, T WHERE S.id = T.id AND S.v > 1 WINDOW 1 s"
    assert plan(sql).index("select S.v > 1") > plan(sql).index(
        "hash W-join (hw) on S.id = T.id, window 1 s"
    )
    assert plan(sql, "mqt")[1] == "select S.v > 1 (above the shared join)"


def test_queries_of_one_signature_share_whatever_their_aliases() -> None:
    engine = Engine(catalog(), schedule="mqt")
    engine.add_query("one", "SELECT a.id FROM S a, T b WHERE a.id = b.id WINDOW 1 s")
    engine.add_query("two", "SELECT x.v FROM T y, S x WHERE y.ID = x.id AND y.v > 1 WINDOW 9 s")
    engine.add_query("three", "SELECT x.v FROM T y, S x WHERE y.ID = x.id WINDOW (y,x) = 4 s")
    engine.add_query("other", "SELECT a.v FROM S a, T b WHERE a.v = b.v WINDOW 1 s")
    assert [shared.queries for shared in engine.sharing()] == [("one", "two", "three"), ("other",)]


def test_equal_predicate_windows_are_one_operator() -> None:
    engine = Engine(catalog())
    engine.add_query("one", "SELECT id FROM S a [PWINDOW a.v > 1 ON a.id]")
    engine.add_query("two", "SELECT COUNT(*) FROM S [PWINDOW V > 1 ON ID]")
    engine.add_query("three", "SELECT id FROM S [PWINDOW v > 2 ON id]")
    engine.arrive("S", (1, 1.5, "x", True, 0), 0)
    outputs = engine.advance(0)
    assert sorted((o.query, o.row) for o in outputs) == [("one", (1,)), ("three", ())][:1] + [
        ("two", (1,))
    ]
    stats = engine.selectivities()
    assert [(window, each.arrived) for window, each in stats.items()] == [
        ("S [PWINDOW v > 1 ON id]", 1),
        ("S [PWINDOW v > 2 ON id]", 1),
    ]


def test_queries_can_be_added_and_removed_while_streams_run() -> None:
    engine = Engine(catalog(), schedule="swf")
    sql = "SELECT S.id, T.v FROM S, T WHERE S.id = T.id WINDOW 1 s"
    engine.add_query("one", sql)
    engine.arrive("S", (1, 1.0, "x", True, 0), 0)
    engine.add_query("two", sql)
    outputs = engine.arrive("T", (1, 2.0, "x", True, 1), 1)
    engine.remove_query("one")
    assert list(engine.queries) == ["two"]
    assert outputs == []
    # Pending results of the join are emitted when the work is finished.
    outputs = engine.arrive("S", (1, 3.0, "x", True, 3), 3)
    assert [(o.query, *changes_of([o])) for o in outputs] == [("one", (1, "+", (1, 2.0)))]
    assert [(o.query, *changes_of([o])) for o in engine.finish()] == [("two", (3, "+", (1, 2.0)))]


def shared_load(removed: str | None) -> Engine:
    """An engine that is behind with its work, from which a query may be removed midway."""
    engine = Engine(catalog(), schedule="swf", costs=CpuCosts(1000))
    for name, window_us in (("small", 5), ("big", 200), ("bigger", 400)):
        sql = f"SELECT S.v FROM S, T WHERE S.id = T.id WINDOW {window_us} us"
        engine.add_query(name, sql)
    for at_us in range(200):
        if removed and at_us == 100:
            engine.remove_query(removed)
        engine.arrive("ST"[at_us % 2], (1, 1.0, "x", True, at_us), at_us)
    engine.finish()
    return engine


def test_removing_a_query_does_not_delay_the_others() -> None:
    undisturbed, disturbed = shared_load(None).responses(), shared_load("big").responses()
    assert disturbed["small"].count > 400
    assert disturbed["small"] == undisturbed["small"]
    assert disturbed["bigger"].total_ns < undisturbed["bigger"].total_ns


@pytest.mark.parametrize("schedule", ["lwo", "swf", "mqt"])
def test_the_result_of_a_removed_query_stays_as_it_was(schedule: str) -> None:
    sql = "SELECT S.v, T.v FROM S, T WHERE S.id = T.id WINDOW 5 us"
    alone, engine = Engine(catalog()), Engine(catalog(), schedule=schedule, costs=CpuCosts(9000))
    alone.add_query("goes", sql)
    engine.add_query("stays", sql)
    engine.add_query("goes", sql)
    outputs, expected = [], []
    for at_us in range(40):
        stream, row = "ST"[at_us % 2], (1, float(at_us), "x", True, at_us)
        outputs += engine.arrive(stream, row, at_us)
        if at_us <= 20:
            expected += alone.arrive(stream, row, at_us) + alone.advance(at_us)
        if at_us == 20:
            engine.remove_query("goes")
    # The join was behind when the query was removed, and finished the rest.
    assert len([output for output in outputs if output.query == "goes"]) < len(expected) - 10
    outputs += engine.advance(10_000)
    ours = [output for output in outputs if output.query == "goes"]
    assert Counter(changes_of(ours)) == Counter(changes_of(expected))
    assert [output.at_us for output in ours] == [output.at_us for output in expected]


def test_removed_queries_leave_no_state() -> None:
    engine = Engine(catalog(), schedule="mqt", costs=CpuCosts(10))
    sql = "SELECT S.v FROM S, T WHERE S.id = T.id WINDOW {} us"
    stays = engine.add_query("stays", sql.format(10)).feed
    assert isinstance(stays, SharedFeed)
    mailboxes = stays.group.mailboxes
    for at_us in range(300):
        engine.add_query(f"same {at_us}", sql.format(10))
        engine.add_query(f"other {at_us}", sql.format(20))
        engine.arrive("ST"[at_us % 2], (1, 1.0, "x", True, at_us), at_us)
        engine.remove_query(f"same {at_us}")
        engine.remove_query(f"other {at_us}")
        # All but the last are finished.
        assert mailboxes.count <= 1 + 2
    engine.advance(400)
    assert mailboxes.count == 1
    assert [shared.queries for shared in engine.sharing()] == [("stays",)]
    engine.remove_query("stays")
    assert mailboxes.count == 0
    again = engine.add_query("again", sql.format(10)).feed
    assert isinstance(again, SharedFeed)
    assert again.group is not stays.group


def changes_of(outputs: Sequence[Output]) -> list[tuple[int, str, Row]]:
    return [(output.at_us, output.change.value, output.row) for output in outputs]


def test_a_row_that_arrives_before_its_time_does_not_advance_time() -> None:
    engine = Engine(catalog())
    engine.add_query("q", "SELECT id FROM S [RANGE 3 us]")
    outputs = []
    for number, at_us, now_us in ((1, 0, 0), (2, 10, 1), (3, 2, 2), (4, 1, 2)):
        outputs += engine.arrive("S", (number, 1.0, "x", True, at_us), at_us, now_us=now_us)
    assert changes_of([*outputs, *engine.advance(20)]) == [
        (0, "+", (1,)),
        (1, "+", (2,)),
        (2, "+", (3,)),
        (2, "+", (4,)),
        (4, "-", (1,)),
        (5, "-", (4,)),
        (6, "-", (3,)),
        (14, "-", (2,)),
    ]


@pytest.mark.parametrize("schedule", [None, "lwo", "swf", "mqt"])
def test_a_join_processes_a_row_that_arrives_early_at_its_own_time(
    schedule: str | None,
) -> None:
    engine = Engine(catalog(), schedule=schedule)
    engine.add_query("q", "SELECT S.v, T.v FROM S, T WHERE S.id = T.id WINDOW 3 us")
    outputs = engine.arrive("S", (1, 10.0, "x", True, 10), 10, now_us=1)
    # The row of 10 us does not join this one, and does not keep these two from joining.
    outputs += engine.arrive("S", (1, 2.0, "x", True, 2), 2, now_us=2)
    outputs += engine.arrive("T", (1, 3.0, "x", True, 3), 3, now_us=3)
    outputs += engine.arrive("T", (1, 8.0, "x", True, 8), 8, now_us=8)
    outputs += [*engine.advance(11), *engine.finish()]
    assert changes_of(outputs) == [
        (3, "+", (2.0, 3.0)),
        (6, "-", (2.0, 3.0)),
        (10, "+", (10.0, 8.0)),
    ]


def test_an_invalid_query_leaves_no_state() -> None:
    engine = Engine(catalog(), schedule="mqt")
    with pytest.raises(QueryError):
        engine.add_query("bad", "SELECT S.no FROM S, T WHERE S.id = T.id WINDOW 1 s")
    assert engine.sharing() == []
    assert engine.queries == {}


def test_a_function_that_fails_is_named_with_its_arguments() -> None:
    engine = Engine(catalog())
    engine.add_query("q", "SELECT id FROM S WHERE broken(id)")
    engine.arrive("S", (7, 1.0, "x", True, 0), 0)
    with pytest.raises(InputError, match=r"query q, stream S, at_us 0: .*broken\(7\) failed"):
        engine.advance(0)


def test_a_condition_may_return_a_collection() -> None:
    engine = Engine(catalog())
    engine.add_query("q", "SELECT name FROM S WHERE shared_letters(name, 'xy')")
    outputs = engine.arrive("S", (1, 1.0, "x", True, 0), 0)
    outputs += engine.arrive("S", (1, 1.0, "z", True, 1), 1)
    assert [output.row for output in outputs] == [("x",)]


@pytest.mark.parametrize("schedule", [None, "mqt"])
def test_a_condition_protects_a_join_function_from_rows_shared_or_not(
    schedule: str | None,
) -> None:
    engine = Engine(catalog(), schedule=schedule)
    sql = "SELECT S.v, T.v FROM S, T WHERE S.v >= 0 AND sqrt(S.v) = T.v WINDOW 10 us"
    engine.add_query("q", sql)
    outputs = engine.arrive("S", (1, -2.0, "x", True, 0), 0)
    outputs += engine.arrive("S", (1, 4.0, "x", True, 1), 1)
    outputs += engine.arrive("T", (1, 2.0, "x", True, 2), 2)
    assert [output.row for output in [*outputs, *engine.finish()]] == [(4.0, 2.0)]


@pytest.mark.parametrize(
    "condition", ["S.v > 5", "T.v > 5", "S.v + T.v < 0", "1 = 0", "S.v > 0 AND sqrt(T.v) > 5"]
)
def test_rejected_results_are_not_stored_above_a_shared_join(condition: str) -> None:
    engine = Engine(catalog(), schedule="mqt")
    engine.add_query("q", f"SELECT S.v FROM S, T WHERE S.id = T.id AND {condition} WINDOW 1 s")
    for at_us in range(10):
        engine.arrive("ST"[at_us % 2], (1, 4.0, "x", True, at_us), at_us)
    engine.advance(1000)
    # No result waits to expire.
    assert engine.next_us() is None
    engine.add_query("all", "SELECT S.v FROM S, T WHERE S.id = T.id WINDOW 1 s")
    engine.arrive("S", (1, 4.0, "x", True, 2000), 2000)
    engine.arrive("T", (1, 4.0, "x", True, 2000), 2000)
    assert changes_of(engine.advance(3000)) == [(2000, "+", (4.0,))]
    assert engine.next_us() == 1_002_001


@pytest.mark.parametrize("order", ["ST", "TS"])
def test_a_function_above_a_shared_join_sees_only_rows_that_pass_other_conditions(
    order: str,
) -> None:
    engine = Engine(catalog(), schedule="mqt")
    engine.add_query(
        "q", "SELECT T.v FROM S, T WHERE S.id = T.id AND sqrt(T.v) > 1 AND S.ok WINDOW 10 us"
    )
    for at_us, (stream, *values) in enumerate(
        [(order[0], -4.0, False), (order[1], -4.0, False), (order[0], 4.0, True), (order[1], 4.0, True)]
    ):  # fmt: skip
        v, ok = values
        engine.arrive(stream, (ok, v, "x", ok, at_us), at_us)
    assert changes_of(engine.finish()) == [(3, "+", (4.0,))]


def test_deleting_a_row_that_is_not_in_the_table_is_an_error() -> None:
    with pytest.raises(InputError, match="not in the table"):
        Engine(catalog()).change_table("Rooms", 0, delete=[(2, "lab")])


def test_a_row_whose_values_are_in_the_table_but_not_together_is_not_deleted() -> None:
    table = Table("R", {"a": Type.INTEGER, "b": Type.TEXT}, [(1, "x"), (2, "y"), (2, "y")])
    assert not table.delete((1, "y"))
    assert dict(table.values(0)) == {1: 1, 2: 2}
    assert table.delete((2, "y"))
    assert dict(table.values(0)) == {1: 1, 2: 1}
    assert table.delete((2, "y"))
    assert not table.delete((2, "y"))
    assert dict(table.values(1)) == {"x": 1}


def test_in_and_out_that_overlap_after_a_table_change_are_reported_with_time_and_table() -> None:
    engine = Engine(catalog())
    window = "[PWINDOW IN id IN Rooms.id OUT name IN Rooms.name ON id]"
    engine.add_query("q", f"SELECT id FROM S {window}")
    engine.arrive("S", (1, 1.0, "attic", True, 0), 0)
    both = r"\(1, 1.0, 'attic', True, 0\) satisfies both the IN and the OUT predicate"
    with pytest.raises(InputError, match=f"^table Rooms: query q, at_us 7: the row {both}$"):
        engine.change_table("Rooms", 7, insert=[(2, "attic")])


@pytest.mark.parametrize("later_us", [8, 20])
def test_in_and_out_that_overlap_by_time_alone_are_reported_with_the_time(later_us: int) -> None:
    engine = Engine(catalog())
    engine.add_query("q", "SELECT id FROM S [PWINDOW IN ok OUT NOW - at_us > v ON id]")
    engine.arrive("S", (1, 7.0, "s", True, 0), 0)
    with pytest.raises(InputError, match=r"^query q, at_us 8: the row \(1, 7.0, .* satisfies both"):
        engine.arrive("S", (2, 1.0, "s", False, later_us), later_us)


def test_output_columns_have_unique_names() -> None:
    engine = Engine(catalog())
    query = engine.add_query(
        "q", "SELECT S.id, T.id, S.v AS x, MAX(S.v) AS x, S.at_us FROM S, T GROUP BY S.id, T.id, S.v, S.at_us WINDOW 1 s"
    )  # fmt: skip
    assert list(query.columns) == ["S.id", "T.id", "x", "x_2", "S.at_us"]


class Clock:
    """A clock that jumps from one call to the next."""

    def __init__(self) -> None:
        self.now_us = 0
        self._calls: list[tuple[int, bool, int, Callable[[int], None], int]] = []
        self._count = 0

    def call_at(self, at_us: int, action: Callable[[int], None], argument: int) -> None:
        assert at_us >= self.now_us
        self._push(at_us, False, action, argument)

    def call_last(self, at_us: int, action: Callable[[int], None], argument: int) -> None:
        assert at_us >= self.now_us
        self._push(at_us, True, action, argument)

    def _push(self, at_us: int, last: bool, action: Callable[[int], None], argument: int) -> None:
        self._count += 1
        heapq.heappush(self._calls, (at_us, last, self._count, action, argument))

    def run_until(self, end_us: int) -> None:
        while self._calls and self._calls[0][0] <= end_us:
            self.now_us, _, _, action, argument = heapq.heappop(self._calls)
            action(argument)
        self.now_us = end_us


def test_a_site_emits_expiries_when_they_happen() -> None:
    clock = Clock()
    emitted: list[tuple[int, int, str, Row]] = []

    def emit(outputs: Sequence[Output]) -> None:
        emitted.extend((clock.now_us, o.at_us, o.change.value, o.row) for o in outputs)

    engine = Engine(catalog())
    engine.add_query("q", "SELECT COUNT(*) FROM S [RANGE 10 us]")
    engine.add_query("p", "SELECT id FROM S [PWINDOW id IN Rooms.id ON id]")
    site = QuerySite(engine, clock, emit)
    site.take("S", (1, 1.0, "x", True, 0), 0)
    clock.run_until(5)
    site.take("S", (1, 1.0, "x", True, 3), 3)
    site.change_table("Rooms", insert=[], delete=[(1, "lab")])
    clock.run_until(30)
    assert emitted == [
        (0, 0, "+", (1,)),
        (0, 0, "+", (1,)),
        (5, 5, "u", (2,)),
        (5, 5, "-", (1,)),
        (11, 11, "u", (1,)),
        (14, 14, "u", (0,)),
    ]


@pytest.mark.parametrize("schedule", ["lwo", "swf", "mqt"])
def test_a_site_emits_results_of_a_shared_join_when_they_are_finished(schedule: str) -> None:
    clock = Clock()
    emitted: list[tuple[int, int, str, Row]] = []

    def emit(outputs: Sequence[Output]) -> None:
        emitted.extend((clock.now_us, *each) for each in changes_of(outputs))

    engine = Engine(catalog(), schedule=schedule, costs=CpuCosts(2000, 1300))
    engine.add_query("q", "SELECT COUNT(*) FROM S, T WHERE S.id = T.id WINDOW 10 us")
    site = QuerySite(engine, clock, emit)
    site.take("S", (1, 1.0, "x", True, 0), 0)
    clock.run_until(5)
    site.take("T", (1, 1.0, "x", True, 5), 5)
    clock.run_until(6)
    site.take("T", (1, 1.0, "x", True, 6), 6)
    clock.run_until(100)
    # A comparison and an output take 3.3 us. The second T has to wait for the first: 5 + 2 * 3.3 = 11.6. That the
    # result of the first has expired at 11 is not emitted before.
    assert emitted == [
        (1, 0, "+", (0,)),
        (9, 5, "u", (1,)),
        (12, 6, "u", (2,)),
        (12, 11, "u", (0,)),
    ]
    assert engine.finish() == []


def test_an_update_goes_through_a_join_as_an_update_unless_the_key_changes() -> None:
    engine = Engine(catalog())
    engine.add_query(
        "q",
        "SELECT a.name, a.v, b.v FROM S a [PWINDOW a.ok ON a.name], T b [ROWS 2] WHERE a.id = b.id",
    )
    engine.arrive("T", (1, 10.0, "t", True, 0), 0)
    engine.arrive("T", (2, 20.0, "t", True, 1), 1)
    outputs = engine.arrive("S", (1, 1.0, "s", True, 2), 2)
    outputs += engine.arrive("S", (1, 1.5, "s", True, 3), 3)
    outputs += engine.arrive("S", (2, 2.0, "s", True, 4), 4)
    outputs += engine.advance(4)
    assert [(o.change.value, o.row) for o in outputs] == [
        ("+", ("s", 1.0, 10.0)),
        ("u", ("s", 1.5, 10.0)),
        ("-", ("s", 1.5, 10.0)),
        ("+", ("s", 2.0, 20.0)),
    ]


def test_a_relation_joined_with_itself_shows_no_intermediate_step() -> None:
    engine = Engine(catalog())
    window = "[PARTITION BY name ROWS 1]"
    engine.add_query("q", f"SELECT a.v, b.v FROM S a {window}, S b {window} WHERE a.name = b.name")
    engine.arrive("S", (1, 1.0, "s", True, 0), 0)
    engine.advance(0)
    engine.arrive("S", (1, 2.0, "s", True, 1), 1)
    outputs = engine.advance(1)
    assert [(o.change.value, o.row) for o in outputs] == [("-", (1.0, 1.0)), ("+", (2.0, 2.0))]


def test_rows_selected_by_a_table_follow_its_changes() -> None:
    engine = Engine(catalog())
    engine.add_query("q", "SELECT id FROM S [ROWS 3] WHERE id IN Rooms.id")
    engine.add_query("r", "SELECT COUNT(*) FROM S [ROWS 3] WHERE id NOT IN Rooms.id AND v > 0")
    outputs = engine.arrive("S", (1, 1.0, "s", True, 0), 0)
    outputs += engine.arrive("S", (2, 1.0, "s", True, 1), 1)
    outputs += engine.change_table("Rooms", 2, insert=[(2, "attic")])
    outputs += engine.change_table("Rooms", 3, delete=[(1, "lab")])
    outputs += engine.advance(3)
    assert [(o.at_us, o.query, o.change.value, o.row) for o in outputs] == [
        (0, "q", "+", (1,)),
        (0, "r", "+", (0,)),
        (1, "r", "u", (1,)),
        (2, "q", "+", (2,)),
        (2, "r", "u", (0,)),
        (3, "q", "-", (1,)),
        (3, "r", "u", (1,)),
    ]


@pytest.mark.parametrize(
    ("items", "changes"),
    [
        ("id, id IN Rooms.id AS hot", [(1, "+", (2, False)), (5, "u", (2, True)), (12, "-", (2, True))]),
        ("DISTINCT id IN Rooms.id", [(1, "+", (False,)), (5, "u", (True,)), (12, "-", (True,))]),
        ("MAX(id IN Rooms.id)", [(1, "+", (False,)), (5, "u", (True,)), (12, "u", (None,))]),
        ("MAX(id) IN Rooms.id", [(1, "+", (False,)), (5, "u", (True,)), (12, "u", (None,))]),
    ],
)  # fmt: skip
def test_columns_computed_from_a_table_follow_its_changes(
    items: str, changes: list[tuple[int, str, Row]]
) -> None:
    engine = Engine(catalog())
    engine.add_query("q", f"SELECT {items} FROM S [RANGE 10 us]")
    outputs = engine.arrive("S", (2, 1.0, "s", True, 1), 1)
    outputs += engine.change_table("Rooms", 5, insert=[(2, "attic")])
    outputs += engine.advance(20)
    assert [(o.at_us, o.change.value, o.row) for o in outputs] == changes


def test_a_query_added_later_does_not_share_earlier_rows() -> None:
    engine = Engine(catalog())
    engine.add_query("one", "SELECT id FROM S [PWINDOW ok ON id]")
    engine.arrive("S", (1, 1.0, "s", True, 0), 0)
    engine.add_query("two", "SELECT id FROM S [PWINDOW ok ON id]")
    engine.advance(0)
    engine.arrive("S", (1, 2.0, "s", True, 1), 1)
    outputs = engine.advance(1)
    assert [(o.query, o.change.value) for o in outputs] == [("one", "u"), ("two", "+")]


@pytest.mark.parametrize(
    ("predicate", "changes"),
    [
        ("NOW <= at_us + 3", [(0, "+"), (4, "-")]),
        ("NOW < at_us + 3", [(0, "+"), (3, "-")]),
        ("NOW > at_us + 3", [(4, "+")]),
        ("NOW - at_us >= 3", [(3, "+")]),
        ("NOW = at_us + 3", [(3, "+"), (4, "-")]),
        ("2 * NOW <= at_us + at_us + 3", [(0, "+"), (2, "-")]),
        ("at_us - NOW > -2 OR NOW - 5 > at_us", [(0, "+"), (2, "-"), (6, "+")]),
    ],
)
def test_a_dynamic_predicate_changes_at_the_right_instant(
    predicate: str, changes: list[tuple[int, str]]
) -> None:
    engine = Engine(catalog())
    engine.add_query("q", f"SELECT id FROM S [PWINDOW {predicate} ON id]")
    outputs = engine.arrive("S", (1, 1.0, "s", True, 0), 0)
    outputs += engine.advance(20)
    assert [(o.at_us, o.change.value) for o in outputs] == changes


PERIODIC = [(1, 0.0, "x", True, at_us) for at_us in (0, 2, 4)]
"""A sensor whose reading leaves a window of 2 us as the next arrives."""


@pytest.mark.parametrize(
    ("sql", "changes"),
    [
        ("SELECT COUNT(*) FROM S [PWINDOW at_us > NOW - 2 us ON id]", [(0, "+", (1,))]),
        (
            "SELECT id FROM S [PWINDOW at_us > NOW - 2 us ON id]",
            [(0, "+", (1,)), (2, "u", (1,)), (4, "u", (1,))],
        ),
        (
            "SELECT id, at_us FROM S [PWINDOW at_us > NOW - 2 us ON id]",
            [(0, "+", (1, 0)), (2, "u", (1, 2)), (4, "u", (1, 4))],
        ),
        ("SELECT id, COUNT(*) FROM S [RANGE 1 us] GROUP BY id", [(0, "+", (1, 1))]),
        ("SELECT DISTINCT id FROM S [RANGE 1 us]", [(0, "+", (1,))]),
        ("SELECT id FROM S [RANGE 1 us]", [(0, "+", (1,))]),
        (
            "SELECT a.at_us FROM S a [RANGE 1 us], S b [RANGE 1 us] WHERE a.id = b.id",
            [(0, "+", (0,)), (2, "-", (0,)), (2, "+", (2,)), (4, "-", (2,)), (4, "+", (4,))],
        ),
    ],
)
@pytest.mark.parametrize("by_site", [False, True])
def test_what_exists_only_within_an_instant_is_not_shown(
    sql: str, changes: list[tuple[int, str, Row]], by_site: bool
) -> None:
    engine = Engine(catalog())
    engine.add_query("q", sql)
    outputs: list[Output] = []
    if by_site:
        clock = Clock()
        site = QuerySite(engine, clock, outputs.extend)
        for row in PERIODIC:
            # The site's own wake-up for this instant was set before.
            clock.call_at(
                row[4], lambda at_us: site.take("S", (1, 0.0, "x", True, at_us), at_us), row[4]
            )
        clock.run_until(4)
    else:
        for row in PERIODIC:
            outputs += engine.arrive("S", row, row[4])
        outputs += engine.advance(4)
    assert changes_of(outputs) == changes


def test_selectivities_count_what_is_emitted() -> None:
    engine = Engine(catalog())
    engine.add_query("q", "SELECT id FROM S [PWINDOW at_us > NOW - 2 us ON id]")
    for row in PERIODIC:
        engine.arrive("S", row, row[4])
    engine.advance(4)
    (stats,) = engine.selectivities().values()
    assert (stats.added, stats.updated, stats.removed) == (1, 2, 0)
