"""Strategies that count motes, per head's region or in all, against the exact numbers at every instant."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from join.strategies.contract import ReportingSettings
from sim.trace.tables import AnswerLevel
from tests.support.set_stories import (
    FLIGHT_US,
    REFRESH_US,
    SETS,
    SETTINGS,
    SLACK_US,
    SLACKS_US,
    Outcome,
    Story,
    check_fates,
    exact_spans,
    run,
    stories,
)

VALUES = (0, 1)
HANDOVER_US = 4 * FLIGHT_US
"""How much longer counts may be off after an election: a lease to the new head, its report, and the old head's."""
COUNT = replace(SETTINGS, level=AnswerLevel.COUNT)
OCCUPANCY = replace(SETTINGS, level=AnswerLevel.OCCUPANCY)


class Bounds(NamedTuple):
    """How many motes of a value a region has at an instant, and how many it may count."""

    least: int
    """Motes that have been its members ever since their newest reading."""
    most: int
    """Motes that have been its members at any time since they entered the window."""


def counted(story: Story, outcome: Outcome) -> Iterator[tuple[int, dict[tuple[int, int], int]]]:
    """Every instant, and the numbers by value and region (0 at level `count`) as a reader of the trace sees them."""
    numbers: dict[tuple[int, int], int] = {}
    rows = iter(outcome.rows)
    row = next(rows, None)
    for now_us in range(story.end_us):
        while row is not None and row["at_us"] <= now_us:
            assert row["joined"] is row["partners"] is None, "numbers name nobody"
            assert row["answer"] >= 0
            numbers[row["value"], row["region"] or 0] = row["answer"]
            row = next(rows, None)
        yield now_us, numbers


def active_motes(story: Story, outcome: Outcome) -> list[dict[tuple[int, int], int]]:
    """At every instant: the newest reading by value and mote, of those in the window."""
    active: list[dict[tuple[int, int], int]] = [{} for _ in range(story.end_us)]
    for node, value, at_us in outcome.taken:
        for now_us in range(at_us, at_us + story.window_us + 1):
            active[now_us][value, node] = at_us
    return active


def heads_since(outcome: Outcome, mote: int, from_us: int, now_us: int) -> set[int]:
    """The heads that a mote has had in an interval."""
    starts = [at_us for at_us, _ in outcome.elections]
    return {
        heads[mote]
        for place, (at_us, heads) in enumerate(outcome.elections)
        if at_us <= now_us and (place + 1 == len(starts) or starts[place + 1] > from_us)
    }


def region_bounds(story: Story, outcome: Outcome) -> list[dict[tuple[int, int], Bounds]]:
    """At every instant, by value and region, for values that join.

    A mote that has switched heads since its newest reading may be counted by the old or the new one.
    """
    everywhere = []
    for now_us, active in enumerate(active_motes(story, outcome)):
        sizes = Counter(value for value, _ in active)
        least: Counter[tuple[int, int]] = Counter()
        most: Counter[tuple[int, int]] = Counter()
        for value, mote in active:
            if sizes[value] < 2:
                continue
            from_us = max(0, now_us - story.window_us)
            heads = heads_since(outcome, mote, from_us, now_us)
            for head in heads:
                most[value, head] += 1
                least[value, head] += len(heads) == 1
        everywhere.append({key: Bounds(least[key], most[key]) for key in most})
    return everywhere


@pytest.mark.parametrize("strategy", SETS)
@given(story=stories())
def test_without_loss_counts_are_exact_but_for_the_flight_of_messages(
    strategy: str, story: Story
) -> None:
    slack_us = SLACKS_US.get(strategy, SLACK_US) + HANDOVER_US
    outcome = run(story, strategy, COUNT)
    check_fates(outcome)
    exact: Counter[tuple[int, int]] = Counter()
    for (value, _), spans in exact_spans(story, outcome.taken).items():
        exact.update((value, now_us) for span in spans for now_us in span)
    off = dict.fromkeys(VALUES, 0)
    for now_us, numbers in counted(story, outcome):
        for value in VALUES:
            recent = [exact[value, at_us] for at_us in range(now_us - slack_us, now_us + 1)]
            near = min(recent) <= numbers.get((value, 0), 0) <= max(recent)
            off[value] = 0 if near else off[value] + 1
            assert off[value] <= slack_us, (value, now_us)


@pytest.mark.parametrize("strategy", SETS)
@given(story=stories())
def test_without_loss_every_mote_is_counted_in_a_region_it_is_in(
    strategy: str, story: Story
) -> None:
    slack_us = SLACKS_US.get(strategy, SLACK_US) + HANDOVER_US
    outcome = run(story, strategy, OCCUPANCY)
    check_fates(outcome)
    bounds = region_bounds(story, outcome)
    none = Bounds(0, 0)
    off: Counter[tuple[int, int]] = Counter()
    for now_us, numbers in counted(story, outcome):
        for key in [(value, head) for value in VALUES for head in range(story.motes)]:
            recent = [
                bounds[at_us].get(key, none)
                for at_us in range(max(0, now_us - slack_us), now_us + 1)
            ]
            least, most = min(each.least for each in recent), max(each.most for each in recent)
            off[key] = 0 if least <= numbers.get(key, 0) <= most else off[key] + 1
            assert off[key] <= slack_us, (key, now_us, numbers.get(key, 0), least, most)


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
    # A value joins if another mote is active, which may be wrongly counted itself: judged are motes with readings in the window.
    ever: dict[tuple[int, int], list[int]] = {}
    for now_us, active in enumerate(active_motes(story, outcome)):
        most: Counter[tuple[int, int]] = Counter()
        for value, mote in active:
            for head in heads_since(outcome, mote, max(0, now_us - story.window_us), now_us):
                most[value, head] += 1
        for key, motes in most.items():
            ever.setdefault(key, [0] * story.end_us)[now_us] = motes
    reach_us = int(2.5 * REFRESH_US)
    for now_us, numbers in counted(story, outcome):
        for key, motes in numbers.items():
            if motes:
                recent = ever.get(key, [0] * story.end_us)[max(0, now_us - reach_us) : now_us + 1]
                assert motes <= max(recent), (key, now_us, motes)


@pytest.mark.parametrize("level", [COUNT, OCCUPANCY], ids=["count", "occupancy"])
@given(story=stories(), loss=st.sampled_from([0.0, 0.2, 0.5]), strategy=st.sampled_from(SETS))
def test_in_the_end_nobody_is_counted(
    level: ReportingSettings, story: Story, loss: float, strategy: str
) -> None:
    outcome = run(story, strategy, level, loss=loss, crashes=True, back_after_us=50)
    check_fates(outcome)
    last: dict[tuple[int, int], int] = {}
    for _, numbers in counted(story, outcome):
        last = numbers
    assert not any(last.values())
