"""What `placed` would have sent, by hand."""

from join.strategies.automatic.placing import Placing
from join.strategies.automatic.terrain import Part
from sim.trace.tables import SINK
from tests.unit.join.strategies.automatic.row_terrain import Row

WINDOW_US = 100
SENT = (Part.READING, Part.COUNT)

Sent = tuple[int, int, tuple[Part, ...]]


class Log:
    """The messages counted so far."""

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self.placing = Placing(Row(), self._send, window_us=WINDOW_US)

    def _send(self, source: int, target: int, *parts: Part) -> None:
        if source != target:
            self.sent.append((source, target, parts))

    def take(self, mote: int, at_us: int, partners: int = 0) -> list[Sent]:
        """The messages that a reading causes."""
        self.sent.clear()
        self.placing.take(mote, 7, at_us, partners)
        return list(self.sent)

    def settle(self, mote: int) -> int:
        """Let a mote alone have the value until its readings cost nothing; returns how many did."""
        for number in range(20):
            if not self.take(mote, 10 * number):
                return number
        raise AssertionError("the value stays where it is")


def test_readings_meet_at_the_sink_first() -> None:
    assert Log().take(0, 5) == [(0, SINK, SENT)]


def test_a_result_that_is_found_at_the_sink_costs_nothing() -> None:
    assert Log().take(0, 5, partners=3) == [(0, SINK, SENT)]


def test_a_value_moves_to_the_only_mote_that_has_it() -> None:
    log = Log()
    assert log.settle(0) <= 4
    assert log.take(0, 1000) == []


def test_a_move_takes_along_what_is_in_the_window() -> None:
    log = Log()
    log.take(0, 0)
    times_us = range(2 * WINDOW_US, 2 * WINDOW_US + 10)
    moves = [
        (readings, parts)
        for readings, at_us in enumerate(times_us, 1)
        for source, _, parts in log.take(0, at_us)
        if source == SINK
    ]
    (readings, parts), *_ = moves
    # The very first reading has left the window.
    assert parts == (Part.STATE, *[Part.PLAIN] * readings)


def test_a_mote_that_does_not_know_the_place_sends_by_the_sink_once() -> None:
    log = Log()
    log.settle(0)
    for at_us in range(300, 320):
        log.take(0, at_us)
    assert log.take(2, 500)[:3] == [
        (2, SINK, SENT),
        (SINK, 0, (*SENT, Part.NODE)),
        (SINK, 2, (Part.NOTE,)),
    ]
    assert log.take(2, 501) == [(2, 0, SENT)]


def test_results_go_from_the_place_to_the_sink() -> None:
    log = Log()
    log.settle(0)
    assert log.take(0, 500, partners=2)[0] == (0, SINK, (Part.RESULT, Part.PARTNER, Part.PARTNER))
