import pytest

from join.windows import (
    LastTuples,
    Pairs,
    PairWindow,
    PerStream,
    Strategy,
    Uniform,
    WindowError,
    allows,
    filter_bounds,
)


def test_a_missing_pair_gets_the_shortest_path_bound() -> None:
    # W-join Fig. 11: A and D are connected via B and C, or via B alone.
    windows = Pairs(
        (
            PairWindow("A", "B", 10),
            PairWindow("B", "C", 3),
            PairWindow("C", "D", 4),
            PairWindow("B", "D", 5),
        )
    )
    (bounds,) = windows.bounds("ABCD")
    assert bounds[0] == (0, 10, 13, 15)
    assert bounds == tuple(zip(*bounds, strict=True))


def test_a_window_wider_than_the_path_around_it_is_tightened() -> None:
    windows = Pairs((PairWindow("A", "B", 1), PairWindow("B", "C", 1), PairWindow("A", "C", 9)))
    assert windows.bounds("ABC")[0][0][2] == 2


def test_of_two_windows_of_one_pair_the_narrower_applies() -> None:
    windows = Pairs((PairWindow("A", "B", 9), PairWindow("B", "A", 4)))
    assert windows.bounds("AB") == (((0, 4), (4, 0)),)


def test_a_directed_window_bounds_one_side_by_zero() -> None:
    path = (PairWindow("A", "B", 3, directed=True), PairWindow("B", "C", 4, directed=True))
    (bounds,) = Pairs(path).bounds("ABC")
    assert bounds == ((0, 3, 7), (0, 0, 4), (0, 0, 0))
    assert allows(bounds, (10, 13, 17))
    assert not allows(bounds, (10, 9, 12))
    assert not allows(bounds, (10, 14, 14))


def test_both_directions_are_two_alternatives_or_one_if_they_are_equal() -> None:
    directed = PairWindow("A", "B", 3, directed=True)
    assert len(Pairs((directed,), two_way=True).bounds("AB")) == 2
    assert len(Pairs((PairWindow("A", "B", 3),), two_way=True).bounds("AB")) == 1


def test_streams_without_windows_are_rejected() -> None:
    apart = Pairs((PairWindow("A", "B", 1), PairWindow("C", "D", 1)))
    with pytest.raises(WindowError, match="no windows lead from stream A to stream C"):
        apart.bounds("ABCD")
    with pytest.raises(WindowError, match="stream E has no window"):
        apart.bounds("ABE")
    with pytest.raises(WindowError, match="stream B has no window"):
        PerStream({"A": 1}).bounds("AB")


def test_per_stream_windows_bound_how_old_a_member_may_be() -> None:
    (bounds,) = PerStream({"A": 5}, default_us=1).bounds("AB")
    assert allows(bounds, (0, 5))
    assert not allows(bounds, (0, 6))
    assert allows(bounds, (1, 0))
    assert not allows(bounds, (2, 0))


def test_gca_takes_the_largest_window_and_lca_the_largest_of_each_stream() -> None:
    pairs = Pairs((PairWindow("A", "B", 9), PairWindow("B", "C", 2), PairWindow("A", "C", 8)))
    alternatives = pairs.bounds("ABC")
    assert filter_bounds(alternatives, Strategy.PAIRWISE) == alternatives[0]
    assert {us for row in filter_bounds(alternatives, Strategy.GCA) for us in row} == {9}
    assert [row[0] for row in filter_bounds(alternatives, Strategy.LCA)] == [9, 9, 8]


def test_uniform_windows_are_equal_bounds() -> None:
    assert Uniform(4).bounds("AB") == (((4, 4), (4, 4)),)


def test_tuple_windows_may_differ_by_stream() -> None:
    windows = LastTuples(2, {"A": 7})
    assert (windows.count_of("A"), windows.count_of("B")) == (7, 2)


def test_a_single_stream_needs_no_window() -> None:
    assert Pairs(()).bounds("A") == (((0,),),)
