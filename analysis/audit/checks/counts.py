"""The manifest's counts are sums over the trace."""

from collections.abc import Callable, Iterator, Mapping
from math import isclose
from typing import Any, Final

import numpy as np

from analysis.audit.checks.energy import CAUSES, last_samples
from analysis.audit.checks.results import result_rows
from analysis.audit.registry import Violation, check
from analysis.audit.run_trace import NULL, US_PER_S, RunTrace, Words

_ROUNDING: Final = 1e-9
"""Relative: joules and delays were added up in another order."""


@check("counts")
def counts_differ(trace: RunTrace) -> Iterator[Violation]:
    """Every count that a table determines is what the table gives."""
    for table, count in _BY_TABLE.items():
        if not trace.has(table):
            continue
        for name, found in _flat(count(trace)).items():
            said = _look_up(trace.counts, name)
            if not _equal(said, found):
                yield Violation(f"counts.{name} is {said}, the table {table} gives {found}")


def _equal(said: Any, found: Any) -> bool:  # noqa: ANN401 - whatever JSON holds
    if isinstance(found, float) and isinstance(said, int | float):
        return isclose(said, found, rel_tol=_ROUNDING, abs_tol=1e-12)
    return bool(said == found)


def _flat(counts: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, found in counts.items():
        flat |= (
            _flat(found, f"{above}{name}.") if isinstance(found, dict) else {above + name: found}
        )
    return flat


def _look_up(counts: Any, name: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    for part in name.split("."):
        counts = counts.get(part) if isinstance(counts, dict) else None
    return counts


def _tally(words: Words) -> dict[str, int]:
    numbers = np.bincount(words.codes[words.codes >= 0], minlength=len(words.words)).tolist()
    return {word: n for word, n in zip(words.words, numbers, strict=True) if n}


def _traffic(trace: RunTrace) -> dict[str, Any]:
    kinds = trace.words("traffic", "kind")
    names = ("sent", "sent_bytes", "received", "lost", "addressed")
    columns = {name: trace.column("traffic", name) for name in names}
    by_kind = {}
    for code, kind in enumerate(kinds.words):
        mine = kinds.codes == code
        sums = {name: int(column[mine].sum()) for name, column in columns.items()}
        sums["in_flight"] = sums.pop("addressed") - sums["received"] - sums["lost"]
        by_kind[kind] = sums
    return {
        "messages": sum(sums["sent"] for sums in by_kind.values()),
        "bytes": sum(sums["sent_bytes"] for sums in by_kind.values()),
        "traffic": by_kind,
    }


def _energy(trace: RunTrace) -> dict[str, Any]:
    rows = last_samples(trace)
    rows = rows[rows >= 0]
    by_cause = {
        cause.removesuffix("_j"): float(trace.column("energy", cause)[rows].sum())
        for cause in CAUSES
    }
    return {
        "energy_by_cause_j": by_cause,
        "energy_j": sum(by_cause.values()),
        "control_j": float(trace.column("energy", "control_j")[rows].sum()),
    }


def _deaths(trace: RunTrace) -> dict[str, Any]:
    times_s = [at_us / US_PER_S for at_us in sorted(trace.column("deaths", "at_us").tolist())]
    numbers = {"first": 1, "half": -(-trace.motes // 2), "last": trace.motes}
    lifetime = {
        f"{name}_dead_s": times_s[number - 1] if len(times_s) >= number else None
        for name, number in numbers.items()
    }
    return {"deaths": len(times_s), "lifetime": lifetime}


def _readings(trace: RunTrace) -> dict[str, Any]:
    valued = trace.column("readings", "value") != NULL
    return {"readings": len(valued), "readings_with_value": int(valued.sum())}


def _results(trace: RunTrace) -> dict[str, Any]:
    if trace.scenario["join"].get("answer", "results") != "results":
        return {}
    rows = result_rows(trace)
    first = rows[~trace.column("results", "amends")[rows]]
    counts: dict[str, Any] = {"results": len(first), "mean_width": None, "mean_delay_ms": None}
    if len(first):
        keys = np.stack([trace.column("results", n)[rows] for n in ("origin", "origin_at_us")])
        _, codes = np.unique(keys, axis=1, return_inverse=True)
        widths = np.zeros(len(rows), np.int64)
        np.maximum.at(widths, codes.reshape(-1), trace.column("results", "arity")[rows])
        counts["mean_width"] = float(widths.sum() / len(first))
        delay_us = trace.column("results", "delay_us")[first].sum()
        counts["mean_delay_ms"] = float(delay_us / len(first) / 1000)
    return counts


def _probes(trace: RunTrace) -> dict[str, Any]:
    return {
        "probes": trace.rows("probes"),
        "heads_probed": int(trace.column("probes", "heads_probed").sum()),
        "heads_matched": int(trace.column("probes", "heads_matched").sum()),
    }


def _elections(trace: RunTrace) -> dict[str, Any]:
    rounds = len(np.unique(trace.column("elections", "round")))
    heads = int((trace.column("elections", "head") == trace.column("elections", "node")).sum())
    return {"rounds": rounds, "mean_heads": heads / max(1, rounds)}


_BY_TABLE: Final[dict[str, Callable[[RunTrace], dict[str, Any]]]] = {
    "traffic": _traffic,
    "energy": _energy,
    "deaths": _deaths,
    "readings": _readings,
    "fates": lambda trace: {"fates": _tally(trace.words("fates", "fate"))},
    "drops": lambda trace: {"drops": _tally(trace.words("drops", "reason"))},
    "results": _results,
    "probes": _probes,
    "requests": lambda trace: {"requests": _tally(trace.words("requests", "outcome"))},
    "elections": _elections,
}
"""The counts that each table determines."""
