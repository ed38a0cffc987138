"""Leases of one mote, step by step."""

from join.reading import Reading
from join.strategies.mote_leases import Leases, Renewal
from join.strategies.mote_leases_driver import renewal


def reading(at_us: int, value: int = 7) -> Reading:
    return Reading(3, value, at_us)


def test_a_stay_of_many_readings_takes_one_message_per_window() -> None:
    leases = Leases(window_us=100, renewal=Renewal(90, 90))
    sent = []
    for at_us in range(0, 1000, 10):
        due_us = leases.due_us(3, 7)
        if due_us is not None and due_us <= at_us:
            renewed = leases.renew(3, 7)
            assert renewed is not None
            sent.append(renewed.at_us)
        at_once, _ = leases.take(reading(at_us))
        if at_once:
            sent.append(at_us)
    # Renewed just before a reading is taken, with the one before that.
    assert sent == list(range(0, 1000, 80))


def test_what_is_superseded_is_returned_once() -> None:
    leases = Leases(window_us=100, renewal=Renewal(90, 90))
    assert leases.take(reading(0)) == (True, None)
    assert leases.take(reading(10)) == (False, None)
    assert leases.take(reading(20)) == (False, reading(10))
    assert leases.renew(3, 7) == reading(20)
    assert leases.take(reading(95)) == (False, None)
    assert list(leases.unsent()) == [reading(95)]


def test_a_lease_without_a_newer_reading_lapses_and_the_next_reading_is_sent_at_once() -> None:
    leases = Leases(window_us=100, renewal=Renewal(90, 90))
    leases.take(reading(0))
    assert leases.renew(3, 7) is None
    assert leases.due_us(3, 7) is None
    assert leases.take(reading(95)) == (True, None)


def test_values_have_leases_of_their_own() -> None:
    leases = Leases(window_us=100, renewal=Renewal(90, 90))
    assert leases.take(reading(0, value=1)) == (True, None)
    assert leases.take(reading(5, value=2)) == (True, None)
    assert leases.take(reading(9, value=1)) == (False, None)


def test_standing_leases_are_the_newest_readings_in_the_window() -> None:
    leases = Leases(window_us=100, renewal=Renewal(90, 90))
    leases.take(reading(0, value=1))
    leases.take(reading(60, value=2))
    leases.take(reading(80, value=2))
    assert leases.standing(3, 101) == [(reading(80, value=2), False)]
    # It counts as sent from then on.
    assert leases.standing(3, 102) == [(reading(80, value=2), True)]
    assert leases.due_us(3, 2) == 170


def test_a_mote_that_goes_down_forgets_what_it_had_yet_to_send() -> None:
    leases = Leases(window_us=100, renewal=Renewal(90, 90))
    leases.take(reading(0))
    leases.take(reading(10))
    assert leases.forget(3) == [reading(10)]
    assert leases.forget(3) == []
    assert leases.take(reading(20)) == (True, None)


def test_where_losses_go_unnoticed_leases_are_renewed_sooner() -> None:
    assert renewal(600, 60, lossy=False) == Renewal(540, 540)
    assert renewal(600, 60, lossy=True) == Renewal(90, 270)
