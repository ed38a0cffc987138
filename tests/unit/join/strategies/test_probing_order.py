from itertools import pairwise
from math import dist

from hypothesis import given
from hypothesis import strategies as st

from join.strategies.snjoin_star.probing_order import Tours
from sim.trace.tables import SINK

coordinates = st.tuples(st.integers(0, 50), st.integers(0, 50))


def on_a_line(*metres: int) -> Tours:
    """Motes at these positions, the sink at the end of the line."""
    return Tours([(float(at), 0.0) for at in (*metres, 100)])


def test_a_tour_continues_with_the_nearest_head() -> None:
    assert on_a_line(0, 30, 10, 20).order(0, (1, 2, 3)) == (2, 3, 1)


def test_a_tour_ends_near_the_sink_if_that_is_shorter() -> None:
    tours = on_a_line(50, 60, 20, 10)
    assert tours.order(0, (1, 2, 3)) in {(2, 3, 1), (3, 2, 1)}
    assert tours.length_m(0, tours.order(0, (1, 2, 3))) < tours.length_m(0, (1, 2, 3))


def test_of_two_heads_equally_near_the_lower_number_comes_first() -> None:
    assert on_a_line(0, 10, 10).order(0, (2, 1)) == (1, 2)


def test_the_sink_can_start_a_tour() -> None:
    assert on_a_line(90, 80, 70).order(SINK, (0, 1, 2)) in {(0, 1, 2), (2, 1, 0)}


@given(st.lists(coordinates, min_size=2, max_size=9), st.data())
def test_a_tour_visits_every_head_once_and_is_no_longer_than_going_to_the_nearest(
    places: list[tuple[int, int]], data: st.DataObject
) -> None:
    positions_m = [(float(x), float(y)) for x, y in places]
    heads = tuple(data.draw(st.permutations(range(len(places) - 1))))
    tour = Tours(positions_m).order(0, heads)
    assert sorted(tour) == sorted(heads)
    left, stops = sorted(heads), [positions_m[0]]
    while left:
        left.sort(key=lambda head: (dist(stops[-1], positions_m[head]), head))
        stops.append(positions_m[left.pop(0)])
    stops.append(positions_m[SINK])
    nearest_first_m = sum(dist(here, there) for here, there in pairwise(stops))
    assert Tours(positions_m).length_m(0, tour) <= nearest_first_m + 1e-9
