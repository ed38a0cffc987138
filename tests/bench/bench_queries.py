"""Rows per CPU second of the query engine, by kind of query; results are checked before a time counts."""

import time
from collections.abc import Callable

from join.dsms.catalog import Catalog, StreamSchema, Type
from join.dsms.changes import Row
from join.dsms.engine import Engine
from sim.rng import RandomStreams

ROWS = 20_000
SENSORS = 200
S = 1_000_000


def _catalog() -> Catalog:
    catalog = Catalog()
    columns = {"id": Type.INTEGER, "v": Type.INTEGER, "at_us": Type.INTEGER}
    for stream in ("A", "B"):
        catalog.add_stream(StreamSchema(stream, columns))
    return catalog


def _rows() -> list[tuple[str, Row, int]]:
    """Two streams of readings, 100 a second each."""
    draws = RandomStreams(1).scalar("bench.queries")
    return [
        ("AB"[n % 2], (draws.randrange(SENSORS), draws.randrange(100), n * S // 200), n * S // 200)
        for n in range(ROWS)
    ]


def _run(sqls: list[str], schedule: str | None) -> tuple[float, list[int]]:
    """CPU seconds, and the number of changes per query."""
    engine = Engine(_catalog(), schedule=schedule)
    for number, sql in enumerate(sqls):
        engine.add_query(str(number), sql)
    rows = _rows()
    began_s = time.process_time()
    for stream, row, at_us in rows:
        engine.arrive(stream, row, at_us)
    engine.finish()
    return time.process_time() - began_s, [query.outputs for query in engine.queries.values()]


JOIN = "FROM A a, B b WHERE a.id = b.id"

CASES: dict[str, tuple[list[str], str | None, Callable[[list[int]], bool]]] = {
    "selection": (
        ["SELECT id FROM A WHERE v > 50"],
        None,
        lambda changes: 4500 < changes[0] < 5500,
    ),
    "predicate window": (
        ["SELECT id FROM A [PWINDOW v > 90 ON id]"],
        None,
        lambda changes: 1000 < changes[0] < 3000,
    ),
    "group by, 10 s": (
        ["SELECT id, AVG(v) FROM A [RANGE 10 s] GROUP BY id"],
        None,
        lambda changes: changes[0] > ROWS // 2,
    ),
    "join, 10 s": (
        [f"SELECT a.v, b.v {JOIN} WINDOW 10 s"],
        None,
        lambda changes: changes[0] > 100_000,
    ),
    "join, 60 s, mqt": (
        [f"SELECT a.v, b.v {JOIN} WINDOW 60 s"],
        "mqt",
        lambda changes: changes[0] > 500_000,
    ),
    "7 joins alone": (
        [f"SELECT COUNT(*) {JOIN} WINDOW {w} s" for w in (1, 2, 3, 4, 5, 6, 7)],
        None,
        lambda changes: min(changes) > 1000,
    ),
    "7 joins shared, mqt": (
        [f"SELECT COUNT(*) {JOIN} WINDOW {w} s" for w in (1, 2, 3, 4, 5, 6, 7)],
        "mqt",
        lambda changes: min(changes) > 1000,
    ),
}


def main() -> None:
    """Print rows per second for each kind of query."""
    for name, (sqls, schedule, is_right) in CASES.items():
        seconds, changes = _run(sqls, schedule)
        assert is_right(changes), (name, changes)
        rates = f"{ROWS / seconds:>9,.0f} rows/s, {sum(changes) / seconds:>9,.0f} changes/s"
        print(f"{name:<22} {rates}")


if __name__ == "__main__":
    main()
