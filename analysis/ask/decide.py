"""Answers to questions, as pure functions of candidates; how sure they are stands in each."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scipy.special import ndtri

from analysis.ask.conditions import Condition
from analysis.ask.evidence import Candidate
from analysis.compare.estimates import Seen
from analysis.compare.intervals import CONFIDENCE, Estimate

HIGHER_IS_BETTER: Final = frozenset(
    {
        "recall",
        "coverage",
        "probe_usefulness",
        "output_rate",
        "tuple_width",
        "results",
        "readings_joined",
        "partners_per_reading",
        "delivered",
        "first_dead_s",
        "half_dead_s",
        "last_dead_s",
    }
)
"""Metrics of which more is better; of all others, less."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate with how it meets conditions and what it has of the objective."""

    candidate: Candidate
    value: Estimate
    """Of the objective; a scenario key has no interval."""
    met: Mapping[str, tuple[int, int]]
    """For each condition on a metric, in how many seeds of how many it holds."""
    allowed: bool
    """Whether the means meet all conditions."""
    keeps: bool
    """Whether the scenario keys meet their conditions; if not, it is not looked at."""


@dataclass(frozen=True, slots=True)
class Best:
    """The best candidates under conditions."""

    ranked: list[Judged]
    """Those allowed, the best first."""
    refused: list[Judged]
    tied: int
    """How many of the first are indistinguishable: their objective had not come by the end of the run."""
    wins: tuple[int, int] | None
    """In how many seeds of how many the first beats the second; None without a second."""

    @property
    def chance(self) -> float | None:
        """How often as many wins would come by chance if the first two were equal (a one-sided sign test)."""
        if self.wins is None or not self.wins[1]:
            return None
        won, of = self.wins
        return sum(math.comb(of, k) for k in range(won, of + 1)) / float(2**of)


def best(
    candidates: Sequence[Candidate],
    objective: str,
    *,
    is_metric: bool,
    maximise: bool,
    conditions: Sequence[tuple[Condition, bool]],
) -> Best:
    """Rank candidates by a metric or a scenario key; each condition comes with whether it is about a metric.

    A candidate is allowed if its mean over seeds meets every condition on a metric. A mean that is only known to
    be larger than something meets a condition only where that is enough to know.
    """
    judged = [_judge(each, objective, is_metric, conditions) for each in candidates]
    looked_at = [each for each in judged if each.keeps]
    ranked = [each for each in looked_at if each.allowed and _known(each.value)]
    refused = [each for each in looked_at if each not in ranked]
    sign = -1.0 if maximise else 1.0
    ranked.sort(key=lambda each: sign * _rank(each.value))
    tied = 0
    if maximise:
        tied = next((n for n, each in enumerate(ranked) if not _open(each.value)), len(ranked))
    wins = None
    if len(ranked) > 1 and is_metric:
        wins = _wins(ranked[0].candidate, ranked[1].candidate, objective, maximise=maximise)
    return Best(ranked, refused, tied, wins)


def pareto(
    candidates: Sequence[Candidate], first: str, second: str
) -> tuple[list[Candidate], list[Candidate]]:
    """Candidates that no other beats in both metrics, by their means, and the others; both in order of the first."""
    places = {
        each.label: (_worse(each, first), _worse(each, second))
        for each in candidates
        if _known(each.estimate(first)) and _known(each.estimate(second))
    }

    def beaten(label: str) -> bool:
        a, b = places[label]
        return any(x <= a and y <= b and (x, y) != (a, b) for x, y in places.values())

    known = sorted(
        (each for each in candidates if each.label in places), key=lambda each: places[each.label]
    )
    front = [each for each in known if not beaten(each.label)]
    return front, [each for each in known if beaten(each.label)]


@dataclass(frozen=True, slots=True)
class Probability:
    """How often a condition holds, over the seeds of a candidate."""

    candidate: Candidate
    held: int
    of: int
    unknown: int
    """Seeds of which it cannot be known: the run ended too early."""

    @property
    def share(self) -> Estimate:
        """The share of seeds, with Wilson's interval."""
        if not self.of:
            return Estimate(None, None, None, 0)
        z = float(ndtri((1 + CONFIDENCE) / 2))
        share = self.held / self.of
        middle = share + z * z / (2 * self.of)
        half = z * math.sqrt(share * (1 - share) / self.of + z * z / (4 * self.of**2))
        whole = 1 + z * z / self.of
        low, high = (middle - half) / whole, (middle + half) / whole
        return Estimate(share, max(0.0, low), min(1.0, high), self.of)


def probability(candidates: Sequence[Candidate], condition: Condition) -> list[Probability]:
    """How often a condition on a metric holds, for each candidate."""
    found = []
    for each in candidates:
        held = [condition.holds(seen) for seen in each.seen.get(condition.name, {}).values()]
        known = [one for one in held if one is not None]
        found.append(Probability(each, sum(known), len(known), len(held) - len(known)))
    return found


def quantile(values: Sequence[Seen], share: float) -> Seen | None:
    """The least value that at least this share of values does not exceed; one that is only bounded is larger."""
    if not values:
        return None
    # A bound is somewhere above what it says: it counts as the largest.
    ordered = sorted(values, key=lambda each: (each.is_bound, each.value))
    at = max(0, math.ceil(share * len(ordered)) - 1)
    chosen = ordered[at]
    if chosen.is_bound:
        return Seen(min(each.value for each in ordered[at:]), is_bound=True)
    lower = [each for each in ordered if each.is_bound and each.value < chosen.value]
    # A bound below it may stand for a smaller value: then only part of the order is known.
    return Seen(min(each.value for each in lower), is_bound=True) if lower else chosen


def _judge(
    candidate: Candidate,
    objective: str,
    is_metric: bool,
    conditions: Sequence[tuple[Condition, bool]],
) -> Judged:
    met, allowed, keeps = {}, True, True
    for condition, of_metric in conditions:
        if not of_metric:
            keeps = keeps and condition.allows(candidate.place.get(condition.name))
            continue
        held = [condition.holds(s) for s in candidate.seen.get(condition.name, {}).values()]
        met[str(condition)] = (sum(one is True for one in held), len(held))
        mean = candidate.estimate(condition.name)
        value = Seen(mean.low or 0.0, is_bound=True) if mean.bounds else None
        if mean.mean is not None:
            value = Seen(mean.mean)
        allowed = allowed and value is not None and condition.holds(value) is True
    if is_metric:
        value_of = candidate.estimate(objective)
    else:
        place = candidate.place.get(objective)
        number = float(place) if isinstance(place, int | float) else None
        value_of = Estimate(number, None, None, 0 if number is None else 1)
    return Judged(candidate, value_of, met, allowed, keeps)


def _known(value: Estimate) -> bool:
    return value.mean is not None or _open(value)


def _open(value: Estimate) -> bool:
    return value.bounds > 0 and value.low is not None


def _rank(value: Estimate) -> float:
    """The mean, or the least that it can be."""
    return (value.low if _open(value) else value.mean) or 0.0


def _worse(candidate: Candidate, metric: str) -> float:
    """The mean, or the least that it can be, so that less is better."""
    value = _rank(candidate.estimate(metric))
    return -value if metric in HIGHER_IS_BETTER else value


def _wins(first: Candidate, second: Candidate, metric: str, *, maximise: bool) -> tuple[int, int]:
    """In how many of the seeds that both have the first is known to be better; equal seeds do not count."""
    ours, theirs = first.seen[metric], second.seen[metric]
    won = of = 0
    for seed in ours.keys() & theirs.keys():
        a, b = ours[seed], theirs[seed]
        if a.is_bound and b.is_bound or a == b:
            continue
        larger = a.value > b.value
        if (a.is_bound and not larger) or (b.is_bound and larger):
            # A bound below the other's value leaves open which is larger.
            continue
        of += 1
        won += larger == maximise
    return won, of
