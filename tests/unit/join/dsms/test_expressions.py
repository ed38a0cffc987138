"""Expressions over very large, infinite and undefined numbers."""

from math import inf

import pytest

from join.dsms.catalog import Catalog, StreamSchema, Type
from join.dsms.engine import Engine
from join.dsms.running_query import Output

COLUMNS = {"k": Type.INTEGER, "x": Type.REAL, "at_us": Type.INTEGER}


def outputs(sql: str, *rows: tuple[object, object]) -> list[Output]:
    """The changes of a query's result over rows (k, x), one each microsecond, and 10 us more."""
    catalog = Catalog()
    catalog.add_stream(StreamSchema("S", COLUMNS))
    engine = Engine(catalog)
    engine.add_query("q", sql)
    changed = []
    for at_us, (k, x) in enumerate(rows):
        changed += engine.arrive("S", (k, x, at_us), at_us)
    return changed + engine.advance(len(rows) + 10)


@pytest.mark.parametrize(
    ("expression", "k", "x"),
    [
        ("x * 1e308 * 10", 1, 2.0),
        ("x * 1e308 * 10 - x * 1e308 * 10", 1, 2.0),
        ("k * k / 2", 10**200, 0.0),
        ("k * x", 10**400, 2.0),
        ("k - x", 1, inf),
        ("x - x", 1, inf),
        ("x % 5", 1, inf),
        ("-x", 1, inf),
        ("abs(x)", 1, -inf),
        ("floor(x)", 1, inf),
        ("sqrt(k)", 10**700, 0.0),
        ("distance(x, 0, x, 1)", 1, inf),
        ("x / 0", 1, 2.0),
        ("k % 0", 1, 2.0),
    ],
    ids=lambda value: str(value)[:40],
)
def test_results_that_are_not_finite_are_null(expression: str, k: int, x: float) -> None:
    (output,) = outputs(f"SELECT {expression} FROM S", (k, x))
    assert output.row == (None,)


def test_whole_numbers_are_exact_however_large() -> None:
    (output,) = outputs("SELECT k * k - k, k % 10 FROM S", (10**30 + 7, 0.0))
    assert output.row == ((10**30 + 7) ** 2 - 10**30 - 7, 7)


@pytest.mark.parametrize("aggregate", ["SUM", "AVG"])
def test_a_sum_is_null_while_it_is_not_finite(aggregate: str) -> None:
    changed = outputs(f"SELECT {aggregate}(x) FROM S [ROWS 1]", (1, inf), (1, -inf), (1, 2.0))
    assert [output.row for output in changed] == [(None,), (2.0,)]
    changed = outputs(
        f"SELECT {aggregate}(x) FROM S [ROWS 2]", (1, 1.7e308), (1, 1.7e308), (1, 0.0)
    )
    if aggregate == "SUM":
        assert [output.row for output in changed] == [(1.7e308,), (None,), (1.7e308,)]
    else:
        assert [output.row for output in changed] == [(1.7e308,), (8.5e307,)]


def test_infinities_pass_through_distinct_and_extremes() -> None:
    rows = [(1, inf), (2, -inf), (3, 1.0)]
    changed = outputs("SELECT DISTINCT x - x FROM S [ROWS 1]", *rows)
    assert [output.row for output in changed if output.change.value == "+"] == [(None,), (0.0,)]
    changed = outputs("SELECT MAX(x - x), MAX(x) FROM S [ROWS 1]", *rows)
    assert [output.row for output in changed] == [(None, inf), (None, -inf), (0.0, 1.0)]


@pytest.mark.parametrize(
    ("predicate", "changes"),
    [("NOW < x", [(0, "+")]), ("NOW - x < 0", []), ("NOW + x * 2 > 0", [])],
)
def test_now_compared_with_infinity(predicate: str, changes: list[tuple[int, str]]) -> None:
    changed = outputs(f"SELECT k FROM S [PWINDOW {predicate} ON k]", (1, inf))
    assert [(output.at_us, output.change.value) for output in changed] == changes


@pytest.mark.parametrize(("column", "kind"), [("k", Type.INTEGER), ("x", Type.REAL)])
def test_abs_is_of_its_arguments_type(column: str, kind: Type) -> None:
    catalog = Catalog()
    catalog.add_stream(StreamSchema("S", COLUMNS))
    assert Engine(catalog).add_query("q", f"SELECT abs({column}) AS a FROM S").columns == {
        "a": kind
    }
