"""The cost model of `placed`, by hand."""

from join.strategies.placed.costs import (
    MEMORY,
    NOTE_BYTES,
    SENT_READING_BYTES,
    HopModel,
    PlaceCosts,
    state_bytes,
)
from join.strategies.placed.places import AT_FIRST, Place, Places
from sim.trace.tables import SINK

NODES_M = [(0.0, 0.0), (100.0, 0.0), (400.0, 0.0), (1000.0, 0.0)]
"""Three motes and the sink."""
FRAME = 15


def model(*, several_hops: bool = True) -> HopModel:
    made = HopModel(NODES_M, depth=lambda mote: (10, 9, 6)[mote])
    hops = 4 if several_hops else 1
    body = SENT_READING_BYTES
    made.observe(0, 2, hops=hops, on_air=hops * (body + FRAME), body=body)
    return made


def test_hops_follow_from_the_distance_that_a_hop_was_seen_to_cover() -> None:
    assert model().hops(0, 1) == 1
    assert model().hops(1, 2) == 3
    assert model().hops(2, 2) == 0
    assert model().hops(2, SINK) == model().hops(SINK, 2) == 6
    assert model(several_hops=False).hops(0, 2) == 1
    assert model().frame_bytes == FRAME


def test_the_cost_of_a_place_is_what_comes_and_what_goes_on() -> None:
    costs = PlaceCosts(SINK, model())
    for source, result_bytes in ((0, 0), (0, 50), (2, 0)):
        costs.observe(source, result_bytes)
    reading, note = SENT_READING_BYTES + FRAME, NOTE_BYTES + FRAME
    assert costs.cost(SINK) == reading * (10 + 10 + 6)
    # One of three readings is from a mote seen once: such a one goes by the sink, and costs a note.
    for place, direct, from_sink in ((0, 4, 10), (2, 4 + 4, 6)):
        detour = reading * (26 + 3 * from_sink - direct) + note * 26
        known = reading * direct + (50 + FRAME) * from_sink
        assert abs(costs.cost(place) - known - detour / 3) < 1e-6


def test_moving_costs_the_state_and_a_note_to_each_mote_and_the_sink() -> None:
    costs = PlaceCosts(2, model())
    costs.observe(0, 0)
    costs.observe(1, 0)
    assert costs.sources() == [0, 1]
    assert costs.moving(0, 3) == (NOTE_BYTES + FRAME) * (4 + 3 + 6) + (state_bytes(3) + FRAME) * 4


def test_a_value_moves_when_staying_has_cost_as_much_as_moving() -> None:
    costs = PlaceCosts(SINK, model())
    moved_after = None
    for count in range(1, 20):
        costs.observe(0, 0)
        if moved_after is None and costs.better_place(1) is not None:
            moved_after = count
            assert costs.better_place(1) == 0
            assert costs.cost(SINK) - costs.cost(0) >= costs.moving(0, 1)
    reading = (SENT_READING_BYTES + FRAME) * 10
    assert moved_after == -(-costs.moving(0, 1) // reading)


def test_old_readings_count_less() -> None:
    costs = PlaceCosts(SINK, model())
    for _ in range(MEMORY):
        costs.observe(0, 0)
    before = costs.cost(SINK)
    costs.observe(0, 0)
    assert costs.cost(SINK) < 0.6 * before


def test_a_later_place_replaces_an_earlier_one_only() -> None:
    places = Places()
    assert places.of(7) == AT_FIRST
    places.learn(7, Place(2, 5))
    places.learn(7, Place(1, 4))
    assert places.of(7) == Place(2, 5)
    assert places.of(8) == AT_FIRST
    places.forget(7)
    assert places.of(7) == AT_FIRST
