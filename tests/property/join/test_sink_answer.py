"""The answer at the sink, against one recomputed at every tick from all results."""

from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from join.contract import Member
from join.reading import Reading
from join.sink.site import SinkSettings, SinkSite, merge_latest
from network.contract import true_time
from tests.support.toy_network import ToyClock

VALUE = 7
END = 60


@dataclass(frozen=True)
class Delivery:
    """A result: when it arrived, and its sensors with the times of their readings."""

    at: int
    times: dict[int, int]


@st.composite
def stories(draw: st.DrawFn) -> tuple[int, list[Delivery]]:
    window = draw(st.integers(0, 12))
    results = []
    for at in sorted(draw(st.lists(st.integers(0, END - 20), max_size=8))):
        nodes = draw(st.lists(st.integers(0, 5), min_size=2, max_size=4, unique=True))
        # Clocks may be behind, and results may arrive when their readings are old.
        times = {node: at - draw(st.integers(0, window + 6)) for node in nodes}
        results.append(Delivery(at, times))
    return window, results


@given(stories())
@settings(max_examples=1000)
def test_a_sensor_is_in_the_answer_while_its_newest_reading_is_in_the_window(
    story: tuple[int, list[Delivery]],
) -> None:
    window, results = story
    clock, rows = ToyClock(), list[tuple[Any, ...]]()
    sink_settings = SinkSettings(
        query="join",
        window_us=window,
        arity_least=2,
        with_partners=True,
        amends=False,
        merge=merge_latest,
    )
    sink = SinkSite(clock, rows, sink_settings, true_time)

    def take(result: Delivery) -> None:
        (origin, origin_at), *others = result.times.items()
        partners = tuple(Member(node, at) for node, at in others)
        sink.take_result(Reading(origin, VALUE, origin_at), [partners], result.at)

    seen: dict[int, set[int]] = {}

    def look(tick: int) -> None:
        seen[tick] = sink.answer.sensors()

    for result in results:
        clock.call_at(result.at, take, result)
    for tick in range(END):
        # After all events of this tick, and all events that these schedule for the same tick.
        clock.call_at(tick, lambda t: clock.call_at(t, look, t), tick)
    clock.run()

    newest: dict[int, int] = {}
    for tick in range(END):
        # Results of a tick apply before sensors leave at that tick.
        for result in results:
            if result.at == tick:
                for node, at in result.times.items():
                    newest[node] = max(at, newest.get(node, at))
        aged = {node: at for node, at in newest.items() if at >= tick - window}
        newest = aged if len(aged) >= 2 else {}
        assert seen[tick] == set(newest), tick
    assert not sink.answer.sensors()


def test_results_too_narrow_for_a_complete_join_are_not_remembered() -> None:
    clock, rows = ToyClock(), list[tuple[Any, ...]]()
    settings = SinkSettings(
        query="join",
        window_us=10,
        arity_least=3,
        with_partners=True,
        amends=True,
        merge=merge_latest,
    )
    sink = SinkSite(clock, rows, settings, true_time)
    for at in range(50):
        sink.take_result(Reading(0, VALUE, at), [(Member(1, at),)], at)
    clock.run()
    assert rows == []
    assert sink.remembered == 0
    sink.take_result(Reading(0, VALUE, 60), [(Member(1, 60),), (Member(2, 60),)], clock.now_us)
    assert sink.remembered == 1
    clock.run()
    assert sink.remembered == 0
