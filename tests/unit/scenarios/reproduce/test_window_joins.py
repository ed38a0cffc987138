"""The workloads, costs and judges of the W-join, SSDBM and PWindow figures, on inputs small enough to check by hand."""

from collections import Counter
from dataclasses import replace

import pytest

from join.contract import Stats
from scenarios.reproduce.pwindow.answers import FIGURE as ANSWERS
from scenarios.reproduce.pwindow.example import EXAMPLE_1, QUERIES, counts, play, windows
from scenarios.reproduce.ssdbm.engine import (
    Load,
    crossing,
    maximum_throughput,
    response,
    service,
    streams_of,
)
from scenarios.reproduce.table import Table
from scenarios.reproduce.wjoin import figure_9
from scenarios.reproduce.wjoin.costs import NOTHING, hashing_us, work_us
from scenarios.reproduce.wjoin.retail import FIGURE_7, is_faster, slopes
from scenarios.reproduce.wjoin.streams import (
    CLOSES_H,
    HOUR_US,
    OPENS_H,
    PER_HOUR,
    sales,
    synthetic,
)

COUNTED = Stats(
    arrived=10,
    late=0,
    refused=0,
    probes=3,
    comparisons=7,
    held_peak=0,
    spilled=0,
    hashes=4,
    inserts=1,
    formed=2,
    mode_1=5,
    mode_2=6,
)


@pytest.mark.parametrize(
    ("name", "cost_us"),
    [
        ("nlw", 7 * 4 + 5 + 4),
        ("ripple", 7 * 3 + 5 + 4),
        ("hw", 7 * 4 + 3 * 5 + 5 + 4),
        ("mw", 7 + 2 * (3 + 6) + 5 + 4),
        ("few-hash", 7 + 2 * (3 + 6) + 3 * 5 + 5 + 4),
    ],
)
def test_work_is_the_operations_at_their_costs(name: str, cost_us: float) -> None:
    assert work_us(name, NOTHING, COUNTED) == cost_us
    assert work_us(name, COUNTED, COUNTED) == 0
    assert work_us(name, NOTHING, replace(COUNTED, comparisons=8)) > cost_us


@pytest.mark.parametrize(("name", "cost_us"), [("nlw", 0), ("hw", 3 * 5), ("few-hash", 3 * 5)])
def test_hashing_is_part_of_the_work(name: str, cost_us: float) -> None:
    assert hashing_us(name, NOTHING, COUNTED) == cost_us
    assert hashing_us(name, COUNTED, COUNTED) == 0


def test_stores_sell_while_they_are_open_at_the_papers_rate() -> None:
    sold = list(sales(3, days=2, share=0.5, seed=1))
    assert [sale.at_us for sale in sold] == sorted(sale.at_us for sale in sold)
    hours = [sale.at_us / HOUR_US % 24 for sale in sold]
    assert min(hours) >= OPENS_H
    assert max(hours) <= CLOSES_H
    assert len(sold) == pytest.approx(2 * 0.5 * PER_HOUR * (CLOSES_H - OPENS_H), rel=0.02)
    per_store = Counter(sale.stream for sale in sold)
    assert max(per_store.values()) < 1.05 * min(per_store.values())
    opening = sum(hour < OPENS_H + 1 for hour in hours)
    noon = sum(OPENS_H + 5 <= hour < OPENS_H + 6 for hour in hours)
    assert noon > 2 * opening


def test_synthetic_streams_have_their_rates() -> None:
    feed = synthetic([1000.0, 100.0], tuples=20_000, seed=1)
    seconds = feed[-1].at_us / 1e6
    per_stream = Counter(each.stream for each in feed)
    assert per_stream[0] / seconds == pytest.approx(1000, rel=0.03)
    assert per_stream[1] / seconds == pytest.approx(100, rel=0.1)


def test_a_stream_that_is_slow_in_turn_is_fast_in_between() -> None:
    feed = synthetic([1000.0, 10.0], tuples=30_000, seed=1, switching=True)
    times = [each.at_us for each in feed if each.stream == 1]
    slow, fast = times[99] - times[0], times[199] - times[100]
    assert slow > 20 * fast


def test_rates_of_figure_9a_span_a_factor_of_ten() -> None:
    for streams in figure_9.STREAMS:
        found = figure_9.rates(streams)
        assert (found[0], len(found)) == (1000, streams)
        assert found[-1] == pytest.approx(100)


def rows(**by_operator: float) -> Table:
    return Table(
        tuple(
            {"operator": name, "streams": 2, "service_us": value}
            for name, value in by_operator.items()
        )
    )


def test_a_judge_says_no_when_the_numbers_do() -> None:
    assert is_faster(rows(nlw=1.0, ripple=2.0), "nlw", "ripple").holds
    lost = is_faster(rows(nlw=2.0, ripple=1.0), "nlw", "ripple", why="because")
    assert (lost.holds, lost.why) == (False, "because")


def test_growth_between_clean_ups_is_seen() -> None:
    saw = tuple(
        {
            "operator": "ripple",
            "streams": 2,
            "tuples": 10 * number,
            "at_h": 12.0,
            "clean_every": 100,
            "block": 10,
            "service_us": 1.0 + number % 10,
        }
        for number in range(1, 60)
    )
    level = tuple({**row, "service_us": 4.0} for row in saw)
    assert slopes(Table(saw), "ripple") > 2
    assert slopes(Table(level), "ripple") == 1


def test_the_maximum_throughput_is_where_the_work_fills_the_processor() -> None:
    load = Load("bew", streams=2, window_s=0.5, values=10, seed=1)
    rate, each = maximum_throughput(load)
    assert each.us * rate <= 1e6
    above = service(load, 1.05 * rate)
    assert above is None or above.us * 1.05 * rate > 0.97e6
    assert each.us * rate > 0.9e6


def test_backward_evaluation_responds_after_its_work_and_forward_evaluation_waits() -> None:
    quiet = {
        name: response(Load(name, streams=3, window_s=2.0, values=30, seed=1), 5.0)
        for name in ("bew-hash", "few-hash")
    }
    assert quiet["bew-hash"]["response_ms"] == pytest.approx(quiet["bew-hash"]["work_ms"])
    # Another stream's next tuple is most of a second away.
    assert quiet["few-hash"]["response_ms"] > 100


def test_waiting_for_other_streams_takes_so_many_arrivals_whatever_was_left_before() -> None:
    load = Load("few-hash", streams=3, window_s=6.0, values=100, seed=1)
    waited = [rate * response(load, rate)["response_ms"] / 1000 for rate in (20.0, 50.0, 100.0)]
    # FEW-join waits for the next tuple of every stream: a few arrivals, at every rate.
    assert waited == pytest.approx([3.7] * 3, rel=0.15)


def test_streams_are_as_different_as_asked() -> None:
    feed = streams_of(100.0, streams=3, tuples=30_000, values=5, seed=1, spread=10.0)
    per_stream = Counter(each.stream for each in feed)
    assert per_stream[0] / per_stream[2] == pytest.approx(10, rel=0.1)


@pytest.mark.parametrize(
    ("first", "second", "at"),
    [([1, 2, 5], [3, 3, 3], 30), ([5, 5, 5], [3, 3, 3], None), ([1, 1, 1], [3, 3, 3], None)],
)
def test_curves_cross_where_the_lower_one_rises_above(
    first: list[float], second: list[float], at: float | None
) -> None:
    assert crossing([10, 20, 30], first, second) == at


def test_example_1_is_answered_as_printed() -> None:
    shown = {at_s: (answer, changes) for at_s, answer, changes in play(QUERIES["q1"], EXAMPLE_1)}
    assert shown[5] == ("1 3", "-2")
    assert shown[6] == ("1 3", "u3")


def test_one_change_after_the_other_a_partitioned_count_shows_one_too_few() -> None:
    shown = {name: counts(window) for name, window in windows().items()}
    assert shown["partition"][-3:] == [10, 9, 10]
    assert shown["predicate"] == list(range(1, 11))


def test_a_changed_answer_turns_a_verdict() -> None:
    table = Table(({"part": "query", "query": "q1", "at_s": 6, "answer": "1 2 3", "changes": ""},))
    assert not ANSWERS.judges["pwindow-example-q1"](table).holds
    assert not ANSWERS.judges["pwindow-example-update"](table).holds


def test_a_lead_of_four_is_not_an_order_of_magnitude() -> None:
    table = Table(
        tuple(
            {
                "operator": name,
                "streams": 2,
                "service_us": cost,
                "comparisons": 1.0,
                "mode_1": 0.25,
            }
            for name, cost in (("nlw", 4.0), ("mw", 1.0), ("ripple", 5.0))
        )
    )
    finding = FIGURE_7.judges["wjoin-7-mw-order"](table)
    assert not finding.holds
    assert "mode 2 for 75 % of the tuples at 2 streams" in finding.why
