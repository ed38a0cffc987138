"""Strategies that deliver sets, over a toy network, against the exact answer at every instant."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from join.reading import Reading
from join.strategies.message_sizes import TIME_BYTES, VALUE_BYTES
from join.strategies.record_sizes import RECORD_KIND_BYTES, SEQUENCE_BYTES
from sim.trace.kinds import PLAN, READING, REPORT, RESYNC
from sim.trace.tables import SINK
from tests.support.restless import RESTLESS
from tests.support.set_stories import (
    BY_MOTES,
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
    sink_spans,
    stories,
)
from tests.support.toy_network import ToyLinks


def errors(known: list[range], reference: list[range]) -> list[range]:
    """The stretches of `known` that are not in `reference`."""
    covered = {at_us for span in reference for at_us in span}
    stretches: list[range] = []
    for at_us in sorted({at_us for span in known for at_us in span} - covered):
        if stretches and stretches[-1].stop == at_us:
            stretches[-1] = range(stretches[-1].start, at_us + 1)
        else:
            stretches.append(range(at_us, at_us + 1))
    return stretches


def check_sets(story: Story, outcome: Outcome, *, slack_us: int) -> None:
    """No mote is wrongly in, or missed, for longer than messages take."""
    exact = exact_spans(story, outcome.taken)
    answered = sink_spans(story, outcome.rows)
    for key in exact.keys() | answered.keys():
        at_sink, truly = answered.get(key, []), exact.get(key, [])
        for name, stretches in (
            ("wrong", errors(at_sink, truly)),
            ("missed", errors(truly, at_sink)),
        ):
            too_long = [stretch for stretch in stretches if len(stretch) > slack_us]
            assert not too_long, (name, key, too_long, truly, at_sink)


@pytest.mark.parametrize("strategy", [*SETS, BY_MOTES])
@given(story=stories())
def test_without_loss_the_sets_are_exact_but_for_the_flight_of_messages(
    strategy: str, story: Story
) -> None:
    outcome = run(story, strategy, SETTINGS)
    check_fates(outcome)
    check_sets(story, outcome, slack_us=SLACKS_US.get(strategy, SLACK_US))


@given(story=stories(readings_least=50))
def test_no_switch_of_plans_loses_anybody(story: Story) -> None:
    outcome = run(story, RESTLESS, SETTINGS)
    assert outcome.links.sent[PLAN] > 0
    check_fates(outcome)
    check_sets(story, outcome, slack_us=SLACK_US)


@pytest.mark.parametrize("elected_us", range(1016, 1026, 2))
def test_motes_that_get_another_head_hear_of_a_switch_that_is_being_announced(
    elected_us: int,
) -> None:
    # Mote 0 has the value all the time. The others have changed heads shortly after the second switch was decided on, at 1019 us.
    before = [*range(1, elected_us - 40, 33), elected_us]
    after = [elected_us + 30 + 20 * place for place in range(len(before) - 1)]
    readings = [Reading(0, 0, at_us) for at_us in (*before, *after)]
    readings.append(Reading(3, 0, elected_us + 280))  # when the old plan is followed no longer
    readings.sort(key=lambda reading: reading.at_us)
    for seed in range(12):
        story = Story(139, 5, [[0, 1, 2], [0, 4]], readings, seed)
        check_sets(story, run(story, RESTLESS, SETTINGS), slack_us=SLACK_US)


def test_heads_do_not_announce_a_switch_to_all_members_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times_us: Counter[tuple[int, int]] = Counter()
    unicast = ToyLinks.unicast

    def overheard(
        links: ToyLinks, kind: str, source: int, target: int, size: int, body: object, at_us: int
    ) -> int:
        if kind == PLAN and source != SINK:
            times_us[source, at_us] += 1
        return unicast(links, kind, source, target, size, body, at_us)

    monkeypatch.setattr(ToyLinks, "unicast", overheard)
    readings = [Reading(0, 0, at_us) for at_us in range(1, 2000, 40)]
    run(Story(139, 5, [[0]], readings, 1), RESTLESS, replace(SETTINGS, spread_us=60))
    assert len(times_us) > 4
    assert max(times_us.values()) == 1


@pytest.mark.parametrize("strategy", [*SETS, BY_MOTES])
@given(story=stories(), delay_us=st.integers(1, 40))
def test_packed_reports_are_late_by_no_more_than_the_delay(
    strategy: str, story: Story, delay_us: int
) -> None:
    outcome = run(story, strategy, replace(SETTINGS, delay_us=delay_us))
    check_fates(outcome)
    check_sets(story, outcome, slack_us=SLACKS_US.get(strategy, SLACK_US) + delay_us)


@pytest.mark.parametrize("strategy", ["change", BY_MOTES])
@pytest.mark.parametrize("lossy", [False, True])
@given(story=stories(), loss=st.sampled_from([0.05, 0.2, 0.5]))
def test_nobody_is_wrongly_in_for_long_whatever_is_lost(
    strategy: str, lossy: bool, story: Story, loss: float
) -> None:
    reporting = replace(SETTINGS, lossy=lossy)
    outcome = run(story, strategy, reporting, loss=loss, crashes=True)
    check_fates(outcome)
    # A mote is in if another is, which may be wrongly in itself: judged is who has no reading in the window.
    active = _activity_spans(story, outcome)
    for key, spans in sink_spans(story, outcome.rows).items():
        for stretch in errors(spans, active.get(key, [])):
            assert len(stretch) <= 2.5 * REFRESH_US, (key, stretch)


@pytest.mark.parametrize(
    ("stays_us", "least", "most"),
    [
        pytest.param([range(1, 600, 50)], 2, 2, id="a short one"),
        pytest.param([range(1, 500, 50), range(900, 1500, 50)], 4, 4, id="two short ones"),
        pytest.param([range(1, 3000, 50)], 3, 4, id="a long one"),
    ],
)
def test_motes_that_report_themselves_confirm_long_stays_alone(
    stays_us: list[range], least: int, most: int
) -> None:
    """Of a stay that is shorter than the sink waits for a sign, nothing but its beginning and end is reported."""
    times_us = [at_us for stay in stays_us for at_us in stay]
    readings = [Reading(mote, 0, at_us + mote) for at_us in times_us for mote in (0, 1)]
    outcome = run(Story(200, 2, [[0]], readings, seed=1), BY_MOTES, SETTINGS)
    assert outcome.links.sent[READING] == 0, "no mote leases to another"
    assert 2 * least <= outcome.links.sent[REPORT] <= 2 * most


def test_motes_that_report_themselves_are_named_by_the_header_alone() -> None:
    """Short stays: the first is held, the later ones enter as briefly as a reading that a mote sends itself."""
    readings = [Reading(mote, 0, 1 + 1500 * step + mote) for step in range(8) for mote in (0, 1)]
    story = Story(200, 2, [[0]], readings, seed=1)
    held, entered = VALUE_BYTES + RECORD_KIND_BYTES + SEQUENCE_BYTES, VALUE_BYTES + TIME_BYTES
    sizes = run(story, BY_MOTES, SETTINGS).links.body_bytes[REPORT]
    assert sizes == {held, held + TIME_BYTES, entered}
    assert run(story, "lease", SETTINGS).links.body_bytes[READING] >= {entered}


def _activity_spans(story: Story, outcome: Outcome) -> dict[tuple[int, int], list[range]]:
    spans: dict[tuple[int, int], list[range]] = {}
    for node, value, at_us in outcome.taken:
        spans.setdefault((value, node), []).append(range(at_us, at_us + story.window_us + 1))
    return spans


@pytest.mark.parametrize("strategy", ["change", BY_MOTES])
def test_a_report_that_is_lost_is_asked_for(strategy: str) -> None:
    """A long stay is held; the reports of other stays go on, and a lost one makes the sink ask."""
    readings = [Reading(mote, 0, 1 + 30 * step + mote) for step in range(80) for mote in (0, 1, 2)]
    readings += [Reading(3, 1 - step % 2, 20 + 170 * step) for step in range(12)]
    readings.sort(key=lambda reading: reading.at_us)
    story = Story(200, 4, [[0]], readings, seed=5)
    outcome = run(story, strategy, SETTINGS, loss=0.3)
    assert outcome.links.sent[REPORT] > 3
    assert outcome.links.sent[RESYNC] > 0
