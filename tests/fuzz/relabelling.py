"""Names mean nothing: other names for streams or motes give the same joins and metrics, with those names."""

import math
import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from analysis.metrics.arrow.evaluate import metrics_of
from join.contract import Arity, Member, Occurrence, Operator
from join.operators.registry import OPERATORS, make_operator
from join.windows import Uniform
from sim.trace.tables import SINK, TABLES, Kind
from tests.support.planting.planted import Planted

STREAMS: Final = "ABC"
NODE_COLUMNS: Final = {
    "node", "source", "target", "origin", "head", "via", "up", "origin_head", "region",
}  # fmt: skip
"""Columns that have a mote in them."""
NAMES_RUNS: Final = {"run", "fingerprint"}
"""Columns of metrics that say which run it is."""

Renamed = Mapping[str, str]


def renamed_streams_join_alike(number: int, folder: Path) -> str:
    """Every operator gives the same results for streams of other names, in any alphabetical order."""
    del folder
    rng = random.Random(f"streams {number}")
    name_of = dict(zip(STREAMS, rng.sample(["K", "b", "Z9", "a stream", "ß", "0"], 3), strict=True))
    chosen = rng.choice(list(Arity))
    at_us = 0
    arrivals = []
    for _ in range(60):
        at_us += rng.randrange(4)
        arrivals.append(Occurrence(rng.choice(STREAMS), rng.randrange(2), at_us))
    for name, kind in OPERATORS.items():
        arity = Arity.COMPLETE if kind.is_w_join else chosen
        given = _joined(_operator(name, arity, STREAMS), arrivals)
        other = [each._replace(stream=name_of[str(each.stream)]) for each in arrivals]
        found = _joined(_operator(name, arity, name_of.values()), other)
        if Counter({_rename(result, name_of): n for result, n in given.items()}) != found:
            return f"{name}, {arity.value}: {len(given)} results, and {len(found)} of other names"
        if not given:
            return f"{name}, {arity.value}: nothing was joined"
    return ""


def _operator(name: str, arity: Arity, streams: Any) -> Operator:  # noqa: ANN401 (any names)
    return make_operator(name, windows=Uniform(12), arity=arity, streams=streams)


def _joined(operator: Operator, arrivals: list[Occurrence]) -> Counter[frozenset[Member]]:
    found: Counter[frozenset[Member]] = Counter()
    for arrival in arrivals:
        found.update(frozenset(m) for each in operator.insert(arrival) for m in each.expand())
    found.update(frozenset(m) for each in operator.close() for m in each.expand())
    return found


def _rename(result: frozenset[Member], name_of: Renamed) -> frozenset[Member]:
    return frozenset(member._replace(stream=name_of[str(member.stream)]) for member in result)


def renamed_motes_measure_alike(run: Path, number: int, folder: Path) -> str:
    """A trace whose motes have other numbers has the same metrics, but for rounding."""
    other = Planted(run)
    motes = [row["node"] for row in other.tables["motes"] if row["node"] != SINK]
    order = random.Random(f"motes {number}").sample(motes, len(motes))
    node_of = {SINK: SINK, **dict(zip(motes, order, strict=True))}
    for table, rows in other.tables.items():
        for row in rows:
            _renumber(table, row, node_of)
    before, after = metrics_of(run), metrics_of(other.write(folder / "renumbered"))
    differing = [
        name
        for name, found in before.items()
        if name not in NAMES_RUNS and not _same(found, after[name])
    ]
    return f"these metrics differ: {differing}" if differing else ""


def _renumber(table: str, row: dict[str, Any], node_of: Mapping[int, int]) -> None:
    for column in TABLES[table]:
        cell = row[column.name]
        if cell is None:
            continue
        if column.kind is Kind.NODES:
            row[column.name] = [node_of[node] for node in cell]
        elif column.kind is Kind.MEMBERS:
            row[column.name] = [each | {"node": node_of[each["node"]]} for each in cell]
        elif column.name in NODE_COLUMNS:
            row[column.name] = node_of.get(cell, cell)


def _same(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9)
    return one == other
