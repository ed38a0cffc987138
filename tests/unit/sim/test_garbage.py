import gc

import pytest

from sim.garbage import YOUNG_MOST, rare_collection


def test_collection_is_rare_inside_the_block_and_as_before_after_it() -> None:
    before = gc.get_threshold()
    with rare_collection():
        assert gc.get_threshold() == (YOUNG_MOST, *before[1:])
    assert gc.get_threshold() == before


def test_a_failure_inside_the_block_leaves_collection_as_before() -> None:
    before = gc.get_threshold()
    with pytest.raises(ValueError, match="wrong"), rare_collection():
        raise ValueError("wrong")
    assert gc.get_threshold() == before
