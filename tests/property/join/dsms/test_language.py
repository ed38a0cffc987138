"""Any input ends in a query or a clean error, quickly."""

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from join.dsms.language.errors import QueryError
from join.dsms.language.parse import LENGTH_MAX, parse

SECONDS_MAX = 2.0

VALID = [
    "SELECT COUNT(DISTINCT A.place) FROM T A, H B WHERE A.place = B.place AND A.v > 30 WINDOW 1 min;",
    "SELECT A.p, MAX(A.v) AS top FROM T A, H AS B WHERE A.p = B.p GROUP BY A.p WINDOW 1 hour",
    "SELECT S.id FROM Sensors S [PWINDOW S.t > 90 ON S.id]",
    "SELECT S.id FROM Sensors S [PWINDOW IN S.t > 90 OUT S.t < 80 ON S.id, S.room]",
    "SELECT S.id FROM Sensors S PWINDOW S.at_us > NOW - 5 s ON S.at_us",
    "SELECT S.id FROM Sensors S [PARTITION BY S.id ROWS 1 WHERE S.t > 90], B [ROWS 3], C [NOW]",
    "EXPLAIN SELECT A.x FROM A, B, C WINDOW (A,B) = 1 s AND DWINDOW (B,C) = 2.5 ms WHERE f(A.o, B.o)",
    "SELECT * FROM SENSORS JOIN ON gas WINDOW 60 s",
    "SELECT DISTINCT a+b*-2 FROM S [RANGE 9 d] WHERE NOT (x IN (1, 'a', NULL) OR y IS NOT NULL) -- end",
    'SELECT "odd" FROM S WHERE x BETWEEN 1e3 AND 2 % 7 AND y NOT IN Rooms.id',
]

TOKENS = sorted({token for sql in VALID for token in sql.split()} | set("()[],.=<>*+-/%;'\"\n"))


def check(sql: str) -> None:
    began = time.monotonic()
    caught = None
    try:
        parse(sql)
    except QueryError as error:
        caught = error
    assert time.monotonic() - began < SECONDS_MAX
    if caught:
        assert str(caught)
        lines = len(sql.splitlines()) + 1
        assert all(1 <= fault.at.line <= lines for fault in caught.faults)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_random_bytes(data: bytes) -> None:
    check(data.decode("latin-1"))


@settings(deadline=None)
@given(st.text(max_size=200))
def test_random_text(sql: str) -> None:
    check(sql)


@settings(deadline=None)
@given(st.sampled_from(VALID), st.integers(0, 200))
def test_truncated_queries(sql: str, length: int) -> None:
    check(sql[:length])


@settings(deadline=None)
@given(st.sampled_from(VALID), st.data())
def test_mutated_queries(sql: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(sql)))
        length = data.draw(st.integers(0, 8))
        sql = sql[:place] + data.draw(st.text(max_size=3)) + sql[place + length :]
    check(sql)


@settings(deadline=None)
@given(st.lists(st.sampled_from(TOKENS), max_size=30))
def test_shuffled_words(words: list[str]) -> None:
    check(" ".join(words))


@settings(deadline=None)
@given(
    st.sampled_from(["(", "NOT ", "-", "f(", "1+", "x AND ", "x OR (", "((x)+"]),
    st.integers(1, LENGTH_MAX),
    st.booleans(),
)
def test_deep_nesting(opening: str, depth: int, closes: bool) -> None:
    count = min(depth, LENGTH_MAX // len(opening) - 20)
    closing = ")" * (opening.count("(") - opening.count(")")) * count if closes else ""
    check(f"SELECT {opening * count}x{closing} FROM S")


def test_valid_queries_parse() -> None:
    for sql in VALID:
        parse(sql)
