"""Recall by its definitions, word by word, and cases whose verdict is known by hand."""

from collections import Counter
from pathlib import Path

from tests.support.run_directories import Ground, Row, write_run

Reading = tuple[int, int, int]
Verdict = tuple[int, int, int, int]
"""Owed and delivered pairs, duplicates, spurious listings."""

US_PER_S = 1_000_000


def verdict(ground: Ground) -> Verdict:
    """The definitions of `analysis.metrics.recall`, word by word."""
    readings = set(ground.readings)

    def before(one: Reading, other: Reading) -> bool:
        return (one[2], one[1]) < (other[2], other[1])

    def match(one: Reading, other: Reading) -> bool:
        same = one in readings and other in readings and one[0] == other[0]
        return same and one[1] != other[1] and abs(one[2] - other[2]) <= ground.window_us

    owed = {(r, s[1]) for r in readings for s in readings if match(r, s) and before(s, r)}
    delivered = set()
    spurious = 0
    rows_telling: Counter[tuple[str, Reading, int]] = Counter()
    for query, value, node, at, partners in ground.results:
        origin = (value, node, at)
        rows_telling.update({(query, origin, partner) for partner, _ in partners})
        for partner, partner_at in partners:
            other = (value, partner, partner_at)
            if not match(origin, other):
                spurious += 1
                continue
            delivered.add((origin, partner))
            if before(origin, other):
                delivered.add((other, node))
    duplicates = sum(rows - 1 for rows in rows_telling.values())
    return len(owed), len(owed & delivered), duplicates, spurious


def as_rows(ground: Ground) -> dict[str, list[Row]]:
    return {
        "readings": [(at, node, value, None, at) for value, node, at in ground.readings],
        "results": [
            (at + 5, query, "+", value, node, at, 2, partners, 5, 2, False, False, None)
            for query, value, node, at, partners in ground.results
        ],
    }


def as_directory(folder: Path, name: str, ground: Ground) -> Path:
    return write_run(folder / name, as_rows(ground), window_s=ground.window_us / US_PER_S)


W = 10
CASES: dict[str, tuple[Ground, Verdict]] = {
    "nothing": (Ground(W), (0, 0, 0, 0)),
    "at the far edge": (
        Ground(W, [(1, 0, 0), (1, 1, W)], [("q", 1, 1, W, [(0, 0)])]),
        (1, 1, 0, 0),
    ),
    "past the far edge": (
        Ground(W, [(1, 0, 0), (1, 1, W + 1)], [("q", 1, 1, W + 1, [(0, 0)])]),
        (0, 0, 0, 1),
    ),
    "tie owed to the higher node": (
        Ground(W, [(1, 0, 5), (1, 1, 5)], [("q", 1, 1, 5, [(0, 5)])]),
        (1, 1, 0, 0),
    ),
    "tie reported the other way round": (
        Ground(W, [(1, 0, 5), (1, 1, 5)], [("q", 1, 0, 5, [(1, 5)])]),
        (1, 1, 0, 0),
    ),
    "tie reported beside a row in order": (
        Ground(
            W,
            [(1, 0, 3), (1, 0, 5), (1, 1, 5)],
            [("q", 1, 1, 5, [(0, 3)]), ("q", 1, 0, 5, [(1, 5)])],
        ),
        (1, 1, 0, 0),
    ),
    "overtaken": (Ground(W, [(1, 0, 5), (1, 1, 7)], [("q", 1, 0, 5, [(1, 7)])]), (1, 1, 0, 0)),
    "overtaken and owed itself": (
        # Node 1 is owed to node 0's reading by its reading at 2; the one listed is the one at 7.
        Ground(W, [(1, 1, 2), (1, 0, 5), (1, 1, 7)], [("q", 1, 0, 5, [(1, 7)])]),
        (2, 2, 0, 0),
    ),
    "reported from both sides": (
        Ground(
            W,
            [(1, 0, 5), (1, 1, 7)],
            [("q", 1, 0, 5, [(1, 7)]), ("q", 1, 1, 7, [(0, 5)])],
        ),
        (1, 1, 0, 0),
    ),
    "reported twice": (
        Ground(W, [(1, 0, 5), (1, 1, 7)], [("q", 1, 1, 7, [(0, 5)])] * 2),
        (1, 1, 1, 0),
    ),
    "reported to two queries": (
        Ground(W, [(1, 0, 5), (1, 1, 7)], [("q", 1, 1, 7, [(0, 5)]), ("p", 1, 1, 7, [(0, 5)])]),
        (1, 1, 0, 0),
    ),
    "node listed with two times": (
        Ground(W, [(1, 0, 4), (1, 0, 5), (1, 1, 7)], [("q", 1, 1, 7, [(0, 4), (0, 5)])]),
        (1, 1, 0, 0),
    ),
    "another value": (Ground(W, [(1, 0, 5), (2, 1, 7)], [("q", 2, 1, 7, [(0, 5)])]), (0, 0, 0, 1)),
    "made up partner beside a true one": (
        Ground(W, [(1, 0, 5), (1, 1, 7)], [("q", 1, 1, 7, [(0, 5), (2, 6)])]),
        (1, 1, 0, 1),
    ),
    "made up time": (Ground(W, [(1, 0, 5), (1, 1, 7)], [("q", 1, 1, 7, [(0, 6)])]), (1, 0, 0, 1)),
    "made up origin": (Ground(W, [(1, 0, 5), (1, 1, 7)], [("q", 1, 1, 8, [(0, 5)])]), (1, 0, 0, 1)),
    "itself": (Ground(W, [(1, 0, 5), (1, 0, 7)], [("q", 1, 0, 7, [(0, 5)])]), (0, 0, 0, 1)),
    "chain of one node": (
        Ground(W, [(1, 0, 0), (1, 0, 8), (1, 0, 16), (1, 1, 26), (1, 1, 27)], []),
        (1, 0, 0, 0),
    ),
}
