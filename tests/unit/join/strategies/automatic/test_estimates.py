"""What plans would have sent, by hand: three motes in a row, one hop apart, the sink one hop behind the last."""

from collections import Counter

import pytest

from join.strategies.automatic.estimates import Estimates, Rhythm
from join.strategies.automatic.plans import Plan
from join.strategies.automatic.terrain import Part
from tests.unit.join.strategies.automatic.row_terrain import Row, message

WINDOW_US = 100


@pytest.fixture
def estimates() -> Estimates:
    return Estimates(Row(), Rhythm(WINDOW_US), window_us=WINDOW_US, refresh_us=1000)  # type: ignore[arg-type]


def test_a_lone_lease(estimates: Estimates) -> None:
    estimates.lease(0, 2, 7, 50)
    reading, record = message(Part.READING), message(Part.PLAIN)
    found = estimates.bytes(60)
    assert found[Plan.LEASES] == 3 * reading
    assert found[Plan.HEADS] == reading + 1 * record  # its head is one hop from the sink
    assert found[Plan.HOMES] == 1 * reading  # nobody else has the value


def test_two_stays_that_join_are_reported_in_one_message(estimates: Estimates) -> None:
    estimates.lease(0, 2, 7, 50)
    estimates.lease(2, 2, 7, 60)
    found = estimates.bytes(70)
    reading = message(Part.READING)
    assert found[Plan.LEASES] == (3 + 1) * reading
    assert found[Plan.HOMES] == (1 + 1) * reading + 2 * message(Part.PLAIN, Part.PLAIN)


def test_a_long_stay_is_reported_when_it_begins_and_ends(estimates: Estimates) -> None:
    for at_us in (0, 80, 160, 240, 320):
        estimates.lease(0, 2, 7, at_us)
    found = estimates.bytes(321)
    reading = message(Part.READING)
    assert found[Plan.LEASES] == 5 * 3 * reading
    reports = message(Part.NUMBER, Part.HOLD) + message(Part.NUMBER, Part.TIMED)
    assert found[Plan.HEADS] == 5 * reading + reports


def test_stays_of_two_leases_are_not_worth_holding(estimates: Estimates) -> None:
    for at_us in (0, 80, 1000, 1080, 2000):
        estimates.lease(0, 2, 7, at_us)
    reports = 5 * message(Part.PLAIN)
    assert estimates.bytes(2001)[Plan.HEADS] == 5 * message(Part.READING) + reports


def test_counting_anew_keeps_what_is_known_of_stays(estimates: Estimates) -> None:
    for at_us in (0, 80):
        estimates.lease(0, 2, 7, at_us)
    estimates.restart()
    assert set(estimates.bytes(81).values()) == {0.0}
    estimates.lease(0, 2, 7, 160)
    # The stay was reported when it began, before counting did.
    assert estimates.bytes(161)[Plan.HEADS] == message(Part.READING)


def test_a_mote_that_alone_has_a_value_takes_it_to_itself(estimates: Estimates) -> None:
    for at_us in range(0, 800, 80):
        estimates.lease(0, 2, 7, at_us)
    estimates.restart()
    for at_us in range(800, 1600, 80):
        estimates.lease(0, 2, 7, at_us)
    found = estimates.bytes(1601)
    assert found[Plan.PLACES] == 0.0 < found[Plan.LEASES]


def test_leases_that_only_heads_see_follow_the_rhythm() -> None:
    rhythm = Rhythm(WINDOW_US)
    rhythm.observe(60)
    assert rhythm.gap_us == 80
    estimates = Estimates(Row(), rhythm, window_us=WINDOW_US, refresh_us=10_000)  # type: ignore[arg-type]
    estimates.active(0, 2, 7, 0, 10_000)  # held
    found = estimates.bytes(400)
    assert found[Plan.LEASES] == 6 * 3 * message(Part.READING)


def test_how_old_a_renewed_lease_is_shows_how_often_motes_take_readings() -> None:
    rhythm = Rhythm(WINDOW_US)
    assert rhythm.readings == 1.0  # nothing is known yet
    for _ in range(9999):
        rhythm.observe(80)
    assert rhythm.readings == pytest.approx(80 / 20, rel=0.01)


def test_results_cost_their_partners(estimates: Estimates) -> None:
    estimates.reading(0, 7, 50)
    estimates.reading(2, 7, 60)
    found = estimates.bytes(70)
    reading = message(Part.READING)
    assert found[Plan.SINK] == (3 + 1) * reading
    assert found[Plan.HOMES] == (1 + 1) * reading + 2 * message(Part.RESULT, Part.PARTNER)
    assert Counter(found)[Plan.HEADS] == 0
