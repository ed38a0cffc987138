"""What plans would have sent, by hand: three motes in a row, one hop apart, the sink one hop behind the last."""

from collections import Counter

import pytest

from join.strategies.automatic.estimates import Estimates, Rhythm
from join.strategies.automatic.plans import Plan
from join.strategies.automatic.terrain import BYTES, NEIGHBOUR, Counts, Part
from sim.trace.tables import SINK

WINDOW_US = 100
FRAME_BYTES = 10
HOME = 1
DEPTHS = {0: 3, 1: 2, 2: 1}


class Row:
    """A terrain whose hops are known."""

    frame_bytes = FRAME_BYTES

    def home_of(self, value: int) -> int:
        del value
        return HOME

    def hops(self, source: int, target: int) -> float:
        if target == NEIGHBOUR:
            return 1.0
        return DEPTHS[source] if target == SINK else abs(source - target)

    def bytes(self, counts: Counts) -> float:
        return sum(
            number * BYTES.get(part, FRAME_BYTES) * self.hops(source, target)
            for (source, target, part), number in counts.items()
        )


@pytest.fixture
def estimates() -> Estimates:
    return Estimates(Row(), Rhythm(WINDOW_US), window_us=WINDOW_US, refresh_us=1000)  # type: ignore[arg-type]


def message(*parts: Part) -> int:
    return FRAME_BYTES + sum(BYTES[part] for part in parts)


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


def test_a_long_stay_is_reported_twice(estimates: Estimates) -> None:
    for at_us in (0, 80, 160, 240, 320):
        estimates.lease(0, 2, 7, at_us)
    found = estimates.bytes(321)
    reading = message(Part.READING)
    assert found[Plan.LEASES] == 5 * 3 * reading
    reports = message(Part.PLAIN) + message(Part.NUMBER, Part.TIMED)
    assert found[Plan.HEADS] == 5 * reading + reports


def test_leases_that_only_heads_see_follow_the_rhythm() -> None:
    rhythm = Rhythm(WINDOW_US)
    rhythm.observe(60)
    assert rhythm.gap_us == 80
    estimates = Estimates(Row(), rhythm, window_us=WINDOW_US, refresh_us=10_000)  # type: ignore[arg-type]
    estimates.active(0, 2, 7, 0, 10_000)  # held
    found = estimates.bytes(400)
    assert found[Plan.LEASES] == 6 * 3 * message(Part.READING)


def test_results_cost_their_partners(estimates: Estimates) -> None:
    estimates.reading(0, 7, 50)
    estimates.reading(2, 7, 60)
    found = estimates.bytes(70)
    reading = message(Part.READING)
    assert found[Plan.SINK] == (3 + 1) * reading
    assert found[Plan.HOMES] == (1 + 1) * reading + 2 * message(Part.RESULT, Part.PARTNER)
    assert Counter(found)[Plan.HEADS] == 0
