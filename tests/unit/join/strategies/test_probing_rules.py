import gc
import random
from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from join.strategies.snjoin_star.request import ProbeRequest
from join.strategies.snjoin_star.rules.contract import Note
from join.strategies.snjoin_star.rules.directory import Directory, DirectoryProbing
from join.strategies.snjoin_star.rules.match_rate import MatchRates
from join.strategies.snjoin_star.rules.notes import DirectoryNotes, NoteEveryRequest
from join.strategies.snjoin_star.rules.recall_target import RecallTarget
from join.strategies.snjoin_star.rules.relevance import Weights
from join.strategies.snjoin_star.rules.without_learning import BySelectivity, OracleProbing

HEADS = [10, 11, 12]


def request_from(initiator: int, *, value: int = 3, at_us: int = 0, local: int = 0) -> ProbeRequest:
    request = ProbeRequest(
        value=value,
        origin=initiator + 100,
        at_us=at_us,
        stamp=(at_us, initiator, 0),
        initiator=initiator,
    )
    request.add((), local, 0)
    return request


def sizes_note(**sizes: int) -> Note:
    heads = tuple(int(name.lstrip("h")) for name in sizes)
    found = tuple(sizes.values())
    return Note(3, heads, tuple(float(size > 0) for size in found), found)


def match_rates(exploration: float = 0.0) -> MatchRates:
    return MatchRates(buckets=8, exploration=exploration, rng=random.Random(1))


def test_match_rates_probe_unknown_heads_and_stop_probing_heads_that_never_match() -> None:
    rule = match_rates()
    assert set(rule.choose(request_from(1), HEADS, 0)) == {10, 11, 12}
    for _ in range(20):
        rule.learn(sizes_note(h10=2, h11=0), 0)
    assert rule.choose(request_from(1), HEADS, 0) == (10, 12)
    for _ in range(3):
        rule.learn(sizes_note(h11=1), 0)
    assert 11 in rule.choose(request_from(1), HEADS, 0)


def test_match_rates_explore_at_the_configured_rate() -> None:
    rule = match_rates(exploration=0.1)
    for _ in range(30):
        rule.learn(sizes_note(h10=0, h11=0, h12=0), 0)
    asked = sum(len(rule.choose(request_from(1), HEADS, 0)) for _ in range(2000))
    assert asked / 6000 == pytest.approx(0.1, abs=0.02)


def test_selectivity_puts_the_most_selective_head_first() -> None:
    rule = BySelectivity()
    for head, size in ((10, 0), (10, 1), (11, 0), (11, 0), (12, 4), (12, 4)):
        rule.observe(head, size)
    assert rule.choose(request_from(1), HEADS, 0) == (12, 10, 11)


def test_an_oracle_probes_matching_heads_with_the_largest_last() -> None:
    held = {10: 5, 11: 0, 12: 2}
    rule = OracleProbing(lambda head, _: held[head])
    assert rule.choose(request_from(1), HEADS, 0) == (12, 10)


def test_the_papers_notes_name_the_heads_that_contributed() -> None:
    request = request_from(1)
    request.sequence = (10, 11)
    for count in (2, 0):
        request.add((), count, 0)
        request.position += 1
    note = NoteEveryRequest(Weights.SIZE).note(request, 0)
    assert note == Note(3, (10, 11), (1.0, 0.0), (2, 0))
    assert NoteEveryRequest(Weights.SIZE).note(request_from(1), 0) is None


@given(
    st.integers(0, 20),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1), st.integers(0, 4), st.integers(0, 2))),
    st.randoms(use_true_random=False),
)
def test_the_directory_lists_the_holders_of_each_value_for_a_reading_made_at_any_time(
    window_us: int, readings: list[tuple[int, int, int, int]], rng: random.Random
) -> None:
    made, now_us = [], 0
    for place, (gap_us, value, sensor, head) in enumerate(readings):
        now_us += gap_us
        made.append((value, sensor, head, now_us, (now_us, head, place)))
    directory = Directory(window_us=window_us)
    for reading in rng.sample(made, len(made)):  # requests reach the sink in any order
        directory.take(*reading)
    for asked, at_us in product((0, 1), range(now_us + 1)):
        before = (at_us, 1, 0)
        holders = directory.holders(asked, at_us, before)
        for sensor in range(5):
            earlier = [m for m in made if m[:2] == (asked, sensor) and m[4] < before]
            if earlier:  # where its newest reading is that a request of this stamp can find
                *_, head, newest_us, _ = max(earlier, key=lambda reading: reading[4])
                assert head in holders or newest_us < at_us - window_us
        held = Counter(m[2] for m in made if m[0] == asked and m[3] >= at_us - window_us)
        assert holders.keys() <= held.keys()
        if not any(m[4] >= before for m in made):
            by_stamp = sorted(made, key=lambda reading: reading[4])
            newest = {m[1]: m for m in by_stamp if m[0] == asked}.values()
            assert holders == Counter(m[2] for m in newest if m[3] >= at_us - window_us)


def reachable(root: object) -> list[object]:
    found, seen = [root], {id(root)}
    for each in found:
        inner = [i for i in gc.get_referents(each) if not isinstance(i, type) and id(i) not in seen]
        seen.update(map(id, inner))
        found += inner
    return found


def test_the_directory_forgets_values_that_nobody_asks_for_again() -> None:
    directory = Directory(window_us=1_000_000)
    sizes = []
    for value in range(2000):
        at_us = value * 1_000_000
        directory.take(value, 5, 10, at_us, (at_us, 10, value))
        assert directory.holders(value, at_us) == {10: 1}
        sizes.append(len(reachable(directory)))
    assert max(sizes[1000:]) <= max(sizes[:200])
    assert directory.holders(1950, 1_950_000_000) == {10: 1}


def test_the_sink_forgets_its_notes_to_those_that_ask_no_more_and_to_values_beyond_their_room() -> (
    None
):
    notes = DirectoryNotes(window_us=1_000_000, tolerance=0.5, buckets=1)
    sizes = []
    for second in range(3000):
        at_us = second * 1_000_000
        for initiator in (second, second + 1):
            request = request_from(initiator, value=second % 50, at_us=at_us)
            notes.missed(request, at_us)
            notes.note(request, at_us)
        again = request_from(-7, value=second % 200, at_us=at_us)
        notes.missed(again, at_us)
        notes.note(again, at_us)
        sizes.append(len(reachable(notes)))
    assert max(sizes[2000:]) <= 1.02 * max(sizes[:1000])


def test_a_request_that_comes_late_is_sent_to_holders_at_the_edge_of_its_window() -> None:
    notes = DirectoryNotes(window_us=100, tolerance=0.5)
    notes.missed(request_from(11, at_us=1), 2)
    assert notes.missed(request_from(10, at_us=101), 150) == (11,), (
        "100 us apart, when they were made"
    )
    assert notes.missed(request_from(12, at_us=102), 150) == (10,)


def test_a_request_is_not_sent_to_the_heads_that_its_own_sensor_had_before() -> None:
    notes = DirectoryNotes(window_us=100, tolerance=0.5)
    for initiator, at_us in ((11, 1), (12, 5)):
        request = request_from(initiator, at_us=at_us)
        request.origin = 200
        assert notes.missed(request, at_us) == ()


class TestDirectoryNotes:
    def setup_method(self) -> None:
        self.notes = DirectoryNotes(window_us=100, tolerance=0.5)
        self.rule = DirectoryProbing(buckets=8, values_most=4, target=None)

    def send(self, initiator: int, at_us: int) -> tuple[ProbeRequest, tuple[int, ...]]:
        """Send a request of an initiator that follows the rule; returns it and the heads that the sink adds."""
        request = request_from(initiator, at_us=at_us)
        request.sequence = self.rule.choose(request, HEADS, at_us) if initiator == 10 else ()
        request.position = len(request.sequence)
        return request, self.notes.missed(request, at_us)

    def test_an_unknown_initiator_is_sent_past_all_holders_and_receives_their_list(self) -> None:
        self.send(11, 1)
        self.send(12, 2)
        request, missed = self.send(10, 3)
        assert missed == (11, 12)
        note = self.notes.note(request, 3)
        assert note is not None
        assert note.holders == ((11, 1), (12, 1))
        self.rule.learn(note, 4)
        request, missed = self.send(10, 5)
        assert request.sequence == (11, 12)
        assert missed == ()
        assert self.notes.note(request, 5) is None, "nothing has changed"

    def test_holders_that_leave_the_window_are_reported(self) -> None:
        self.send(11, 1)
        request, _ = self.send(10, 3)
        note = self.notes.note(request, 3)
        assert note is not None
        self.rule.learn(note, 4)
        request, _ = self.send(10, 102)
        note = self.notes.note(request, 102)
        assert note is not None
        assert note.holders == ()

    def test_a_lost_note_is_detected_and_sent_again(self) -> None:
        self.send(11, 1)
        request, _ = self.send(10, 3)
        assert self.notes.note(request, 3) is not None  # lost on its way
        request, missed = self.send(10, 5)
        assert missed == (11,)
        assert self.notes.note(request, 5) is not None

    def test_a_completed_request_is_not_sent_on_again(self) -> None:
        self.send(11, 1)
        request, _ = self.send(10, 3)
        request.completed = True
        assert self.notes.missed(request, 4) == ()

    def test_with_a_target_the_sink_sends_past_no_more_holders_than_needed(self) -> None:
        self.notes = DirectoryNotes(
            window_us=100, tolerance=0.5, buckets=8, target=RecallTarget(0.6)
        )
        for sensor in range(3):  # three sensors at head 11, and head 12 itself
            request = request_from(11, at_us=1)
            request.origin = 200 + sensor
            self.notes.missed(request, 1)
        self.send(12, 2)
        _, missed = self.send(10, 3)
        assert missed == (11,), "three of four partners are enough"

    def test_a_head_drops_the_least_recently_used_values(self) -> None:
        for value in range(6):
            self.rule.learn(Note(value, (), (), (), holders=((11, 1),), version=1), 0)
        kept = [bool(self.rule.choose(request_from(10, value=v), HEADS, 0)) for v in range(6)]
        assert kept == [False, False, True, True, True, True]


@given(
    st.floats(0.05, 1.0),
    st.lists(
        st.tuples(st.integers(0, 3), st.dictionaries(st.integers(0, 9), st.integers(1, 20))),
        min_size=1,
        max_size=40,
    ),
)
def test_a_target_recall_is_met_at_every_reading_if_estimates_are_right(
    share: float, readings: list[tuple[int, dict[int, int]]]
) -> None:
    target = RecallTarget(share)
    owed = delivered = 0.0
    for local, expected in readings:
        chosen = target.choose(0, local, {head: float(n) for head, n in expected.items()})
        assert len(set(chosen)) == len(chosen)
        owed = 0.998 * owed + local + sum(expected.values())
        delivered = 0.998 * delivered + local + sum(expected[head] for head in chosen)
        assert delivered >= share * owed - 1e-9
        if chosen:  # no more than needed: without the last head the target would be missed
            assert delivered - expected[chosen[-1]] < share * owed + 1e-9
            assert expected[chosen[-1]] == min(expected[head] for head in chosen)
