"""Groups, means with intervals and differences from baselines."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analysis.compare.answer_plots import Look, bars, heat_map
from analysis.compare.estimates import answers, difference_table, summary_table
from analysis.compare.files import write_answers
from analysis.compare.groups import Grouping, baselines, group_by_keys, key_label
from analysis.compare.intervals import Estimate, Scale, estimate, seeds_wanted
from analysis.compare.page import cell
from sim.errors import InputError

SCENARIOS = {
    f"{strategy}-{window}-{seed}": {"join": {"strategy": strategy, "window_s": window}}
    for strategy in ("central", "star")
    for window in (3.0, 6.0)
    for seed in (1, 2, 3)
}


def rows_of(value: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - a function of a run's name
    return [{"run": run, "seed": int(run[-1]), "bytes": value(run)} for run in SCENARIOS]


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_interval_is_students_t(values: list[float]) -> None:
    found = estimate(values)
    error = stats.sem(values)
    low, high = stats.t.interval(0.95, len(values) - 1, loc=stats.tmean(values), scale=error or 1)
    if error == 0:
        low = high = stats.tmean(values)
    assert found.n == len(values)
    assert found.mean == pytest.approx(stats.tmean(values), abs=1e-6)
    assert found.low == pytest.approx(low, abs=1e-5)
    assert found.high == pytest.approx(high, abs=1e-5)


def test_one_value_has_no_interval_and_none_has_no_mean() -> None:
    assert estimate([5.0]) == Estimate(5.0, None, None, 1)
    assert estimate([]) == Estimate(None, None, None, 0)


def test_runs_are_grouped_by_a_key_or_its_last_part() -> None:
    for key in ("join.strategy", "strategy"):
        grouping = group_by_keys(SCENARIOS, [key])
        assert grouping.axes == ["join.strategy"]
        assert list(grouping.places) == ["strategy=central", "strategy=star"]
        assert grouping.group_of["star-3.0-2"] == "strategy=star"


def test_unknown_and_ambiguous_keys_are_told() -> None:
    with pytest.raises(InputError, match=r"did you mean .*join\.strategy"):
        group_by_keys(SCENARIOS, ["join.stratgy"])
    both = {"a": {"radio": {"range_m": 1.0}, "clustering": {"range_m": 1.0}}}
    with pytest.raises(InputError, match=r"radio\.range_m, clustering\.range_m"):
        group_by_keys(both, ["range_m"])


def test_seeds_are_the_units_of_a_group() -> None:
    """Runs of one seed are averaged first: n counts seeds."""
    grouping = group_by_keys(SCENARIOS, ["strategy"])
    found = answers(
        rows_of(lambda run: 10 * int(run[-1]) + (5 if "6.0" in run else 0)),
        grouping,
        ["bytes"],
        {},
    )
    star = found.means["strategy=star", "bytes"]
    assert (star.mean, star.n) == (22.5, 3)
    assert found.runs["strategy=star"] == 6


def test_difference_is_taken_seed_by_seed() -> None:
    """Star needs 20 % more than central with each seed, whatever the seed: no spread at all."""
    grouping = group_by_keys(SCENARIOS, ["strategy", "window_s"])
    factor = {"central": 1.0, "star": 1.2}
    rows = rows_of(lambda run: factor[run.split("-")[0]] * 100 ** int(run[-1]))
    baseline_of = baselines(grouping, "strategy=central")
    assert baseline_of["strategy=star,window_s=6.0"] == "strategy=central,window_s=6.0"
    found = answers(rows, grouping, ["bytes"], baseline_of)
    difference = found.differences["strategy=star,window_s=6.0", "bytes"]
    assert difference.mean == pytest.approx(20)
    assert difference.half == pytest.approx(0, abs=1e-9)
    assert difference.n == 3
    assert found.differences["strategy=central,window_s=3.0", "bytes"].mean == 0


@pytest.mark.parametrize("named", ["strategy=central,window_s=3.0", "central,3.0"])
def test_one_group_can_be_the_baseline_of_all(named: str) -> None:
    grouping = group_by_keys(SCENARIOS, ["strategy", "window_s"])
    assert set(baselines(grouping, named).values()) == {"strategy=central,window_s=3.0"}


def test_unknown_baseline_is_told_with_what_there_is() -> None:
    grouping = group_by_keys(SCENARIOS, ["strategy"])
    with pytest.raises(InputError, match=r"centrl.*strategy=central"):
        baselines(grouping, "centrl")


def test_seeds_that_the_baseline_lacks_are_left_out_and_zero_divides_nothing() -> None:
    grouping = Grouping(["run"], {"a": {"run": "a"}, "b": {"run": "b"}}, {"a1": "a", "b1": "b"})
    grouping.group_of.update({"a2": "a", "b2": "b", "b3": "b"})
    rows = [
        {"run": "a1", "seed": 1, "bytes": 0},
        {"run": "a2", "seed": 2, "bytes": 4},
        {"run": "b1", "seed": 1, "bytes": 7},
        {"run": "b2", "seed": 2, "bytes": 5},
        {"run": "b3", "seed": 3, "bytes": None},
    ]
    found = answers(rows, grouping, ["bytes"], {"a": "a", "b": "a"})
    assert found.differences["b", "bytes"] == Estimate(25.0, None, None, 1)
    assert found.means["b", "bytes"].n == 2


def test_summary_has_mean_low_high_and_n_of_every_metric(tmp_path: Path) -> None:
    grouping = group_by_keys(SCENARIOS, ["strategy", "window_s"])
    rows = rows_of(lambda run: len(run) * int(run[-1]))
    found = answers(rows, grouping, ["bytes"], baselines(grouping, "central"))
    table = summary_table(found, "group")
    assert table.column_names == [
        "group",
        "join.strategy",
        "join.window_s",
        "runs",
        "bytes_mean",
        "bytes_low",
        "bytes_high",
        "bytes_n",
    ]
    assert difference_table(found, "group").num_rows == 4
    written = write_answers(found, ["bytes"], tmp_path, label="group")
    with (tmp_path / "summary.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    for line, row in zip(lines, table.to_pylist(), strict=True):
        assert line == {key: "" if value is None else str(value) for key, value in row.items()}
    # Numbers on one axis, two series, two dimensions: lines, differences and a heat map.
    assert set(written.figures) == {"bytes", "bytes-difference", "bytes-heat"}
    assert all(file.stat().st_size > 1000 for file in written.figures.values())
    assert (tmp_path / "differences.csv").is_file()

    # Asked anew without a baseline and along one axis, nothing of the first answer is left.
    strategies = group_by_keys(SCENARIOS, ["strategy"])
    (tmp_path / "figures" / "mine.png").write_text("mine")
    write_answers(answers(rows, strategies, ["bytes"], {}), ["bytes"], tmp_path, label="group")
    assert not (tmp_path / "differences.csv").exists()
    drawn = {file.name for file in (tmp_path / "figures").iterdir()}
    assert drawn == {"bytes.png", "bytes.svg", "bytes.pdf", "mine.png"}


def test_figures_stand_where_nothing_is_known(tmp_path: Path) -> None:
    grouping = group_by_keys(SCENARIOS, ["strategy"])
    found = answers(rows_of(lambda _: None), grouping, ["bytes"], {})
    written = write_answers(found, ["bytes"], tmp_path, label="group")
    assert set(written.figures) == {"bytes"}


def test_the_legend_of_bars_has_series_that_lack_the_first_place() -> None:
    known = Estimate(1.0, None, None, 1)
    cells = {("heed", "a"): known, ("heed", "b"): known, ("leach", "b"): known}
    figure = bars(cells, ["a", "b"], Look("", ""), axis="", legend="")
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["heed", "leach"]


def test_a_heat_map_takes_keys_whose_values_are_arrays() -> None:
    scenarios = {
        f"{ranges}-{window}": {"clustering": {"ranges_m": ranges}, "join": {"window_s": window}}
        for ranges in ([20.0, 40.0], [30.0, 60.0])
        for window in (3.0, 6.0)
    }
    rows = [{"run": run, "seed": 1, "bytes": 10 + n} for n, run in enumerate(scenarios)]
    found = answers(rows, group_by_keys(scenarios, ["ranges_m", "window_s"]), ["bytes"], {})
    figure = heat_map(found, "bytes", "join.window_s", "clustering.ranges_m")
    drawn = np.asarray(figure.axes[0].images[0].get_array())
    assert drawn.tolist() == [[10.0, 11.0], [12.0, 13.0]]


@pytest.mark.parametrize(
    ("metric", "mean", "difference", "text"),
    [
        ("bytes", Estimate(None, None, None, 0), None, "–"),
        ("bytes", Estimate(3.25, None, None, 1), None, "3.25"),
        ("bytes", Estimate(2000.0, 1000.0, 3000.0, 5), None, "2,000 [1,000 to 3,000]"),
        (
            "bytes",
            Estimate(2.0, 1.0, 3.0, 5),
            Estimate(-50.0, -60.0, -40.0, 5),
            "2 [1 to 3] (-50.0 % [-60 to -40])",
        ),
        ("bytes", Estimate(2.0, 1.0, 3.0, 5), Estimate(0.0, 0.0, 0.0, 5), "2 [1 to 3] (+0.0 %)"),
        ("recall", Estimate(0.9144, 0.8, 0.99996, 5), None, "91.4 % [80 % to 99.996 %]"),
        ("recall", Estimate(1.0, 1.0, 1.0, 5), None, "100 %"),
        ("first_dead_s", Estimate(None, 600.0, None, 3, bounds=2), None, "> 600"),
    ],
)
def test_a_cell_says_mean_interval_and_difference(
    metric: str, mean: Estimate, difference: Estimate | None, text: str
) -> None:
    assert cell(metric, mean, difference) == text


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12))
def test_an_interval_of_a_share_is_one_of_its_logit(values: list[float]) -> None:
    found = estimate(values, Scale.SHARE)
    assert found.mean is not None
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= found.mean * (1 + 1e-9)
    assert found.mean * (1 - 1e-9) <= found.high <= 1
    mean, error = np.mean(values), stats.sem(values)
    if 1e-3 < mean < 1 - 1e-3:
        wide = stats.t.ppf(0.975, len(values) - 1) * error / (mean * (1 - mean))
        odds = np.log(mean / (1 - mean))
        assert found.low == pytest.approx(1 / (1 + np.exp(-(odds - wide))), abs=1e-9)
        assert found.high == pytest.approx(1 / (1 + np.exp(-(odds + wide))), abs=1e-9)


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=12))
def test_an_interval_of_a_positive_quantity_is_one_of_its_logarithm(values: list[float]) -> None:
    found = estimate(values, Scale.POSITIVE)
    assert found.mean is not None
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= found.mean <= found.high
    mean, error = np.mean(values), stats.sem(values)
    if mean > 1e-3:
        wide = stats.t.ppf(0.975, len(values) - 1) * error / mean
        assert found.low == pytest.approx(mean * np.exp(-wide))
        assert found.high == pytest.approx(mean * np.exp(wide))


@pytest.mark.parametrize("scale", Scale)
def test_intervals_of_a_small_spread_are_all_students(scale: Scale) -> None:
    values = [0.5, 0.5001, 0.4999, 0.50005]
    plain, found = estimate(values), estimate(values, scale)
    assert found.low == pytest.approx(plain.low, abs=1e-7)
    assert found.high == pytest.approx(plain.high, abs=1e-7)


def test_a_death_that_did_not_come_is_later_than_the_end() -> None:
    scenarios = {f"a-{seed}": {"join": {"window_s": 1.0}} for seed in (1, 2, 3)}
    grouping = group_by_keys(scenarios, ["window_s"])
    rows = [
        {"run": "a-1", "seed": 1, "simulated_s": 600.0, "dead": 4, "first_dead_s": 300.0},
        {"run": "a-2", "seed": 2, "simulated_s": 600.0, "dead": 0, "first_dead_s": None},
        {"run": "a-3", "seed": 3, "simulated_s": 600.0, "dead": None, "first_dead_s": None},
    ]
    (found,) = answers(rows, grouping, ["first_dead_s"], {}).means.values()
    # Of the third run deaths are not known; of the second, that there were none.
    assert (found.mean, found.low, found.high) == (None, 450.0, None)
    assert (found.n, found.bounds) == (2, 1)
    for row in rows:
        row["dead"] = None
    (found,) = answers(rows, grouping, ["first_dead_s"], {}).means.values()
    assert (found.mean, found.n, found.bounds) == (300.0, 1, 0)


def test_seeds_wanted_bring_the_interval_close() -> None:
    found = estimate([8.0, 10.0, 12.0], Scale.POSITIVE)
    wanted = seeds_wanted(found, Scale.POSITIVE)
    assert wanted == 18
    for n, close in ((wanted, True), (wanted - 1, False)):
        half = stats.t.ppf(0.975, n - 1) * 2 / n**0.5
        assert (half <= 1.0) == close
    assert seeds_wanted(estimate([5.0, 5.0]), Scale.ANY) == 2


def test_keys_are_words_with_units_on_axes() -> None:
    assert key_label("join.window_s") == "join window (s)"
    assert key_label("motes.count") == "motes count"
    assert key_label("clustering.range_m") == "clustering range (m)"
    assert key_label("join.feedback") == "join feedback"


def test_groups_are_compared_only_with_a_baseline_that_was_asked_for_the_same() -> None:
    rows = [
        row | {"answer": "sets" if row["run"].startswith("star-6") else "results", "delay_s": 0.0}
        for row in rows_of(lambda run: 1.0 if run.startswith("central") else 2.0)
    ]
    grouping = group_by_keys(SCENARIOS, ["strategy", "window_s"])
    baseline_of = baselines(grouping, "central")
    found = answers(rows, grouping, ["bytes"], baseline_of)
    assert found.unequal == ["strategy=star,window_s=6.0"]
    assert "strategy=star,window_s=6.0" in found.note
    assert "join.answer" in found.note
    assert found.differences["strategy=star,window_s=3.0", "bytes"].mean == 100.0
    assert ("strategy=star,window_s=6.0", "bytes") not in found.differences
    assert found.means["strategy=star,window_s=6.0", "bytes"].mean == 2.0
    later = [row | {"answer": "results", "delay_s": float("star" in row["run"])} for row in rows]
    assert len(answers(later, grouping, ["bytes"], baseline_of).unequal) == 2
    same = [row | {"answer": "results"} for row in rows]
    assert answers(same, grouping, ["bytes"], baseline_of).note == ""
