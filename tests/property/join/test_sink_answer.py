"""The answer at the sink, against one recomputed at every tick from all results."""

from dataclasses import dataclass
from itertools import groupby
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from join.reading import Reading
from join.sink.activity import Vouched
from join.sink.sets_site import SetsSettings, SetsSite
from join.sink.site import SinkSettings, SinkSite, merge_latest
from network.contract import true_time
from network.membership import Membership
from sim.trace.tables import TABLES, AnswerLevel
from tests.support.toy_network import ToyClock

VALUE = 7
END = 60
COLUMNS = [column.name for column in TABLES["results"]]


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
        partners = tuple(others)
        sink.take_result(Reading(origin, VALUE, origin_at), [partners], result.at)

    seen: dict[int, set[int]] = {}

    def look(tick: int) -> None:
        seen[tick] = sink.answer.sensors()

    for result in results:
        clock.call_at(result.at, take, result)
    for tick in range(END):
        # After all events of this tick, and all events that these schedule for the same tick.
        clock.call_last(tick, lambda t: clock.call_last(t, look, t), tick)
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


@given(stories())
@settings(max_examples=1000)
def test_no_answer_dissolves_and_appears_again_within_an_instant(
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
        partners = tuple(others)
        sink.take_result(Reading(origin, VALUE, origin_at), [partners], result.at)

    for result in results:
        # Scheduled when the departures of that instant are known already, as messages on their way are.
        sooner = max(result.at - 1, 0)
        clock.call_at(
            sooner,
            lambda it: clock.call_at(it.at, lambda r: clock.call_at(r.at, take, r), it),
            result,
        )
    clock.run()
    for _, same in groupby(rows, key=lambda row: row[COLUMNS.index("at_us")]):
        changes = [str(row[COLUMNS.index("change")]) for row in same]
        assert "-" not in changes[:-1], changes


@dataclass(frozen=True)
class Report:
    """What a message says at the sink: when, of which mote, by which reporter, and until when it is active."""

    at: int
    who: int
    reporter: int
    lasts: int


reports = st.lists(
    st.builds(Report, st.integers(0, 20), st.integers(0, 3), st.integers(0, 1), st.integers(-1, 6)),
    max_size=25,
).map(lambda said: sorted(said, key=lambda report: report.at))


@given(reports, st.sampled_from([AnswerLevel.SETS, AnswerLevel.COUNT]))
@settings(max_examples=1000)
def test_sets_change_once_an_instant_by_the_difference_of_snapshots(
    said: list[Report], level: AnswerLevel
) -> None:
    clock, rows = ToyClock(), list[tuple[Any, ...]]()
    site = SetsSite(clock, rows, SetsSettings("join", 5, level), true_time, Membership(4))

    def take(report: Report) -> None:
        until = report.at + report.lasts
        vouched = [Vouched(report.who, report.reporter, until, report.at)]
        site.take_activity(VALUE, vouched, sent_us=report.at, replace=True)

    for report in said:
        clock.call_at(max(report.at - 1, 0), lambda r: clock.call_at(r.at, take, r), report)
    clock.run()
    site.finish()
    cells = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    shown = {row["at_us"]: row for row in cells}
    assert len(shown) == len(cells), "two changes of one value at one instant"
    before: set[int] = set()
    until: dict[tuple[int, int], int] = {}
    for tick in range(END):
        for report in said:
            if report.at == tick:
                until[report.who, report.reporter] = tick + report.lasts
        active = {who for (who, _), last in until.items() if last >= tick}
        after = active if len(active) > 1 else set()
        row = shown.pop(tick, None)
        assert (row is not None) == (after != before), (tick, before, after)
        if row is not None:
            assert row["answer"] == len(after)
            assert str(row["change"]) == ("+" if not before else "u" if after else "-")
            if level is AnswerLevel.SETS:
                assert {node for node, _ in row["joined"]} == after - before
                assert {node for node, _ in row["partners"]} == before - after
        before = after
    assert not shown


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
        sink.take_result(Reading(0, VALUE, at), [((1, at),)], at)
    clock.run()
    assert rows == []
    assert sink.remembered == 0
    sink.take_result(Reading(0, VALUE, 60), [((1, 60),), ((2, 60),)], clock.now_us)
    assert sink.remembered == 1
    clock.run()
    assert sink.remembered == 0
