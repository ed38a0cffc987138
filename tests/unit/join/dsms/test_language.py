"""The query language: what it accepts, and that its errors give position, cause and suggestion."""

import pytest

from join.dsms.language.errors import QueryError
from join.dsms.language.parse import LENGTH_MAX, parse
from join.dsms.language.syntax import (
    AllOf,
    AnyOf,
    Arithmetic,
    Call,
    Column,
    Comparison,
    InList,
    InTable,
    IsNull,
    Item,
    Literal,
    Minus,
    Not,
    Now,
    PairWindow,
    PartitionSpec,
    PredicateSpec,
    RangeSpec,
    RowsSpec,
    Sensors,
    Source,
)
from join.sink.sensors_query import QuerySyntaxError, SensorsQuery, parse_sensors_query

X = Column(None, "x")


def where(text: str) -> object:
    return parse(f"SELECT x FROM S WHERE {text}").where


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("x = 1", Comparison("=", X, Literal(1))),
        ("x == 1", Comparison("=", X, Literal(1))),
        ("x = 9223372036854775807", Comparison("=", X, Literal(2**63 - 1))),
        ("x = 00000000000000000000001", Comparison("=", X, Literal(1))),
        ("x <> 1.5", Comparison("!=", X, Literal(1.5))),
        ("x > -2", Comparison(">", X, Literal(-2))),
        ("x > -y", Comparison(">", X, Minus(Column(None, "y")))),
        ("S.x <= 'it''s'", Comparison("<=", Column("S", "x"), Literal("it's"))),
        ('"odd name" >= TRUE', Comparison(">=", Column(None, "odd name"), Literal(value=True))),
        ("x < 5 min", Comparison("<", X, Literal(300_000_000))),
        ("x > NOW - 1.5 ms", Comparison(">", X, Arithmetic("-", Now(), Literal(1500)))),
        (
            "x = 1 + 2 * 3",
            Comparison(
                "=", X, Arithmetic("+", Literal(1), Arithmetic("*", Literal(2), Literal(3)))
            ),
        ),
        (
            "x = (1 + 2) % 3 / 4",
            Comparison(
                "=",
                X,
                Arithmetic(
                    "/",
                    Arithmetic("%", Arithmetic("+", Literal(1), Literal(2)), Literal(3)),
                    Literal(4),
                ),
            ),
        ),
        (
            "x - 1 - 2 = 0",
            Comparison(
                "=", Arithmetic("-", Arithmetic("-", X, Literal(1)), Literal(2)), Literal(0)
            ),
        ),
        ("x and y or not z", AnyOf((AllOf((X, Column(None, "y"))), Not(Column(None, "z"))))),
        ("x and (y and z)", AllOf((X, Column(None, "y"), Column(None, "z")))),
        ("x IN Rooms", InTable(X, "Rooms", None)),
        ("x not in Rooms.id", Not(InTable(X, "Rooms", "id"))),
        ("x in (1, -2, 'a')", InList(X, (Literal(1), Literal(-2), Literal("a")))),
        ("x is null", IsNull(X)),
        ("x is not null", Not(IsNull(X))),
        (
            "x between 1 and 2 and y",
            AllOf(
                (
                    Comparison(">=", X, Literal(1)),
                    Comparison("<=", X, Literal(2)),
                    Column(None, "y"),
                )
            ),
        ),
        ("similar(a.obj, b.obj)", Call("similar", (Column("a", "obj"), Column("b", "obj")))),
        ("x AND WINDOW(A,B) = 3 s", AllOf((X, PairWindow("A", "B", 3_000_000, directed=False)))),
    ],
)
def test_expressions(text: str, tree: object) -> None:
    assert where(text) == tree


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("[RANGE 60 s]", RangeSpec(60_000_000)),
        ("[range 1 hour]", RangeSpec(3_600_000_000)),
        ("[NOW]", RangeSpec(0)),
        ("[ROWS 5]", RowsSpec(5)),
        ("[PARTITION BY a ROWS 2]", PartitionSpec((Column(None, "a"),), 2, None)),
        (
            "[Partition By a, b Rows 1 WHERE x > 3]",
            PartitionSpec(
                (Column(None, "a"), Column(None, "b")), 1, Comparison(">", X, Literal(3))
            ),
        ),
        (
            "[PWINDOW x > 3 ON a]",
            PredicateSpec(Comparison(">", X, Literal(3)), None, (Column(None, "a"),)),
        ),
        (
            "PWINDOW x > 3 ON a",
            PredicateSpec(Comparison(">", X, Literal(3)), None, (Column(None, "a"),)),
        ),
        (
            "[PWINDOW IN x > 3 OUT x < 1 ON a]",
            PredicateSpec(
                Comparison(">", X, Literal(3)), Comparison("<", X, Literal(1)), (Column(None, "a"),)
            ),
        ),
        ("", None),
    ],
)
def test_windows_of_streams(text: str, window: object) -> None:
    query = parse(f"SELECT x FROM Stream S {text} WHERE x > 3")
    assert query.origin == (Source("Stream", "S", window),)  # type: ignore[arg-type]
    assert query.where is not None


@pytest.mark.parametrize("prefix", ["WHERE x GROUP BY x", "GROUP BY x WHERE x"])
def test_clauses_come_in_any_order(prefix: str) -> None:
    first = parse(f"SELECT x FROM A, B {prefix} WINDOW 5 s")
    second = parse(f"SELECT x FROM A, B WINDOW = 5 s {prefix};")
    assert first == second
    assert (first.window_us, first.group_by, first.where) == (5_000_000, (X,), X)


def test_pair_windows_items_and_aliases() -> None:
    query = parse(
        "EXPLAIN SELECT DISTINCT a.x AS one, COUNT(DISTINCT y), COUNT(*) -- a comment\n"
        "FROM S1 AS a, S2 b, S3 WINDOW (a,b) = 1 s AND DWINDOW (b,S3) = 2 s"
    )
    assert query.explain
    assert query.distinct
    assert query.items == (
        Item(Column("a", "x"), "one"),
        Item(Call("COUNT", (Column(None, "y"),), distinct=True), None),
        Item(Call("COUNT", (), star=True), None),
    )
    assert query.origin == (
        Source("S1", "a", None),
        Source("S2", "b", None),
        Source("S3", "S3", None),
    )
    assert query.pairs == (
        PairWindow("a", "b", 1_000_000, directed=False),
        PairWindow("b", "S3", 2_000_000, directed=True),
    )


def test_sensors_is_a_stream_like_any_other_unless_joined() -> None:
    assert parse("SELECT * FROM sensors JOIN ON gas WINDOW 60 s").origin == Sensors("gas")
    assert parse("SELECT x FROM Sensors S").origin == (Source("Sensors", "S", None),)


def test_words_that_only_begin_like_keywords_are_names() -> None:
    query = parse("SELECT selected, fromage, android, rows, range FROM windows")
    assert [item.value for item in query.items] == [
        Column(None, name) for name in ("selected", "fromage", "android", "rows", "range")
    ]


@pytest.mark.parametrize(
    ("sql", "line", "column", "says"),
    [
        ("SELECT x FORM S", 1, 10, "did you mean FROM?"),
        ("SELECT x FROM S WERE x > 3", 1, 22, "did you mean WHERE for 'WERE'?"),
        ("SELECT x, FROM S", 1, 11, "found 'FROM'; expected an expression"),
        ("SELECT x\nFROM S [ROW 5]", 2, 9, "did you mean ROWS?"),
        ("SELECT x FROM S [RANGE 60]", 1, 24, "60 has no unit; write 60 s"),
        (
            "SELECT x FROM S [RANGE 5 m]",
            1,
            26,
            "found 'm'; expected a unit of time: us, ms, s, min, h or d",
        ),
        ("SELECT x FROM S WINDOW 5mins", 1, 25, "found 'mins'; expected a unit of time: us,"),
        ("SELECT x FROM S WINDOW (S,T) = 5 w", 1, 34, "found 'w'; expected a unit of time: us,"),
        ("SELECT x FROM S [PWINDOW y > NOW - 2 hrs ON x]", 1, 38, "found 'hrs'; expected a unit"),
        ("SELECT x FROM S [ROWS 5 m]", 1, 25, "found 'm'; expected ']'"),
        ("SELECT x FROM S [ROWS 0]", 1, 23, "at least 1"),
        ("SELECT x FROM S [ROWS 1.5]", 1, 23, "whole number"),
        ("SELECT x FROM S\nWHERE", 2, 6, "ends too soon; expected an expression"),
        ("SELECT x FROM S WHERE (x > 3", 1, 29, "expected ')'"),
        ("SELECT x FROM S WHERE x > 'abc", 1, 27, "is not closed"),
        ("SELECT x FROM S WHERE x # 3", 1, 25, "'#' has no meaning"),
        ("SELECT x FROM S WINDOW 1 s WINDOW 2 s", 1, 28, "WINDOW appears twice"),
        ("SELECT x FROM S WHERE x IN (1, -'a')", 1, 33, "expected a number"),
        ("SELECT x FROM S WHERE x > 99999999999999999999", 1, 27, "too large"),
        ("SELECT x FROM S WHERE x > 9223372036854775808", 1, 27, "too large"),
        ("SELECT x FROM S WHERE x > 1e999", 1, 27, "too large"),
        ("SELECT x FROM S [RANGE 999999999999 d]", 1, 24, "too long"),
        ("SELECT x FROM S [RANGE 0.5 us]", 1, 24, "a whole number of microseconds"),
        ("SELECT x FROM Motes JOIN ON gas", 1, 15, "expected SENSORS"),
        ("", 1, 1, "empty"),
        ("DELETE FROM S", 1, 1, "expected EXPLAIN or SELECT"),
        ("SELECT " + "NOT " * 300 + "x FROM S", 1, 408, "nest deeper"),
        ("SELECT x" + " " * LENGTH_MAX + "FROM S", 1, 1, "at most 20,000"),
    ],
)
def test_errors_give_position_and_cause(sql: str, line: int, column: int, says: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(sql)
    (fault,) = caught.value.faults
    assert (fault.at.line, fault.at.column) == (line, column)
    assert says in str(fault)


def test_an_error_shows_the_line_and_marks_the_column() -> None:
    with pytest.raises(QueryError) as caught:
        parse("SELECT x\nFROM S [ROW 5]")
    assert str(caught.value).splitlines()[1:] == ["  FROM S [ROW 5]", "          ^"]


def test_the_sensors_form_is_read_for_scenarios() -> None:
    assert parse_sensors_query("SELECT * FROM SENSORS JOIN ON gas WINDOW 60 s") == SensorsQuery(
        "gas", 60_000_000
    )
    for sql in (
        "SELECT * FROM SENSORS JOIN ON gas",
        "SELECT gas FROM SENSORS JOIN ON gas WINDOW 60 s",
        "SELECT * FROM Motes WINDOW 60 s",
        "SELECT * FROM SENSORS JOIN gas WINDOW 60 s",
    ):
        with pytest.raises(QuerySyntaxError, match="SELECT . FROM SENSORS JOIN ON"):
            parse_sensors_query(sql)
