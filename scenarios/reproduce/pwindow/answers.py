"""PWindow Example 1 and §3: a table of answers, second by second, of every kind of window the paper compares."""

from functools import partial
from typing import TYPE_CHECKING, Final

from scenarios.reproduce.drawing import label_axes, panels
from scenarios.reproduce.figure import Figure, Finding, Point, Row, Size
from scenarios.reproduce.pwindow.example import (
    END_S,
    EXAMPLE_1,
    LATER,
    QUERIES,
    counts,
    evaluations,
    play,
    selectivities,
    windows,
)
from scenarios.reproduce.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

SHOWN: Final = ("q1", "q2", "where", "partition-window", "partition-query", "now")
QUERIES_SHARING: Final = 10
SAME_POSITIVE: Final = {
    "stays": ((1, 95, 1), (1, 96, 2), (2, 80, 3), (2, 81, 4)),
    "leaves": ((1, 95, 1), (1, 80, 2), (2, 95, 3), (2, 81, 4)),
}
"""Two inputs, half of whose tuples qualify; in the first those of one sensor, in the second one of each."""


def points(size: Size) -> list[Point]:
    """Every query, and what is counted; all sizes are alike."""
    del size
    found: list[Point] = [{"part": "query", "query": query} for query in QUERIES]
    found += [{"part": "count", "query": name} for name in windows()]
    found += [{"part": "selectivity", "query": name} for name in SAME_POSITIVE]
    return found + [{"part": "sharing", "query": name} for name in ("one window", "ten windows")]


def measure(point: Point) -> list[Row]:
    """Answers by second, counts as shown, selectivities or evaluations."""
    query = point["query"]
    match point["part"]:
        case "query":
            return [
                {"at_s": at_s, "answer": answer, "changes": changes}
                for at_s, answer, changes in play(QUERIES[query], (*EXAMPLE_1, *LATER))
            ]
        case "count":
            shown = counts(windows()[query])
            return [{"counts": " ".join(map(str, shown))}]
        case "selectivity":
            positive, negative = selectivities(SAME_POSITIVE[query])
            return [{"positive": positive, "negative": negative}]
        case _:
            different = query == "ten windows"
            return [{"evaluations": evaluations(QUERIES_SHARING, different=different)}]


def draw(table: Table) -> "Canvas":
    """The table of answers."""
    canvas, (axes,) = panels(1)
    canvas.set_size_inches(9, 3.2)
    axes.axis("off")
    cells = [[answer(table, query, at_s) or "–" for at_s in range(1, END_S + 1)] for query in SHOWN]
    times = [f"{at_s} s" for at_s in range(1, END_S + 1)]
    drawn = axes.table(
        cells, rowLabels=list(SHOWN), colLabels=times, loc="center", cellLoc="center"
    )
    drawn.scale(1, 1.4)
    label_axes(axes, "", "", title="sensors in the answer")
    return canvas


def answer(table: Table, query: str, at_s: int) -> str:
    """The sensors in the answer of a query at a second."""
    (found,) = table.where(query=query, at_s=at_s).column("answer")
    return str(found)


def changes(table: Table, query: str, at_s: int) -> str:
    """The changes of the answer of a query at a second."""
    (found,) = table.where(query=query, at_s=at_s).column("changes")
    return str(found)


def _answers(table: Table, query: str, wanted: str) -> Finding:
    found = answer(table, query, 6)
    return Finding(found == wanted, f"sensors {found} at 6 s")


def _leaves(table: Table, query: str, sensor: str) -> int | None:
    """The first second at which a sensor is gone that was there before."""
    there = False
    for at_s in range(1, END_S + 1):
        inside = sensor in answer(table, query, at_s).split()
        if there and not inside:
            return at_s
        there = inside
    return None


def _expiry(table: Table) -> Finding:
    early, late = _leaves(table, "q1", "2"), _leaves(table, "q2", "2")
    holds = early == 5 and late == 8
    ours = f"gone from Q1 at {early} s, from Q2 just after 7 s (our windows are closed: still there at 7 s, gone at {late} s)"
    return Finding(holds, ours)


def _updates(table: Table) -> Finding:
    found = changes(table, "q1", 6)
    return Finding(found == "u3", f"changes of Q1 at 6 s: {found}")


def _where(table: Table) -> Finding:
    held = [at_s for at_s in range(2, END_S + 1) if "2" in answer(table, "where", at_s).split()]
    return Finding(len(held) == END_S - 1, f"sensor 2 in the answer at {held[0]} to {held[-1]} s")


def _sliding(table: Table) -> Finding:
    q1 = [answer(table, "q1", at_s) for at_s in range(1, END_S + 1)]
    ranges = [query for query in table.distinct("query") if str(query).startswith("range-")]
    equal = [
        query
        for query in ranges
        if [answer(table, query, at_s) for at_s in range(1, END_S + 1)] == q1
    ]
    return Finding(not equal, f"{len(equal)} of {len(ranges)} sizes from 0.5 to 10 s")


def _out_of_order(table: Table) -> Finding:
    came = {sensor: _comes(table, sensor) for sensor in ("1", "3")}
    went = {sensor: _leaves(table, "q1", sensor) for sensor in ("1", "3")}
    ours = f"sensor 3 entered at {came['3']} s and sensor 1 at {came['1']} s; they left at {went['3']} s and {went['1']} s"
    assert went["1"] is not None
    assert went["3"] is not None
    return Finding(came["3"] < came["1"] and went["1"] < went["3"], ours)


def _comes(table: Table, sensor: str) -> int:
    return next(at_s for at_s in range(1, END_S + 1) if sensor in answer(table, "q1", at_s).split())


def _partition_window(table: Table) -> Finding:
    at_6 = answer(table, "partition-window", 6), answer(table, "q1", 6)
    holds = "2" in at_6[0].split() and "2" not in at_6[1].split()
    return Finding(holds, f"at 6 s sensors {at_6[0]}, Q1 sensors {at_6[1]}")


def _partition_query(table: Table) -> Finding:
    found, q1 = changes(table, "partition-query", 6), changes(table, "q1", 6)
    return Finding(found == "-3 +3" and q1 == "u3", f"changes at 6 s: {found}; of Q1: {q1}")


def _count(table: Table) -> Finding:
    shown = {name: table.where(part="count", query=name).column("counts")[0] for name in windows()}
    holds = shown["partition"].endswith("10 9 10") and "9 10 9" not in shown["predicate"]
    ours = f"one change after the other, partitioned: … {shown['partition'][-9:]}; predicate window: … {shown['predicate'][-9:]}"
    return Finding(holds, ours)


def _now(table: Table) -> Finding:
    at_6 = answer(table, "now", 6), answer(table, "q1", 6)
    return Finding(at_6 == ("3", "1 3"), f"at 6 s sensors {at_6[0]}, Q1 sensors {at_6[1]}")


def _dynamic(table: Table) -> Finding:
    both = [
        [answer(table, query, at_s) for at_s in range(1, END_S + 1)]
        for query in ("range", "dynamic")
    ]
    return Finding(both[0] == both[1], f"answers at 1 to {END_S} s: {', '.join(both[1])}")


def _selectivity(table: Table) -> Finding:
    found = [
        (rows.mean("positive"), rows.mean("negative"))
        for rows in (table.where(part="selectivity", query=name) for name in SAME_POSITIVE)
    ]
    holds = found[0][0] == found[1][0] and found[0][1] != found[1][1]
    ours = " and ".join(
        f"positive {positive:.0%}, negative {negative:.0%}" for positive, negative in found
    )
    return Finding(holds, ours)


def _sharing(table: Table) -> Finding:
    one, ten = (
        table.where(part="sharing", query=name).column("evaluations")[0]
        for name in ("one window", "ten windows")
    )
    ours = f"{one} evaluations for {len(EXAMPLE_1)} tuples and {QUERIES_SHARING} queries; {ten} if each has its own"
    return Finding(one == len(EXAMPLE_1) and ten == QUERIES_SHARING * one, ours)


FIGURE = Figure(
    "pwindow-answers",
    "PWindow §1.1 (Example 1), §3, §4.3, §5",
    "answers of predicate windows, sliding windows, partitioned windows and others, second by second",
    points,
    measure,
    draw,
    {
        "pwindow-example-q1": partial(_answers, query="q1", wanted="1 3"),
        "pwindow-example-q2": partial(_answers, query="q2", wanted="1 2 3"),
        "pwindow-example-expiry": _expiry,
        "pwindow-example-update": _updates,
        "pwindow-where": _where,
        "pwindow-sliding": _sliding,
        "pwindow-out-of-order": _out_of_order,
        "pwindow-partition-window": _partition_window,
        "pwindow-partition-query": _partition_query,
        "pwindow-count": _count,
        "pwindow-now": _now,
        "pwindow-dynamic": _dynamic,
        "pwindow-selectivity": _selectivity,
        "pwindow-sharing": _sharing,
    },
    (
        "Two readings follow Example 1, so that two sensors leave.",
        "Windows are closed: a row of 2 s is in a window of 5 s up to and including 7 s.",
        "Our engine nets the changes of an instant, so the transient count is shown by handing it one change after the other.",
    ),
)
