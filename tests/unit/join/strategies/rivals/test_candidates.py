"""What heads of `two-phase` send, and what the sink calls for."""

from join.reading import Reading
from join.strategies.two_phase.calls import Call, Calls
from join.strategies.two_phase.head import CandidateHead


def head() -> CandidateHead:
    return CandidateHead(window_us=100, margin_us=10, keep_us=120)


def test_a_head_sends_the_first_reading_and_keeps_the_next() -> None:
    keeper = head()
    first, second = Reading(1, 7, 0), Reading(1, 7, 40)
    assert keeper.take(first, 1) == [first]
    assert keeper.take(second, 41) == []
    assert list(keeper.kept()) == [second]


def test_the_newest_reading_is_sent_before_the_last_one_leaves_the_window() -> None:
    keeper = head()
    keeper.take(Reading(1, 7, 0), 1)
    keeper.take(Reading(1, 7, 40), 41)
    newest = Reading(1, 7, 60)
    keeper.take(newest, 61)
    assert keeper.due_us(7) == 90
    assert keeper.due(7) == [newest]
    assert keeper.due_us(7) == 150
    assert keeper.due(7) == [], "the reading at 40 is older than what was sent"


def test_members_that_join_each_other_need_no_call() -> None:
    keeper = head()
    keeper.take(Reading(1, 7, 0), 1)
    kept, other = Reading(1, 7, 40), Reading(2, 7, 140)
    assert keeper.take(kept, 41) == []
    assert keeper.take(other, 141) == [kept, other], "both ends of the window belong to it"
    alone = head()
    alone.take(Reading(1, 7, 0), 1)
    assert alone.take(Reading(1, 7, 40), 41) == []
    assert alone.take(Reading(2, 7, 141), 141) == [Reading(2, 7, 141)]


def test_a_call_brings_what_is_kept_and_what_comes_until_it_lapses_and_one_more() -> None:
    keeper = head()
    readings = [Reading(1, 7, at_us) for at_us in (0, 20, 70, 80, 85, 88)]
    for reading in readings[:3]:
        keeper.take(reading, reading.at_us + 1)
    assert keeper.call(7, until_us=80) == readings[1:3]
    assert keeper.take(readings[3], 81) == [readings[3]]
    assert keeper.take(readings[4], 86) == [readings[4]]
    assert keeper.take(readings[5], 89) == []


def test_readings_too_old_to_be_called_for_are_let_go_once() -> None:
    keeper = head()
    keeper.take(Reading(1, 7, 0), 1)
    kept = Reading(1, 7, 40)
    keeper.take(kept, 41)
    assert list(keeper.expire(160, 7)) == []
    assert list(keeper.expire(161, 7)) == [kept]
    assert list(keeper.expire(161)) == []
    assert list(keeper.kept()) == []


def test_heads_are_called_as_long_as_another_holds_the_value() -> None:
    calls = Calls(window_us=100, margin_us=10, slack_us=20)
    assert calls.hear(7, 1, 0, 5) == []
    assert calls.hear(8, 2, 10, 15) == [], "another value"
    assert calls.hear(7, 2, 50, 55) == [Call(1, 7, 150), Call(2, 7, 100)]
    assert calls.hear(7, 1, 60, 65) == [], "head 2 has been called up to 100"
    assert calls.hear(7, 1, 85, 90) == [Call(2, 7, 185)]


def test_a_head_whose_readings_have_left_the_window_is_not_called() -> None:
    calls = Calls(window_us=100, margin_us=10, slack_us=20)
    calls.hear(7, 1, 0, 5)
    assert calls.hear(7, 2, 120, 120) == [Call(1, 7, 220), Call(2, 7, 100)]
    calls = Calls(window_us=100, margin_us=10, slack_us=20)
    calls.hear(7, 1, 0, 5)
    assert calls.hear(7, 2, 121, 121) == []
