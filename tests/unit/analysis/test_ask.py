"""Questions over sweeps: conditions, the best point, fronts, probabilities and quantiles."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analysis.ask.answers import Ask, answer
from analysis.ask.conditions import Condition, parse_condition
from analysis.ask.decide import Probability, best, pareto, probability, quantile
from analysis.ask.evidence import Candidate, Evidence
from analysis.ask.figures import answer_figure
from analysis.compare.captions import Origin
from analysis.compare.estimates import Seen
from sim.errors import InputError

ORIGIN = Origin(["s"], [1, 2, 3], "f", "motejoin ask")


def candidate(
    label: str, place: dict[str, object] | None = None, **metrics: list[float]
) -> Candidate:
    """A point with the values of metrics for seeds 1, 2, …; a negative value is a lower bound."""
    seen = {
        name: {n: Seen(abs(v), is_bound=v < 0) for n, v in enumerate(values, start=1)}
        for name, values in metrics.items()
    }
    return Candidate(label, place or {}, seen)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("recall >= 0.95", Condition("recall", ">=", 0.95)),
        ("recall>=95%", Condition("recall", ">=", 0.95)),
        ("bytes < 1,000", Condition("bytes", "<", 1000.0)),
        ("clustering.protocol = heed", Condition("clustering.protocol", "==", "heed")),
        ("join.strategy != 'two-phase'", Condition("join.strategy", "!=", "two-phase")),
    ],
)
def test_conditions_are_read(text: str, expected: Condition) -> None:
    assert parse_condition(text, "--where") == expected


@pytest.mark.parametrize("text", ["recall", "recall 0.9", ">= 0.9", "recall >=", "recall >= 1.2.3"])
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--where"):
        parse_condition(text, "--where")


@given(
    st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
    st.integers(0, 5),
    st.integers(0, 5),
    st.lists(st.integers(1, 9), min_size=1),
)
def test_a_bound_is_judged_as_all_values_above_it_are(
    sign: str, bound: int, wanted: int, above: list[int]
) -> None:
    """What is known of a bound is what holds for every value that it may stand for."""
    condition = Condition("m", sign, float(wanted))
    known = condition.holds(Seen(float(bound), is_bound=True))
    if known is not None:
        for more in [*above, 0.5, 100]:
            assert condition.holds(Seen(bound + float(more))) == known
    elif sign in {"<", "<=", ">", ">="}:
        both = {condition.holds(Seen(bound + more)) for more in (0.1, 0.5, 1.0, 1000.0)}
        assert both == {True, False} or wanted <= bound + 1


def test_the_best_meets_the_conditions_on_average() -> None:
    points = [
        candidate("cheap", bytes_per_s=[10, 12, 11], recall=[0.9, 0.8, 0.99]),
        candidate("good", bytes_per_s=[20, 22, 21], recall=[0.99, 0.97, 0.94]),
        candidate("dear", bytes_per_s=[30, 20, 40], recall=[1.0, 1.0, 1.0]),
        candidate("unknown", bytes_per_s=[], recall=[1.0]),
    ]
    where = [(Condition("recall", ">=", 0.95), True)]
    found = best(points, "bytes_per_s", is_metric=True, maximise=False, conditions=where)
    assert [each.candidate.label for each in found.ranked] == ["good", "dear"]
    assert {each.candidate.label for each in found.refused} == {"cheap", "unknown"}
    assert found.ranked[0].met == {"recall >= 0.95": (2, 3)}
    assert found.wins == (2, 3)
    assert found.chance == pytest.approx(stats.binomtest(2, 3, alternative="greater").pvalue)
    asked = Ask(objective="bytes_per_s", where=[where[0][0]])
    said = answer(asked, Evidence(points, ORIGIN)).sentence
    assert "in 2 of 3 seeds, which chance alone would do in 50 % of cases: no evidence" in said
    assert "so that recall >= 0.95 is likely, not sure; it holds in 2 of 3 seeds" in said


def test_a_life_that_outlasts_the_run_is_longer_but_not_than_each_other() -> None:
    points = [
        candidate("a", first_dead_s=[100, 110, 120]),
        candidate("b", first_dead_s=[-240, -240, -240]),
        candidate("c", first_dead_s=[-240, -240, -240]),
        candidate("d", first_dead_s=[50, 60, -240]),
    ]
    found = best(points, "first_dead_s", is_metric=True, maximise=True, conditions=[])
    assert [each.candidate.label for each in found.ranked] == ["b", "c", "d", "a"]
    assert found.tied == 3
    evidence = Evidence(points, ORIGIN)
    said = answer(Ask(objective="first_dead_s", maximise=True), evidence).sentence
    assert "outlast their runs" in said
    assert "> 240" in said
    alone = best(points[:2], "first_dead_s", is_metric=True, maximise=True, conditions=[])
    assert (alone.tied, alone.wins) == (1, (3, 3))


def test_keys_can_be_asked_for_and_be_conditions() -> None:
    points = [
        candidate(
            f"{motes} {kind}",
            {"motes.count": motes, "join.strategy": kind},
            delay_ms=[900 / motes] * 3,
        )
        for motes, kind in product((100, 200, 400), ("star", "centralised"))
    ]
    evidence = Evidence(points, ORIGIN)
    where = [parse_condition("delay_ms <= 5", ""), parse_condition("strategy == star", "")]
    found = answer(Ask(objective="motes.count", where=where), evidence)
    assert found.sentence.startswith("200 star has the lowest motes count with delay_ms <= 5: 200.")
    assert "it holds in 3 of 3 seeds" in found.sentence
    assert "not sure" not in found.sentence
    assert [row[0] for row in found.rows] == ["200 star", "400 star", "100 star"]
    assert [row[-1] for row in found.rows] == ["yes", "yes", "no"]
    none = answer(Ask(objective="motes", where=[parse_condition("delay_ms < 1", "")]), evidence)
    assert none.sentence.startswith("No point with delay_ms < 1 was found among 6")
    with pytest.raises(InputError, match=r"delay_m: expected a metric .*did you mean 'delay_ms'"):
        answer(Ask(objective="delay_m"), evidence)
    with pytest.raises(InputError, match="expected a number for the metric delay_ms"):
        answer(Ask(objective="motes", where=[parse_condition("delay_ms < x", "")]), evidence)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12))
def test_the_front_is_what_nothing_dominates(places: list[tuple[int, int]]) -> None:
    """Cost is better low, recall high; equal points are both on the front."""
    points = [
        candidate(f"{n}", bytes_per_s=[float(cost)], recall=[worth / 4])
        for n, (cost, worth) in enumerate(places)
    ]
    front, beaten = pareto(points, "bytes_per_s", "recall")
    assert {each.label for each in front} | {each.label for each in beaten} == {
        e.label for e in points
    }
    for each in points:
        cost, worth = places[int(each.label)]
        dominated = any((c <= cost and w > worth) or (c < cost and w >= worth) for c, w in places)
        assert (each in beaten) == dominated


@given(st.integers(0, 12), st.integers(0, 12))
def test_probabilities_have_wilsons_interval(held: int, more: int) -> None:
    share = Probability(candidate("a"), held, held + more, 0).share
    if held + more == 0:
        assert share.mean is None
        return
    reference = stats.binomtest(held, held + more).proportion_ci(method="wilson")
    assert share.low == pytest.approx(reference.low, abs=1e-12)
    assert share.high == pytest.approx(reference.high, abs=1e-12)
    assert share.mean == held / (held + more)


def test_runs_that_ended_too_early_do_not_count_as_either() -> None:
    point = candidate("a", detection_delay_s=[3, 7, -50, -4])
    (found,) = probability([point], Condition("detection_delay_s", "<=", 5.0))
    assert (found.held, found.of, found.unknown) == (1, 3, 1)
    said = answer(
        Ask(probability=Condition("detection_delay_s", "<=", 5.0)), Evidence([point], ORIGIN)
    )
    assert "in 1 of 3 seeds" in said.sentence
    assert "ended too early" in said.sentence


def test_points_that_are_as_likely_are_named_too() -> None:
    points = [
        candidate(name, detection_delay_s=[3, times])
        for name, times in (("a", 4), ("b", 3), ("c", 9))
    ]
    condition = Condition("detection_delay_s", "<=", 5.0)
    said = answer(Ask(probability=condition), Evidence(points, ORIGIN)).sentence
    assert "most likely with a" in said
    assert "So it is with b." in said


@given(
    st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=9),
    st.sampled_from([0.05, 0.25, 0.5, 0.95, 1.0]),
    st.lists(st.integers(1, 9), min_size=9, max_size=9),
)
def test_a_quantile_holds_whatever_the_bounds_stand_for(
    values: list[tuple[int, bool]], share: float, more: list[int]
) -> None:
    seen = [Seen(float(value), is_bound=bound) for value, bound in values]
    found = quantile(seen, share)
    assert found is not None
    for extra in ([0] * 9, more, [1000] * 9):
        truth = sorted(v + (e + 0.5) * b for (v, b), e in zip(values, extra, strict=False))
        exact = truth[max(0, -int(-share * len(truth) // 1) - 1)]
        assert exact >= found.value if found.is_bound else exact == found.value


def test_every_answer_has_a_table_and_a_figure() -> None:
    points = [
        candidate("a", {"motes.count": 1}, bytes_per_s=[1, 2, 3], recall=[0.5, 0.6, 0.7]),
        candidate("b", {"motes.count": 2}, bytes_per_s=[2, 3, 5], recall=[0.9, 0.9, 1.0]),
    ]
    for question in (
        Ask(objective="bytes_per_s"),
        Ask(pareto=("bytes_per_s", "recall")),
        Ask(probability=Condition("recall", ">", 0.8)),
        Ask(quantiles="recall"),
        Ask(quantiles="recall", where=[Condition("motes.count", ">", 1.0)]),
    ):
        found = answer(question, Evidence(points, ORIGIN))
        assert found.sentence.endswith(".")
        assert all(len(row) == len(found.header) for row in found.rows)
        assert len(found.rows) == len(found.values) == (1 if question.where else 2)
        figure = answer_figure(found)
        assert figure.axes[0].get_xlabel() == found.titles[0]
    mixed = answer(Ask(objective="bytes_per_s"), Evidence(points, ORIGIN, unequal=True)).sentence
    assert mixed.endswith("their costs do not compare; choose with --where.")
    with pytest.raises(InputError, match="none of 2 points meets"):
        answer(
            Ask(quantiles="recall", where=[Condition("recall", ">", 2.0)]), Evidence(points, ORIGIN)
        )
