"""Errors of the sink's answer against their definitions, instant by instant."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.metrics.arrow.evaluate import run_aggregates
from analysis.metrics.inputs import EXACT_US, MISSED_US, WRONG_MAX_US, WRONG_US
from analysis.trace.reader import TraceTables
from sim.trace.manifest import read_complete
from sim.trace.tables import AnswerLevel
from tests.support.checkers.errors_by_definition import AnswerRow, Story, set_verdict
from tests.support.run_directories import US_PER_S, write_run

END_US = 16
motes = st.integers(0, 2)
values = st.integers(1, 2)
# Some are at the end of the run or after it: they must not count.
times_us = st.integers(0, END_US + 2)
listed = st.lists(motes, min_size=1, max_size=3, unique=True).map(tuple)
nobody = st.just(())
delays_us = st.none() | st.integers(0, 5)
answer_rows = st.one_of(
    st.builds(AnswerRow, times_us, values, came, left, delays_us)
    for came, left in ((listed, nobody), (nobody, listed), (listed, listed))
)


def stories(size: int) -> st.SearchStrategy[Story]:
    return st.builds(
        Story,
        readings=st.lists(st.tuples(values, motes, times_us), min_size=size // 4, max_size=size),
        rows=st.lists(answer_rows, min_size=size // 4, max_size=size),
        window_us=st.integers(0, 8),
        delay_us=st.sampled_from([0, 3]),
        end_us=st.just(END_US),
    )


def write(folder: Path, story: Story, level: AnswerLevel) -> Path:
    return write_run(
        folder / "run",
        {
            "readings": [(at, mote, value, None, at + 7) for value, mote, at in story.readings],
            "results": [row.row(level) for row in story.rows],
        },
        window_s=story.window_us / US_PER_S,
        delay_s=story.delay_us / US_PER_S,
        simulated_s=story.end_us / US_PER_S,
        answer=level,
    )


@pytest.mark.parametrize("level", [AnswerLevel.SETS, AnswerLevel.RESULTS])
@given(story=stories(25))
def test_errors_of_sets_are_those_of_the_definitions(level: AnswerLevel, story: Story) -> None:
    wanted = [EXACT_US, MISSED_US, WRONG_US, WRONG_MAX_US]
    with tempfile.TemporaryDirectory() as folder:
        directory = write(Path(folder), story, level)
        manifest = read_complete(directory)
        found = run_aggregates(TraceTables(directory, manifest), manifest, wanted)
    expected = set_verdict(story, level)
    assert {each.column: found[each.name] for each in wanted} == expected
