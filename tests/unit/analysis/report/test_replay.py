from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.report.answer_history import VALUES_MOST, answer_history
from analysis.report.replay import (
    FRAMES_MOST,
    Frames,
    Toggles,
    members_over,
    sizes_over,
    truth_toggles,
)
from analysis.trace import reader as report_trace
from analysis.trace.reader import TraceTables
from tests.support.report_runs import S, write_run

MOTES = 6

Row = tuple[int, str, int, int | None, list[tuple[int, int]]]
"""Time, change, value, origin, and the others listed."""


def results(rows: Sequence[Row]) -> list[tuple[object, ...]]:
    return [
        (at_us, "join", change, value, origin, None, 2, [(n, t) for n, t in others], None, 2)
        for at_us, change, value, origin, others in rows
    ]


def sets_over(toggles: Toggles) -> list[set[int]]:
    return [set(np.flatnonzero(m).tolist()) for m in members_over(toggles, motes=MOTES)]


def history(
    directory: Path, rows: Sequence[Row]
) -> tuple[list[set[int]], dict[int, list[set[int]]]]:
    manifest = write_run(directory, {"results": results(rows)}, motes=MOTES)
    tables = TraceTables(directory, manifest)
    found = answer_history(tables, Frames.over(10.0), motes=MOTES)
    return sets_over(found.whole), {v: sets_over(t) for v, t in found.by_value.items()}


def test_a_sensor_is_in_the_answer_from_its_result_until_it_is_listed_as_gone(
    tmp_path: Path,
) -> None:
    whole, by_value = history(
        tmp_path,
        [
            (1 * S, "+", 3, 0, [(1, 0)]),
            (2 * S + 1, "u", 3, 2, [(0, 0), (1, 0)]),
            (5 * S, "u", 3, None, [(1, 0)]),
        ],
    )
    assert whole == [set(), {0, 1}, {0, 1}, {0, 1, 2}, {0, 1, 2}, *[{0, 2}] * 5]
    assert by_value == {3: whole}


def test_whoever_is_left_alone_leaves_when_the_answer_dissolves(tmp_path: Path) -> None:
    whole, _ = history(tmp_path, [(S, "+", 3, 0, [(1, 0)]), (4 * S, "-", 3, None, [(1, 0)])])
    assert whole[3] == {0, 1}
    assert whole[4] == set()


def test_a_sensor_stays_while_any_value_has_it(tmp_path: Path) -> None:
    whole, by_value = history(
        tmp_path,
        [
            (S, "+", 3, 0, [(1, 0)]),
            (S, "+", 4, 0, [(2, 0)]),
            (4 * S, "-", 3, None, [(0, 0), (1, 0)]),
        ],
    )
    assert whole[3] == {0, 1, 2}
    assert whole[4] == {0, 2}
    assert by_value[3][4] == set()
    assert by_value[4][4] == {0, 2}


def test_a_value_that_comes_back_starts_from_nothing(tmp_path: Path) -> None:
    whole, by_value = history(
        tmp_path,
        [
            (1 * S, "+", 3, 0, [(1, 0)]),
            (3 * S, "-", 3, None, [(0, 0), (1, 0)]),
            (6 * S, "+", 4, 5, [(4, 0)]),
            (8 * S, "+", 3, 2, [(4, 0)]),
        ],
    )
    assert whole[5:] == [set(), {4, 5}, {4, 5}, {2, 4, 5}, {2, 4, 5}]
    assert by_value[3][8] == {2, 4}


def test_rows_count_in_the_order_written_even_if_a_time_runs_ahead(tmp_path: Path) -> None:
    # The first result is dealt with after the second frame; what follows cannot be seen before it.
    whole, _ = history(
        tmp_path, [(2 * S + 5, "+", 3, 0, [(1, 0)]), (2 * S - 5, "u", 3, None, [(0, 0)])]
    )
    assert whole[2] == set()
    assert whole[3] == {1}


def test_too_many_values_are_shown_as_one_answer(tmp_path: Path) -> None:
    rows: list[Row] = [(S, "+", value, 0, [(1, 0)]) for value in range(VALUES_MOST + 1)]
    whole, by_value = history(tmp_path / "many", rows)
    assert by_value == {}
    assert whole[1] == {0, 1}
    _, by_value = history(tmp_path / "few", rows[:-1])
    assert len(by_value) == VALUES_MOST


rows_of_any_kind = st.lists(
    st.tuples(
        st.integers(0, 3 * S),
        st.integers(0, 2),
        st.sampled_from(["result", "left", "dissolved"]),
        st.lists(st.integers(0, MOTES - 1), min_size=1, max_size=4),
    ),
    max_size=40,
)


@settings(deadline=None)
@given(rows_of_any_kind, st.integers(1, 7))
def test_the_answer_equals_a_row_by_row_reference(
    events: list[tuple[int, int, str, list[int]]], batch: int
) -> None:
    rows: list[Row] = []
    reference: dict[int, set[int]] = {}
    expected: list[set[int]] = []
    at_us = 0
    for gap_us, value, kind, nodes in events:
        at_us += gap_us
        while len(expected) < 10 and len(expected) * S < at_us:
            expected.append(set().union(*reference.values()))
        answer = reference.setdefault(value, set())
        if kind == "result":
            rows.append((at_us, "u", value, nodes[0], [(n, 0) for n in nodes[1:]]))
            answer.update(nodes)
        elif kind == "left":
            rows.append((at_us, "u", value, None, [(n, 0) for n in nodes]))
            answer.difference_update(nodes)
        else:
            rows.append((at_us, "-", value, None, [(n, 0) for n in nodes]))
            answer.clear()
    expected += [set().union(*reference.values())] * (10 - len(expected))
    with TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(report_trace, "BATCH_ROWS", batch)
        whole, by_value = history(Path(directory), rows)
    assert whole == expected
    for frame, members in enumerate(expected):
        assert set().union(*(sets[frame] for sets in by_value.values())) == members


def test_the_truth_of_all_sources_is_one_set_and_lasts_until_the_next_instant(
    tmp_path: Path,
) -> None:
    rows = [(2 * S, "a", [0, 1]), (2 * S, "b", [1, 3]), (3 * S, "a", [1])]
    manifest = write_run(tmp_path, {"truth": rows}, motes=MOTES)
    truth = truth_toggles(TraceTables(tmp_path, manifest), Frames.over(10.0), motes=MOTES)
    assert truth is not None
    assert sets_over(truth) == [set(), set(), {0, 1, 3}, {1}, *[set()] * 6]


def test_a_long_run_has_fewer_frames_and_the_truth_of_just_those(tmp_path: Path) -> None:
    frames = Frames.over(FRAMES_MOST * 2.0)
    assert (frames.step_s, frames.count) == (2, FRAMES_MOST)
    rows = [(1 * S, "a", [0]), (2 * S, "a", [1]), (3 * S, "a", [2])]
    manifest = write_run(tmp_path, {"truth": rows}, motes=MOTES)
    truth = truth_toggles(TraceTables(tmp_path, manifest), frames, motes=MOTES)
    assert truth is not None
    assert sets_over(truth)[:3] == [set(), {1}, set()]


@pytest.mark.parametrize(
    ("duration_s", "last_s"), [(10.0, 9), (10.5, 10), (0.25, 0)], ids=["whole", "broken", "short"]
)
def test_the_last_frame_is_before_the_end(duration_s: float, last_s: int) -> None:
    assert Frames.over(duration_s).times_s()[-1] == last_s


def test_agreement_counts_truth_answer_and_both() -> None:
    truth = Toggles.of([np.array([0, 1]), np.array([], np.int64), np.array([0])])
    answer = Toggles.of([np.array([], np.int64), np.array([1, 2]), np.array([3])])
    sizes = sizes_over(truth, answer, motes=MOTES)
    found = [sizes.inside, sizes.answered, sizes.both]
    expected = [[2, 2, 1], [0, 2, 3], [0, 1, 1]]
    assert [None if size is None else size.tolist() for size in found] == expected
    alone = sizes_over(None, answer, motes=MOTES)
    assert (alone.inside, alone.both) == (None, None)
    assert (sizes.most_s(Frames(2, 3)), alone.most_s(Frames(2, 3))) == (0, 4)


def test_a_phenomenon_without_an_inside_has_no_truth(tmp_path: Path) -> None:
    manifest = write_run(tmp_path, {"truth": []}, motes=MOTES)
    assert truth_toggles(TraceTables(tmp_path, manifest), Frames.over(10.0), motes=MOTES) is None
