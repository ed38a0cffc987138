from sim.arithmetic import plain_sum


def test_terms_are_added_from_left_to_right_without_compensation() -> None:
    terms = [1e16, 1.0, -1e16]
    assert plain_sum(terms) == 0.0
    assert plain_sum(iter(terms)) == (1e16 + 1.0) - 1e16
    assert plain_sum([]) == 0.0
