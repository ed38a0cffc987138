"""MIN and MAX store the values in the window, not all past values."""

import random

import pytest

from join.dsms.operators.aggregates import Extreme


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("step", [1, -1])
def test_removed_values_do_not_accumulate(step: int, *, largest: bool) -> None:
    extreme = Extreme(largest=largest)
    for number in range(10_000):
        extreme.add(step * number)
        if number >= 10:
            extreme.remove(step * (number - 10))
            inside = [step * each for each in range(number - 9, number + 1)]
            assert extreme.result() == (max if largest else min)(inside)
        assert extreme.entries <= 2 * 11 + 16


@pytest.mark.parametrize("largest", [True, False])
def test_extremes_of_values_added_and_removed_at_random(*, largest: bool) -> None:
    draw = random.Random(1)
    extreme = Extreme(largest=largest)
    inside: list[float] = []
    for _ in range(20_000):
        if inside and draw.random() < 0.5:
            extreme.remove(inside.pop(draw.randrange(len(inside))))
        else:
            inside.append(draw.randrange(40) * 0.5)
            extreme.add(inside[-1])
        expected = (max if largest else min)(inside, default=None)
        assert extreme.result() == expected
        assert extreme.entries <= 2 * max(len(set(inside)), 40) + 16
