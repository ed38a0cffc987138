"""The answer at the sink, against one recomputed at every tick from all that was told."""

from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from join.contract import Member
from join.reading import Reading
from join.sink.site import SinkSettings, SinkSite, merge_latest
from network.clocks import true_time
from tests.support.toy_network import ToyClock

VALUE = 7
END = 60


@dataclass(frozen=True)
class Told:
    """A result: when it came, and its sensors with the times of their readings."""

    at: int
    times: dict[int, int]


@st.composite
def stories(draw: st.DrawFn) -> tuple[int, list[Told]]:
    window = draw(st.integers(0, 12))
    results = []
    for at in sorted(draw(st.lists(st.integers(0, END - 20), max_size=8))):
        nodes = draw(st.lists(st.integers(0, 5), min_size=2, max_size=4, unique=True))
        # Clocks may be behind, and results may come when their readings have aged.
        times = {node: at - draw(st.integers(0, window + 6)) for node in nodes}
        results.append(Told(at, times))
    return window, results


@given(stories())
@settings(max_examples=1000)
def test_a_sensor_is_in_the_answer_while_its_newest_reading_is_in_the_window(
    story: tuple[int, list[Told]],
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

    def take(told: Told) -> None:
        (origin, origin_at), *others = told.times.items()
        partners = tuple(Member(node, at) for node, at in others)
        sink.take_result(Reading(origin, VALUE, origin_at), [partners], told.at)

    seen: dict[int, set[int]] = {}

    def look(tick: int) -> None:
        seen[tick] = sink.answer.sensors()

    for told in results:
        clock.call_at(told.at, take, told)
    for tick in range(END):
        # After all that happens at this tick, and all that this in turn makes happen at once.
        clock.call_at(tick, lambda t: clock.call_at(t, look, t), tick)
    clock.run()

    newest: dict[int, int] = {}
    for tick in range(END):
        # What is told at a tick comes before anybody leaves at that tick.
        for told in results:
            if told.at == tick:
                for node, at in told.times.items():
                    newest[node] = max(at, newest.get(node, at))
        aged = {node: at for node, at in newest.items() if at >= tick - window}
        newest = aged if len(aged) >= 2 else {}
        assert seen[tick] == set(newest), tick
    assert not sink.answer.sensors()
