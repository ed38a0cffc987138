"""Cases of errors whose outcome is known by hand."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from analysis.metrics.arrow.evaluate import metrics_of
from sim.errors import TraceError
from sim.trace.tables import AnswerLevel, Fate
from tests.support.checkers.errors_by_definition import AnswerRow, Story, set_verdict
from tests.support.run_directories import US_PER_S, Row, write_run

W, D, END = 10, 2, 50


def story(*readings: tuple[int, int, int], rows: list[AnswerRow]) -> Story:
    return Story(readings, rows, window_us=W, delay_us=D, end_us=END)


TWO = ((1, 0, 5), (1, 1, 8))
"""Both motes are in the answer of value 1 from 8 to 15: 16 µs of member-time."""

CASES = {
    # name: story, missed, wrong, longest wrong stretch
    "never reported": (story(*TWO, rows=[]), 16, 0, 0),
    "at once": (story(*TWO, rows=[AnswerRow(8, 1, (0, 1)), AnswerRow(16, 1, (), (0, 1))]), 0, 0, 0),
    "as late as its flight and the delay allow": (
        story(*TWO, rows=[AnswerRow(11, 1, (0, 1), (), 1), AnswerRow(16, 1, (), (0, 1))]),
        0,
        0,
        0,
    ),
    "one later than that": (
        story(*TWO, rows=[AnswerRow(12, 1, (0, 1), (), 1), AnswerRow(16, 1, (), (0, 1))]),
        2,
        0,
        0,
    ),
    "a lapse has no allowance": (
        story(*TWO, rows=[AnswerRow(8, 1, (0, 1)), AnswerRow(19, 1, (), (0, 1))]),
        0,
        6,
        3,
    ),
    "a leave has": (
        story(*TWO, rows=[AnswerRow(8, 1, (0, 1)), AnswerRow(19, 1, (), (0, 1), 1)]),
        0,
        0,
        0,
    ),
    "a miss that the exact answer ends counts whole": (
        story(*TWO, rows=[AnswerRow(20, 1, (0, 1), (), 9), AnswerRow(21, 1, (), (0, 1))]),
        16,
        2,
        1,
    ),
    "wrong until the end, by a leave that comes with it": (
        story(*TWO, rows=[AnswerRow(8, 1, (0, 1)), AnswerRow(END, 1, (), (0, 1), 99)]),
        0,
        68,
        34,
    ),
    "a stay goes on when a reading comes as the last one lapses": (
        # Mote 0 is missed from 8 to 25 without a break, which a message of 16 µs, held for 2, explains.
        story(
            (1, 0, 5),
            (1, 0, 16),
            (1, 1, 8),
            (1, 1, 18),
            (1, 1, 28),
            rows=[
                AnswerRow(8, 1, (1,)),
                AnswerRow(26, 1, (0,), (), 16),
                AnswerRow(27, 1, (), (0, 1)),
            ],
        ),
        0,
        0,
        0,
    ),
    "a mote that leaves and comes at one instant stays": (
        # As a set of two dissolves and appears again with another member.
        story(
            *TWO,
            rows=[
                AnswerRow(8, 1, (0, 1)),
                AnswerRow(12, 1, (), (0, 1)),
                AnswerRow(12, 1, (1, 0)),
                AnswerRow(16, 1, (), (0, 1)),
            ],
        ),
        0,
        0,
        0,
    ),
    "values are kept apart": (
        story(*TWO, rows=[AnswerRow(8, 2, (0, 1)), AnswerRow(10, 2, (), (0, 1))]),
        16,
        4,
        2,
    ),
}


def rows_of(case: Story, level: AnswerLevel) -> dict[str, list[Row]]:
    return {
        "readings": [(at, mote, value, None, at) for value, mote, at in case.readings],
        "results": [row.row(level) for row in case.rows],
    }


def as_directory(folder: Path, case: Story, level: AnswerLevel) -> Path:
    return write_run(
        folder / level.value,
        rows_of(case, level),
        window_s=case.window_us / US_PER_S,
        delay_s=case.delay_us / US_PER_S,
        simulated_s=case.end_us / US_PER_S,
        answer=level,
    )


@pytest.mark.parametrize(("case", "missed", "wrong", "longest"), CASES.values(), ids=CASES)
def test_errors_of_sets(tmp_path: Path, case: Story, missed: int, wrong: int, longest: int) -> None:
    verdict = set_verdict(case, AnswerLevel.SETS)
    assert (verdict["missed_us"], verdict["wrong_us"], verdict["wrong_max_us"]) == (
        missed,
        wrong,
        longest,
    )
    row = metrics_of(as_directory(tmp_path, case, AnswerLevel.SETS))
    exact = verdict["exact_us"]
    assert (row["missed_share"], row["wrong_share"]) == (missed / exact, wrong / exact)
    assert row["wrong_stretch_max_s"] == longest / US_PER_S


def test_results_without_partners_say_nothing_of_errors(tmp_path: Path) -> None:
    rows: dict[str, list[Row]] = {
        "readings": [(0, 0, 1, None, 0), (1, 1, 1, None, 1)],
        "results": [(3, "q", "+", 1, 1, 1, 2, None, 2, 2, False, False, None)],
    }
    row = metrics_of(write_run(tmp_path / "run", rows))
    for metric in ("missed_share", "wrong_share", "wrong_stretch_max_s"):
        assert row[metric] is None, metric


def test_traces_of_before_there_were_levels_have_errors_too(tmp_path: Path) -> None:
    case = story(*TWO, rows=[AnswerRow(9, 1, (0, 1), (), 1), AnswerRow(16, 1, (), (0, 1))])
    directory = as_directory(tmp_path, case, AnswerLevel.RESULTS)
    new = metrics_of(directory)
    (part,) = (directory / "trace" / "results").glob("part-*.parquet")
    pq.write_table(pq.read_table(part).drop_columns(["joined", "region", "level"]), part)
    manifest = json.loads((directory / "manifest.json").read_text())
    del manifest["scenario"]["join"]["answer"], manifest["scenario"]["join"]["delay_s"]
    (directory / "manifest.json").write_text(json.dumps(manifest))
    old = metrics_of(directory)
    assert (old["answer"], old["delay_s"]) == ("results", 0.0)
    assert old["missed_share"] == new["missed_share"] == 0.0
    assert old["results"] == new["results"] == 1


@pytest.mark.parametrize(
    ("key", "found", "expected"),
    [
        ("answer", "everything", "expected one of results, sets"),
        ("delay_s", "1 s", "expected a number"),
    ],
)
def test_a_manifest_that_asks_for_nothing_known_is_refused(
    tmp_path: Path, key: str, found: str, expected: str
) -> None:
    directory = write_run(tmp_path / "run", {})
    manifest = json.loads((directory / "manifest.json").read_text())
    manifest["scenario"]["join"][key] = found
    (directory / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(TraceError, match=rf"join\.{key} = '{found}' in its manifest, {expected}"):
        metrics_of(directory)


@pytest.mark.parametrize(
    "level", [level for level in AnswerLevel if level is not AnswerLevel.RESULTS]
)
def test_below_results_what_needs_results_is_null_and_costs_are_not(
    tmp_path: Path, level: AnswerLevel
) -> None:
    case = story(*TWO, rows=[AnswerRow(9, 1, (0, 1), (), 1, 2), AnswerRow(16, 1, (), (0, 1))])
    rows = rows_of(case, level) | {
        "truth": [(9, "a", [0, 1])],
        "fates": [(5, 0, 5, Fate.SUPPRESSED.value, None, None)],
        "traffic": [(0, 0, "head", 1, 30, 1, 30, 0, 1), (0, 0, "reading", 1, 20, 1, 20, 0, 1)],
    }
    row = metrics_of(write_run(tmp_path / "run", rows, answer=level, window_s=W / US_PER_S))
    for metric in (
        "results",
        "output_rate",
        "tuple_width",
        "delay_ms",
        "recall",
        "owed",
        "probe_requests",
    ):
        assert row[metric] is None, metric
    of_sets = level is AnswerLevel.SETS
    for metric in ("coverage", "misses", "missed_share", "wrong_stretch_max_s"):
        assert (row[metric] is not None) == of_sets, metric
    assert (row["count_error_share"] is None) == of_sets
    assert row["detection_delay_s"] == 0.0
    assert row["change_delay_ms"] == 1e-3
    assert row["readings_suppressed"] == 1
    assert (row["bytes"], row["data_bytes"], row["data_bytes_per_s"]) == (50, 20, 0.2)
