import pytest

from join.state.watermark import FUTURE_US_MAX, Watermark


def test_a_tuple_exactly_as_late_as_allowed_is_admitted_and_a_later_one_counted() -> None:
    watermark = Watermark(late_us=5)
    assert watermark.admit(100)
    assert watermark.admit(95)
    assert not watermark.admit(94)
    assert (watermark.late, watermark.refused, watermark.at_us) == (1, 0, 100)


@pytest.mark.parametrize("future_us", [0, 7, FUTURE_US_MAX])
def test_a_tuple_too_far_ahead_is_rejected_and_does_not_advance_time(future_us: int) -> None:
    watermark = Watermark(late_us=0, future_us=future_us)
    assert watermark.admit(1)
    assert not watermark.admit(2 + future_us)
    assert (watermark.late, watermark.refused, watermark.at_us) == (0, 1, 1)
    assert watermark.admit(1 + future_us)
    assert watermark.at_us == 1 + future_us


def test_advancing_time_makes_tuples_late_and_time_never_goes_back() -> None:
    watermark = Watermark(late_us=0)
    watermark.advance(50)
    watermark.advance(40)
    assert not watermark.admit(49)
    assert watermark.admit(50)
