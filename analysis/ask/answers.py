"""Questions over sweeps and their answers: a sentence that says how sure it is, a table, and a figure."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from analysis.ask.conditions import Condition
from analysis.ask.decide import (
    HIGHER_IS_BETTER,
    Best,
    Judged,
    Probability,
    best,
    pareto,
    probability,
    quantile,
)
from analysis.ask.evidence import Candidate, Evidence
from analysis.compare.estimates import Seen, scale_of
from analysis.compare.groups import key_label
from analysis.compare.intervals import Estimate, seeds_wanted
from analysis.compare.page import cell
from analysis.metrics.registry import METRICS, label
from sim.errors import InputError

QUANTILES = (0.05, 0.5, 0.95)
UNEQUAL = (
    "Points differ in join.answer or join.delay_s: their costs do not compare; choose with --where."
)


@dataclass(frozen=True, slots=True)
class Ask:
    """A question: one of `objective`, `pareto`, `probability` and `quantiles`."""

    objective: str | None = None
    maximise: bool = False
    where: Sequence[Condition] = ()
    pareto: tuple[str, str] | None = None
    probability: Condition | None = None
    quantiles: str | None = None

    @property
    def names(self) -> list[str]:
        """All metrics and keys in the question."""
        asked = [self.objective, self.quantiles, *(self.pareto or ())]
        asked += [condition.name for condition in (*self.where, self.probability) if condition]
        return [name for name in asked if name]


@dataclass(frozen=True, slots=True)
class Bar:
    """One candidate in the answer's figure."""

    label: str
    x: Estimate
    y: Estimate | None = None
    """For two metrics."""
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question."""

    sentence: str
    header: list[str]
    rows: list[list[str]]
    bars: list[Bar]
    titles: tuple[str, str]
    """What the figure's axes show, the second empty if there is one."""
    values: list[dict[str, Any]] = field(default_factory=list)
    """The table as numbers."""


def answer(question: Ask, evidence: Evidence) -> Answer:
    """Answer a question.

    Raises:
        InputError: there is no such metric or key, or no run has it.
    """
    found = _answer(question, evidence)
    if not evidence.unequal:
        return found
    return replace(found, sentence=f"{found.sentence} {UNEQUAL}")


def _answer(question: Ask, evidence: Evidence) -> Answer:
    if question.objective is not None:
        return _best(question, evidence)
    candidates = _kept(question, evidence)
    if question.pareto is not None:
        return _pareto(question.pareto, candidates)
    if question.probability is not None:
        return _probability(question.probability, candidates, evidence)
    assert question.quantiles is not None
    return _quantiles(question.quantiles, candidates, evidence)


def _best(question: Ask, evidence: Evidence) -> Answer:
    option = "--maximise" if question.maximise else "--minimise"
    assert question.objective is not None
    objective, is_metric = evidence.metric_or_key(question.objective, option)
    conditions = [_resolved(each, evidence) for each in question.where]
    found = best(
        evidence.candidates,
        objective,
        is_metric=is_metric,
        maximise=question.maximise,
        conditions=conditions,
    )
    of_metrics = [condition for condition, of_metric in conditions if of_metric]
    shown = [*found.ranked, *found.refused]
    if not shown:
        raise InputError("--where: no point of the sweeps meets the conditions on keys")
    title = label(objective) if is_metric else key_label(objective)
    header = ["point", title, *(_heading(each) for each in of_metrics), "meets all"]
    rows = [_row(each, objective, of_metrics, each in found.ranked) for each in shown]
    return Answer(
        _best_sentence(found, question, objective, is_metric, of_metrics),
        header,
        rows,
        [Bar(e.candidate.label, e.value, chosen=e in found.ranked[:1]) for e in shown],
        (title, ""),
        [_values(e.candidate, [objective, *(c.name for c in of_metrics)]) for e in shown],
    )


def _best_sentence(
    found: Best,
    question: Ask,
    objective: str,
    is_metric: bool,
    conditions: Sequence[Condition],
) -> str:
    under = f" with {' and '.join(map(str, conditions))}" if conditions else ""
    if not found.ranked:
        return f"No point{under} was found among {len(found.refused)}: none meets it on average."
    first = found.ranked[0]
    most = "highest" if question.maximise else "lowest"
    title = label(objective) if is_metric else key_label(objective)
    value = cell(objective, first.value, None)
    text = f"{first.candidate.label} has the {most} {title}{under}: {value}."
    if found.tied > 1:
        names = ", ".join(each.candidate.label for each in found.ranked[: found.tied])
        text = (
            f"{found.tied} points{under} outlast their runs and cannot be told apart: {names}"
            f" ({title} {value}). Longer runs would tell."
        )
    elif found.tied == 1:
        text += " It outlasts its runs, so this is the least that it can be."
    for condition in conditions:
        held, of = first.met[str(condition)]
        mean = first.candidate.estimate(condition.name)
        text += f" Its {label(condition.name)} is {cell(condition.name, mean, None)}"
        text += "" if _surely(condition, mean) else f", so that {condition} is likely, not sure"
        text += f"; it holds in {held} of {of} seeds."
    return f"{text} {_certainty(found, objective, is_metric)}".rstrip()


def _surely(condition: Condition, mean: Estimate) -> bool:
    """Whether the whole interval of a mean meets a condition."""
    ends = [end for end in (mean.low, mean.high) if end is not None]
    return bool(ends) and mean.n > 1 and all(condition.holds(Seen(end)) for end in ends)


def _certainty(found: Best, objective: str, is_metric: bool) -> str:
    if not is_metric or found.tied > 1:
        return ""
    if len(found.ranked) == 1:
        return "No other point meets the conditions."
    second, chance = found.ranked[1], found.chance
    if found.wins is None or chance is None:
        return f"{second.candidate.label} has the same for every seed."
    won, of = found.wins
    text = (
        f"It beats the next, {second.candidate.label} ({cell(objective, second.value, None)}), in {won}"
        f" of {of} seeds, which chance alone would do in {100 * chance:.2g} % of cases"
    )
    if chance <= 0.05:
        return f"{text}: this is sure enough to cite."
    wanted = max(seeds_wanted(e.value, scale_of(objective)) for e in found.ranked[:2])
    weight = "a hint, no proof" if chance < 0.5 else "no evidence either way"
    return f"{text}: {weight}; run about {max(wanted, 5)} seeds."


def _pareto(names: tuple[str, str], candidates: Sequence[Candidate]) -> Answer:
    for name in names:
        if name not in METRICS:
            raise InputError(f"--pareto {name}: expected a metric (motejoin docs metrics)")
    front, beaten = pareto(candidates, *names)
    if not front:
        raise InputError(f"--pareto {' '.join(names)}: no run has both metrics")
    wanted = [f"{'more' if n in HIGHER_IS_BETTER else 'less'} {METRICS[n].label}" for n in names]
    sentence = (
        f"{len(front)} of {len(front) + len(beaten)} points are worth choosing from for {wanted[0]} and"
        f" {wanted[1]}: {', '.join(each.label for each in front)}. Every other point is worse in one of both"
        " than one of these and not better in the other, by means over seeds."
    )
    shown = [(each, True) for each in front] + [(each, False) for each in beaten]
    rows = [
        [each.label, *(cell(n, each.estimate(n), None) for n in names), "yes" if on else "no"]
        for each, on in shown
    ]
    bars = [
        Bar(each.label, each.estimate(names[0]), each.estimate(names[1]), on) for each, on in shown
    ]
    return Answer(
        sentence,
        ["point", *map(label, names), "on the front"],
        rows,
        bars,
        (label(names[0]), label(names[1])),
        [_values(each, names) for each, _ in shown],
    )


def _probability(
    condition: Condition, candidates: Sequence[Candidate], evidence: Evidence
) -> Answer:
    _metric(condition.name, "--probability", evidence)
    found = probability(candidates, condition)
    known = [each for each in found if each.of]
    if not known:
        raise InputError(
            f'--probability "{condition}": no run has {condition.name}, or all ended early'
        )
    top = max(known, key=lambda each: (each.share.mean or 0.0, each.of))
    sentence = (
        f"{condition} is most likely with {top.candidate.label}: in {top.held} of {top.of} seeds,"
        f" which puts the probability at {cell('recall', top.share, None)}."
    )
    as_likely = [e for e in known if e is not top and (e.held, e.of) == (top.held, top.of)]
    if as_likely:
        sentence += f" So it is with {', '.join(e.candidate.label for e in as_likely)}."
    if any(each.unknown for each in found):
        sentence += " Some runs ended too early to know; they do not count."
    rows = [_probability_row(each) for each in found]
    return Answer(
        sentence,
        ["point", f"probability of {condition}", "seeds", "not known"],
        rows,
        [Bar(e.candidate.label, e.share, chosen=e is top) for e in known],
        (f"probability of {condition}", ""),
        [
            {
                "point": e.candidate.label,
                "held": e.held,
                "of": e.of,
                "low": e.share.low,
                "high": e.share.high,
            }
            for e in found
        ],
    )


def _probability_row(found: Probability) -> list[str]:
    shown = cell("recall", found.share, None) if found.of else "–"
    return [found.candidate.label, shown, f"{found.held} of {found.of}", str(found.unknown)]


def _quantiles(name: str, candidates: Sequence[Candidate], evidence: Evidence) -> Answer:
    _metric(name, "--quantiles", evidence)
    rows, bars, values = [], [], []
    for each in candidates:
        seen = list(each.seen.get(name, {}).values())
        found = [quantile(seen, share) for share in QUANTILES]
        cells = [
            "–"
            if one is None
            else cell(
                name,
                Estimate(None, one.value, None, len(seen), bounds=1)
                if one.is_bound
                else Estimate(one.value, None, None, 1),
                None,
            )
            for one in found
        ]
        rows.append([each.label, *cells, str(len(seen))])
        bars.append(Bar(each.label, each.estimate(name)))
        values.append(
            {"point": each.label}
            | {
                f"q{share:g}": None if one is None or one.is_bound else one.value
                for share, one in zip(QUANTILES, found, strict=True)
            }
        )
    shown = ", ".join(f"{share:.0%}" for share in QUANTILES)
    most = max((len(each.seen.get(name, {})) for each in candidates), default=0)
    sentence = f"Quantiles ({shown}) of {label(name)} over seeds."
    if most < 1 / QUANTILES[0]:
        sentence += (
            f" With {most} seeds the outer ones are the least and the greatest value seen; about"
            f" {round(1 / QUANTILES[0])} seeds would make them quantiles."
        )
    header = ["point", *(f"{share:.0%} of seeds at most" for share in QUANTILES), "seeds"]
    return Answer(sentence, header, rows, bars, (label(name), ""), values)


def _kept(question: Ask, evidence: Evidence) -> list[Candidate]:
    """The candidates that meet the conditions on keys and, on average, those on metrics."""
    conditions = [_resolved(each, evidence) for each in question.where]
    if not conditions:
        return evidence.candidates
    name = conditions[0][0].name
    found = best(
        evidence.candidates,
        name,
        is_metric=conditions[0][1],
        maximise=False,
        conditions=conditions,
    )
    kept = {each.candidate.label for each in [*found.ranked, *found.refused] if each.allowed}
    left = [each for each in evidence.candidates if each.label in kept]
    if not left:
        raise InputError(f"--where: none of {len(evidence.candidates)} points meets the conditions")
    return left


def _resolved(condition: Condition, evidence: Evidence) -> tuple[Condition, bool]:
    name, is_metric = evidence.metric_or_key(condition.name, "--where")
    if is_metric and isinstance(condition.wanted, str):
        raise InputError(f'--where "{condition}": expected a number for the metric {name}')
    return Condition(name, condition.sign, condition.wanted), is_metric


def _metric(name: str, option: str, evidence: Evidence) -> None:
    _, is_metric = evidence.metric_or_key(name, option)
    if not is_metric:
        raise InputError(f"{option} {name}: expected a metric (motejoin docs metrics), found a key")


def _heading(condition: Condition) -> str:
    return f"{label(condition.name)}: {condition.sign} {condition.wanted:g}"


def _row(judged: Judged, objective: str, conditions: Sequence[Condition], meets: bool) -> list[str]:
    cells = []
    for condition in conditions:
        held, of = judged.met[str(condition)]
        mean = cell(condition.name, judged.candidate.estimate(condition.name), None)
        cells.append(f"{mean} ({held} of {of} seeds)")
    value = cell(objective, judged.value, None)
    return [judged.candidate.label, value, *cells, "yes" if meets else "no"]


def _values(candidate: Candidate, names: Sequence[str]) -> dict[str, Any]:
    """A row of the answer's table as numbers."""
    row: dict[str, Any] = {"point": candidate.label}
    for name in names:
        if name not in candidate.seen:
            row[name] = candidate.place.get(name)
            continue
        found = candidate.estimate(name)
        row |= {f"{name}_mean": found.mean, f"{name}_low": found.low, f"{name}_high": found.high}
        row[f"{name}_n"] = found.n
    return row
