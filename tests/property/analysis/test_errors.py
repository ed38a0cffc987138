"""Errors of the sink's answer against their definitions, instant by instant."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.metrics.arrow.evaluate import run_aggregates
from analysis.metrics.inputs import COUNT_ERROR_US, EXACT_US, MISSED_US, WRONG_MAX_US, WRONG_US
from analysis.metrics.metric import Special
from analysis.trace.reader import TraceTables
from sim.trace.manifest import read_complete
from sim.trace.tables import AnswerLevel
from tests.support.checkers.errors_by_definition import AnswerRow, Story, count_verdict, set_verdict
from tests.support.run_directories import US_PER_S, write_run

END_US = 16
motes = st.integers(0, 2)
values = st.integers(1, 2)
# Some are at the end of the run or after it: they must not count.
times_us = st.integers(0, END_US + 2)
read_us = st.integers(-3, END_US + 2)
listed = st.lists(motes, min_size=1, max_size=3, unique=True).map(tuple)
nobody = st.just(())
delays_us = st.none() | st.integers(0, 5)
answer_rows = st.one_of(
    [
        st.builds(AnswerRow, times_us, values, came, left, delays_us, st.integers(0, 3), motes)
        for came, left in ((listed, nobody), (nobody, listed), (listed, listed))
    ]
)


def stories(size: int) -> st.SearchStrategy[Story]:
    return st.builds(
        Story,
        readings=st.lists(st.tuples(values, motes, read_us), min_size=size // 4, max_size=size),
        rows=st.lists(answer_rows, min_size=size // 4, max_size=size),
        window_us=st.integers(0, 8),
        delay_us=st.sampled_from([0, 3]),
        end_us=st.just(END_US),
        heads=st.lists(
            st.tuples(times_us, st.integers(0, 3), motes, st.integers(-1, 2)),
            unique_by=lambda head: head[:3],
            max_size=8,
        ),
    )


def write(folder: Path, story: Story, level: AnswerLevel) -> Path:
    return write_run(
        folder / "run",
        {
            "readings": [(at, mote, value, None, at + 7) for value, mote, at in story.readings],
            "results": [row.row(level) for row in story.rows],
            "elections": [(*head, 1, 0) for head in story.heads],
        },
        window_s=story.window_us / US_PER_S,
        delay_s=story.delay_us / US_PER_S,
        simulated_s=story.end_us / US_PER_S,
        answer=level,
    )


def found_in(story: Story, level: AnswerLevel, wanted: Sequence[Special]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        directory = write(Path(folder), story, level)
        manifest = read_complete(directory)
        found = run_aggregates(TraceTables(directory, manifest), manifest, wanted)
    return {each.column: found[each.name] for each in wanted}


@pytest.mark.parametrize("level", [AnswerLevel.SETS, AnswerLevel.RESULTS])
@given(story=stories(25))
def test_errors_of_sets_are_those_of_the_definitions(level: AnswerLevel, story: Story) -> None:
    wanted = [EXACT_US, MISSED_US, WRONG_US, WRONG_MAX_US]
    assert found_in(story, level, wanted) == set_verdict(story, level)


@pytest.mark.parametrize("level", [AnswerLevel.COUNT, AnswerLevel.OCCUPANCY])
@given(story=stories(25))
def test_errors_of_counts_are_those_of_the_definitions(level: AnswerLevel, story: Story) -> None:
    assert found_in(story, level, [EXACT_US, COUNT_ERROR_US]) == count_verdict(story, level)
