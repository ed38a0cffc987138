"""At every instant each result equals a snapshot query, recomputed from scratch by DuckDB.

The oracle shares nothing with the engine: windows are SQL over the whole history, predicate windows included.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import groupby, pairwise

import duckdb
from hypothesis import given, settings
from hypothesis import strategies as st

from join.dsms.catalog import Catalog, StreamSchema, Table, Type
from join.dsms.changes import Row
from join.dsms.engine import Engine
from join.dsms.running_query import Output

COLUMNS = {"k": Type.INTEGER, "v": Type.INTEGER, "at_us": Type.INTEGER}
STREAMS = ("S", "T", "U")


@dataclass(frozen=True)
class Source:
    """A stream in a window: in our language, and as SQL over its history."""

    stream: str
    alias: str
    window: str
    snapshot: str
    """With {base} for the history so far and {now} for the time."""


BASE = "(SELECT * FROM {stream} WHERE seq <= {seq})"
LAST = "(SELECT * FROM {base} QUALIFY row_number() OVER (PARTITION BY k ORDER BY seq DESC) = 1)"


def window_forms(draw: st.DrawFn) -> tuple[str, str]:
    """A window over one stream, in both languages."""
    number = draw(st.integers(1, 4))
    constant = draw(st.integers(-1, 2))
    return draw(
        st.sampled_from(
            [
                (
                    f"[RANGE {number} us]",
                    f"(SELECT * FROM {{base}} WHERE at_us >= {{now}} - {number})",
                ),
                ("[NOW]", "(SELECT * FROM {base} WHERE at_us >= {now})"),
                (f"[ROWS {number}]", f"(SELECT * FROM {{base}} ORDER BY seq DESC LIMIT {number})"),
                (
                    f"[PARTITION BY k ROWS {number}]",
                    (
                        "(SELECT * FROM {base} QUALIFY row_number() OVER"
                        f" (PARTITION BY k ORDER BY seq DESC) <= {number})"
                    ),
                ),
                (
                    f"[PARTITION BY k ROWS {number} WHERE v > {constant}]",
                    (
                        f"(SELECT * FROM {{base}} WHERE v > {constant} QUALIFY row_number() OVER"
                        f" (PARTITION BY k ORDER BY seq DESC) <= {number})"
                    ),
                ),
                (
                    f"[PWINDOW v > {constant} ON k]",
                    f"(SELECT * FROM {LAST} WHERE v > {constant})",
                ),
                (
                    f"[PWINDOW v > {constant} OR k = 1 ON k]",
                    f"(SELECT * FROM {LAST} WHERE v > {constant} OR k = 1)",
                ),
                ("[PWINDOW v IN R ON k]", f"(SELECT * FROM {LAST} WHERE v IN (SELECT x FROM R))"),
                (
                    f"[PWINDOW at_us > NOW - {number} us ON at_us]",
                    f"(SELECT * FROM {{base}} WHERE at_us > {{now}} - {number})",
                ),
                (
                    f"[PWINDOW NOW - at_us >= {number} ON k]",
                    f"(SELECT * FROM {LAST} WHERE {{now}} - at_us >= {number})",
                ),
                (
                    f"[PWINDOW 2 * NOW <= at_us + at_us + {number} ON k]",
                    f"(SELECT * FROM {LAST} WHERE 2 * {{now}} <= 2 * at_us + {number})",
                ),
                (
                    f"[PWINDOW NOW < at_us + {number} AND v IS NOT NULL ON k]",
                    f"(SELECT * FROM {LAST} WHERE {{now}} < at_us + {number} AND v IS NOT NULL)",
                ),
                (
                    f"[PWINDOW IN v > {constant} OUT v < {constant - 1} ON k]",
                    (
                        f"(SELECT * FROM {LAST} WHERE k IN (SELECT k FROM {{base}} WHERE v > {constant} OR"
                        f" v < {constant - 1} GROUP BY k HAVING arg_max(v > {constant}, seq)))"
                    ),
                ),
            ]
        )
    )


def atom(draw: st.DrawFn, aliases: list[str]) -> str:
    """A condition with the same meaning in both languages."""
    a, b = draw(st.sampled_from(aliases)), draw(st.sampled_from(aliases))
    constant = draw(st.integers(-2, 2))
    comparison = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
    return draw(
        st.sampled_from(
            [
                f"{a}.v {comparison} {constant}",
                f"{a}.v {comparison} {b}.v",
                f"{a}.k = {b}.k",
                f"{a}.k + 1 = {b}.k",
                f"{a}.v * 2 - {b}.k {comparison} {constant}",
                f"{a}.v % 2 = 1",
                f"{a}.v IS NULL",
                f"{a}.v IN (1, 2)",
                f"{a}.v BETWEEN -1 AND {constant}",
                f"{a}.v IN R",
                f"{a}.v NOT IN R",
            ]
        )
    )


def condition(draw: st.DrawFn, aliases: list[str]) -> str:
    first = atom(draw, aliases)
    match draw(st.integers(0, 3)):
        case 0:
            return f"({first} OR {atom(draw, aliases)})"
        case 1:
            return f"NOT ({first} AND {atom(draw, aliases)})"
        case _:
            return first


@dataclass(frozen=True)
class Case:
    """A query in our language, and its snapshot as SQL with placeholders {seq} and {now}."""

    sql: str
    snapshot: str
    waits: bool
    """Whether a row that arrives before its time counts only from then on: windows between streams."""


@st.composite
def cases(draw: st.DrawFn) -> Case:
    count = draw(st.sampled_from([1, 1, 1, 2, 2, 3]))
    aliases = ["a", "b", "c"][:count]
    streams = [draw(st.sampled_from(STREAMS)) for _ in aliases]
    tail = ""
    extra: list[str] = []
    if count > 1 and draw(st.booleans()):
        windows, tail, extra = joined_windows(draw, aliases)
    else:
        windows = [window_forms(draw) for _ in aliases]
    sources = [Source(s, a, *w) for s, a, w in zip(streams, aliases, windows, strict=True)]
    conditions = [condition(draw, aliases) for _ in range(draw(st.integers(0, 2)))]
    if count > 1 and draw(st.booleans()):
        conditions += [f"{x}.k = {y}.k" for x, y in pairwise(aliases)]
    items, group_by = select_list(draw, aliases)
    ours = f"SELECT {items} FROM " + ", ".join(f"{s.stream} {s.alias} {s.window}" for s in sources)
    theirs = f"SELECT {items.replace('IN R', 'IN (SELECT x FROM R)')} FROM " + ", ".join(
        s.snapshot.replace("{base}", BASE.replace("{stream}", s.stream)) + f" {s.alias}"
        for s in sources
    )
    if conditions:
        ours += " WHERE " + " AND ".join(conditions)
    everything = conditions + extra
    if everything:
        wanted = " AND ".join(f"({c})" for c in everything)
        theirs += " WHERE " + wanted.replace("IN R", "IN (SELECT x FROM R)")
    if group_by:
        ours += f" GROUP BY {group_by}"
        theirs += f" GROUP BY {group_by}"
    return Case(f"{ours} {tail}", theirs, waits=bool(tail))


def joined_windows(
    draw: st.DrawFn, aliases: list[str]
) -> tuple[list[tuple[str, str]], str, list[str]]:
    """Windows between streams: per stream how long a row is valid, the clause, and the conditions on pairs."""
    if draw(st.booleans()):
        width = draw(st.integers(0, 4))
        form = ("", f"(SELECT * FROM {{base}} WHERE at_us BETWEEN {{now}} - {width} AND {{now}})")
        return [form] * len(aliases), f"WINDOW {width} us", []
    widths = [draw(st.integers(0, 4)) for _ in aliases[1:]]
    directed = [draw(st.booleans()) for _ in aliases[1:]]
    clauses, extra = [], []
    for i, (width, is_directed) in enumerate(zip(widths, directed, strict=True)):
        x, y = aliases[i], aliases[i + 1]
        clauses.append(f"{'D' if is_directed else ''}WINDOW ({x},{y}) = {width} us")
        least = 0 if is_directed else -width
        extra.append(f"{y}.at_us - {x}.at_us BETWEEN {least} AND {width}")
    tail = " AND ".join(clauses)
    if any(directed) and draw(st.booleans()):
        tail += " EITHER WAY"
        turned = [
            f"{aliases[i]}.at_us - {aliases[i + 1]}.at_us BETWEEN {0 if one_way else -width} AND {width}"
            for i, (width, one_way) in enumerate(zip(widths, directed, strict=True))
        ]
        extra = [f"({' AND '.join(extra)}) OR ({' AND '.join(turned)})"]
    # On a path a row's largest window is the path to the farther end, in the longer direction; the way back along
    # a directed window takes no time.
    back = [
        0 if is_directed else width for width, is_directed in zip(widths, directed, strict=True)
    ]
    lives = []
    for i in range(len(aliases)):
        lives.append(max(sum(widths[:i]), sum(back[:i]), sum(widths[i:]), sum(back[i:])))
    forms = [
        ("", f"(SELECT * FROM {{base}} WHERE at_us BETWEEN {{now}} - {life} AND {{now}})")
        for life in lives
    ]
    return forms, tail, extra


def select_list(draw: st.DrawFn, aliases: list[str]) -> tuple[str, str]:
    a, b = draw(st.sampled_from(aliases)), draw(st.sampled_from(aliases))
    aggregates = f"COUNT(*), COUNT({a}.v), COUNT(DISTINCT {b}.v), SUM({a}.v), AVG({b}.v), MIN({a}.v), MAX({b}.v)"
    return draw(
        st.sampled_from(
            [
                (f"{a}.k, {b}.v", ""),
                (f"DISTINCT {a}.k", ""),
                (f"DISTINCT {a}.v, {b}.k + 1", ""),
                (f"{a}.v / 2, -{b}.k, {a}.at_us", ""),
                (aggregates, ""),
                (f"{a}.k, {aggregates}", f"{a}.k"),
                (f"{a}.k, MAX({b}.v) - MIN({b}.v)", f"{a}.k, {b}.k"),
                (f"DISTINCT COUNT({b}.v)", f"{a}.v"),
                (f"{a}.k, {b}.v IN R", ""),
                (f"DISTINCT {a}.v NOT IN R, {b}.k IN R OR {a}.v IS NULL", ""),
                (f"COUNT({a}.v IN R), MAX({b}.k IN R), MAX({a}.k) NOT IN R", ""),
                (f"{a}.k, {a}.k IN R, MIN({b}.v IN R), COUNT(*) IN R", f"{a}.k"),
            ]
        )
    )


@dataclass(frozen=True)
class Arrive:
    stream: str
    k: int
    v: int | None
    wait_us: int
    late_us: int
    """Below 0: it arrives before its time."""


@dataclass(frozen=True)
class Wait:
    wait_us: int


@dataclass(frozen=True)
class Change:
    x: int


events = st.lists(
    st.one_of(
        st.builds(
            Arrive,
            st.sampled_from(STREAMS),
            st.integers(0, 2),
            st.one_of(st.none(), st.integers(-2, 3)),
            st.sampled_from([0, 0, 1, 1, 2, 3]),
            st.sampled_from([0, 0, 0, 1, 2, 4, -1, -3]),
        ),
        st.builds(Wait, st.integers(1, 3)),
        st.builds(Change, st.integers(-2, 3)),
    ),
    min_size=1,
    max_size=14,
)

oracle = duckdb.connect()


def reset_oracle() -> None:
    for stream in STREAMS:
        oracle.execute(f"CREATE OR REPLACE TABLE {stream} (k INT, v INT, at_us BIGINT, seq BIGINT)")
    oracle.execute("CREATE OR REPLACE TABLE R (x INT)")


def snapshot(case: Case, seq: int, now_us: int) -> Counter[Row]:
    sql = case.snapshot.replace("{seq}", str(seq)).replace("{now}", str(now_us))
    return Counter(oracle.execute(sql).fetchall())


def follow(answer: Counter[Row], outputs: list[Output], now_us: int) -> None:
    for _, of_instant in groupby(outputs, key=lambda output: output.at_us):
        changes = [(o.old if o.change == "u" else None, o.row, o.change) for o in of_instant]
        gone = {row if change == "-" else old for old, row, change in changes if old != row}
        come = {row for old, row, change in changes if change != "-" and old != row}
        assert not (gone - {None}) & come, "a row came and went within an instant"
    for output in outputs:
        assert output.at_us <= now_us
        if output.change == "-":
            answer[output.row] -= 1
        else:
            if output.change == "u":
                assert output.old is not None
                answer[output.old] -= 1
            answer[output.row] += 1
    assert min(answer.values(), default=0) >= 0, "a row was removed that did not exist"
    for row in [row for row, count in answer.items() if not count]:
        del answer[row]


@settings(deadline=None, max_examples=250)
@given(cases(), events)
def test_results_equal_snapshots_at_every_instant(
    case: Case, story: list[Arrive | Wait | Change]
) -> None:
    reset_oracle()
    catalog = Catalog()
    for stream in STREAMS:
        catalog.add_stream(StreamSchema(stream, COLUMNS))
    catalog.add_table(Table("R", {"x": Type.INTEGER}))
    engine = Engine(catalog)
    engine.add_query("q", case.sql)
    answer: Counter[Row] = Counter()
    now_us = 0
    begins_us: list[int] = []
    """When the rows of the query's streams start to count."""
    table: set[int] = set()
    outputs: list[Output] = []
    for seq, event in enumerate(story):
        match event:
            case Arrive(stream, k, v, wait_us, late_us):
                now_us += wait_us
                at_us = now_us - late_us
                oracle.execute(f"INSERT INTO {stream} VALUES (?, ?, ?, ?)", [k, v, at_us, seq])
                outputs += engine.arrive(stream, (k, v, at_us), at_us, now_us=now_us)
                if f" {stream} " in case.sql:
                    begins_us.append(max(now_us, at_us) if case.waits else now_us)
            case Wait(wait_us):
                now_us += wait_us
            case Change(x):
                if x in table:
                    oracle.execute("DELETE FROM R WHERE x = ?", [x])
                    outputs += engine.change_table("R", now_us, delete=[(x,)])
                else:
                    oracle.execute("INSERT INTO R VALUES (?)", [x])
                    outputs += engine.change_table("R", now_us, insert=[(x,)])
                table ^= {x}
        if seq + 1 < len(story) and not getattr(story[seq + 1], "wait_us", 0):
            # Something else happens at this instant.
            continue
        outputs += engine.advance(now_us)
        follow(answer, outputs, now_us)
        outputs = []
        expected = snapshot(case, seq, now_us)
        if min(begins_us, default=now_us + 1) > now_us and not answer:
            # Before the first row of its streams a query has no output, not even a count of zero.
            continue
        assert answer == expected, case.sql
