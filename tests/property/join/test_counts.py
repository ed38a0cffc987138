"""Strategies that count motes, per head's region or in all, against the exact numbers at every instant."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from join.reading import Reading
from join.strategies.contract import ReportingSettings
from sim.trace.tables import AnswerLevel
from tests.support.set_stories import (
    BY_MOTES,
    FLIGHT_US,
    REFRESH_US,
    SETS,
    SETTINGS,
    SLACK_US,
    SLACKS_US,
    Outcome,
    Story,
    check_fates,
    run,
    stories,
)

VALUES = 2
HANDOVER_US = 4 * FLIGHT_US
"""How much longer counts may be off after an election: a lease to the new head, its report, and the old head's."""
COUNT = replace(SETTINGS, level=AnswerLevel.COUNT)
OCCUPANCY = replace(SETTINGS, level=AnswerLevel.OCCUPANCY)

Numbers = NDArray[np.int64]
"""The last axis is time, in microseconds."""


def counted(story: Story, outcome: Outcome) -> Numbers:
    """By value and region (0 at level `count`): the numbers as a reader of the trace sees them."""
    numbers = np.zeros((VALUES, story.motes, story.end_us), np.int64)
    for row in outcome.rows:
        assert row["joined"] is row["partners"] is None, "numbers name nobody"
        assert row["answer"] >= 0
        numbers[row["value"], row["region"] or 0, row["at_us"] :] = row["answer"]
    return numbers


def active(story: Story, outcome: Outcome) -> Numbers:
    """By value and mote: whether a reading is in the window."""
    inside = np.zeros((VALUES, story.motes, story.end_us), np.int64)
    for node, value, at_us in outcome.taken:
        inside[value, node, at_us : at_us + story.window_us + 1] = 1
    return inside


def joined(story: Story, outcome: Outcome) -> Numbers:
    """By value and mote: whether it is in the exact answer."""
    inside = active(story, outcome)
    joins: Numbers = inside * (inside.sum(axis=1, keepdims=True) >= 2)
    return joins


def lately_members(story: Story, outcome: Outcome) -> Numbers:
    """By head and mote: whether it has been the mote's head at any time within a window."""
    members = np.zeros((story.motes, story.motes, story.end_us), np.int64)
    for at_us, heads in outcome.elections:
        members[:, :, at_us:] = 0
        for mote, head in enumerate(heads):
            members[head, mote, at_us:] = 1
    return most_of(members, story.window_us)


def most_of(numbers: Numbers, reach_us: int) -> Numbers:
    """The greatest number from `reach_us` before to now."""
    before = np.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(reach_us, 0)], mode="edge")
    seen = np.lib.stride_tricks.sliding_window_view(before, reach_us + 1, axis=-1)
    most: Numbers = seen.max(axis=-1)
    return most


def longest(wrong: NDArray[np.bool_]) -> int:
    """The longest stretch of instants at which something is wrong."""
    ends = np.flatnonzero(np.diff(np.concatenate([[0], wrong.astype(int), [0]])))
    return int((ends[1::2] - ends[::2]).max(initial=0))


def check_between(numbers: Numbers, least: Numbers, most: Numbers, slack_us: int) -> None:
    """Numbers are within bounds of now or shortly before, but for short times."""
    low, high = -most_of(-least, slack_us), most_of(most, slack_us)
    wrong = (numbers < low) | (numbers > high)
    for place in np.ndindex(wrong.shape[:-1]):
        if longest(wrong[place]) > slack_us:
            at_us = int(wrong[place].argmax())
            pytest.fail(f"{place} at {at_us}: {numbers[place][at_us]}, {low[place][at_us]} or more")


@pytest.mark.parametrize("strategy", [*SETS, BY_MOTES])
@given(story=stories())
def test_without_loss_counts_are_exact_but_for_the_flight_of_messages(
    strategy: str, story: Story
) -> None:
    outcome = run(story, strategy, COUNT)
    check_fates(outcome)
    exact = joined(story, outcome).sum(axis=1)
    slack_us = SLACKS_US.get(strategy, SLACK_US) + HANDOVER_US
    check_between(counted(story, outcome)[:, 0], exact, exact, slack_us)


@pytest.mark.parametrize("strategy", SETS)
@given(story=stories())
def test_without_loss_every_mote_is_counted_once_in_a_region_it_is_in(
    strategy: str, story: Story
) -> None:
    outcome = run(story, strategy, OCCUPANCY)
    check_fates(outcome)
    exact = joined(story, outcome)
    numbers = counted(story, outcome)
    slack_us = SLACKS_US.get(strategy, SLACK_US) + HANDOVER_US
    check_between(numbers.sum(axis=1), exact.sum(axis=1), exact.sum(axis=1), slack_us)
    # Who has switched heads within the window may be counted in the old or the new region.
    members = lately_members(story, outcome)
    only = members * (members.sum(axis=0, keepdims=True) == 1)
    least, most = np.einsum("vmt,hmt->vht", exact, only), np.einsum("vmt,hmt->vht", exact, members)
    check_between(numbers, least, most, slack_us)


@pytest.mark.parametrize("strategy", ["change", "rendezvous"])
@pytest.mark.parametrize("lossy", [False, True])
@given(
    story=stories(),
    loss=st.sampled_from([0.0, 0.05, 0.2, 0.5]),
    back_after_us=st.sampled_from([None, 5, 300]),
)
def test_nobody_is_wrongly_counted_for_long_whatever_is_lost(
    strategy: str, lossy: bool, story: Story, loss: float, back_after_us: int | None
) -> None:
    reporting = replace(OCCUPANCY, lossy=lossy)
    outcome = run(story, strategy, reporting, loss=loss, crashes=True, back_after_us=back_after_us)
    check_fates(outcome)
    # A value joins if another mote is active, which may be wrongly counted itself: judged is who has a reading in the window.
    members = lately_members(story, outcome)
    truly = np.einsum("vmt,hmt->vht", active(story, outcome), members)
    excess = counted(story, outcome) - most_of(truly, int(2.5 * REFRESH_US))
    assert excess.max() <= 0, np.argwhere(excess > 0)[0]


@given(story=stories(), back_after_us=st.sampled_from([5, 300]))
def test_after_a_crash_everybody_is_counted_again_within_a_window(
    story: Story, back_after_us: int
) -> None:
    outcome = run(story, "change", OCCUPANCY, crashes=True, back_after_us=back_after_us)
    members = lately_members(story, outcome)
    only = members * (members.sum(axis=0, keepdims=True) == 1)
    least = np.einsum("vmt,hmt->vht", joined(story, outcome), only)
    # What a mote read before it crashed counts for a window, but nobody knows of it any longer.
    missed = counted(story, outcome) < -most_of(-least, SLACK_US)
    for place in np.ndindex(missed.shape[:-1]):
        assert longest(missed[place]) <= story.window_us + SLACK_US, place


@pytest.mark.parametrize("level", [COUNT, OCCUPANCY], ids=["count", "occupancy"])
@given(story=stories(), loss=st.sampled_from([0.0, 0.2, 0.5]), strategy=st.sampled_from(SETS))
def test_in_the_end_nobody_is_counted(
    level: ReportingSettings, story: Story, loss: float, strategy: str
) -> None:
    outcome = run(story, strategy, level, loss=loss, crashes=True, back_after_us=50)
    check_fates(outcome)
    assert not counted(story, outcome)[:, :, -1].any()


@pytest.mark.parametrize("seed", range(8))
def test_a_lease_that_reaches_a_head_which_stepped_down_is_not_counted_there(seed: int) -> None:
    """Mote 2 reads for the first time just before its head steps down: the new head alone counts it."""
    before = [Reading(step % 2, 0, 1 + 60 * step) for step in range(9)]
    after = [Reading(step % 2, 0, 1 + 60 * step) for step in range(10, 19)]
    story = Story(300, 3, [[0], [1]], [*before, Reading(2, 0, 490), *after], seed=seed)
    outcome = run(story, "change", COUNT)
    assert outcome.elections[1][0] == 490 + FLIGHT_US // 2
    numbers = counted(story, outcome)[0, 0]
    assert numbers.max() >= 3
    assert longest(numbers > 3) <= SLACK_US, "but for reports that cross"


def test_a_head_that_starts_anew_is_believed() -> None:
    """Mote 0 crashes as a head and becomes one again; its reports are numbered from 0 again."""
    readings = [Reading(1 + step % 3, 0, 1 + 30 * step) for step in range(90)]
    story = Story(200, 4, [[0], [1], [0]], readings, seed=3)
    outcome = run(story, "change", OCCUPANCY, crashes=True, back_after_us=50)
    third_us = outcome.elections[2][0]
    counts = counted(story, outcome)[0, 0]
    assert (counts[third_us + SLACK_US : readings[-1].at_us] == 3).all()
