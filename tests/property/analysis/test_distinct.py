"""Numbers that differ are counted as a set counts them, in whatever pieces they come."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.metrics.arrow import totals
from analysis.metrics.arrow.totals import DistinctNumbers

PIECES = st.lists(st.lists(st.integers(0, 40) | st.integers(0, (1 << 32) - 1)), max_size=12)


@pytest.mark.parametrize("dtype", [np.uint32, np.int64])
@given(pieces=PIECES)
def test_count_is_that_of_a_set(dtype: type[np.integer], pieces: list[list[int]]) -> None:
    with patch.object(totals, "HELD_MIN", 3):
        numbers = DistinctNumbers(dtype)
    for piece in pieces:
        numbers.add(np.array(piece, np.int64))
    assert numbers.count() == len({number for piece in pieces for number in piece})
