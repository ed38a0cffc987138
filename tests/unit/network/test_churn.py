from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from network.churn import Change, Churn, arrivals, crashes, departures
from network.clocks import LocalClocks
from network.contract import true_time
from network.ledger import Ledger
from network.listening import Listening
from network.radio.channel import UnitDisk
from network.radio.profile import load_profile
from network.routing.routes import Metric, Routes
from network.topology import Placement
from sim.kernel import Kernel
from sim.rng import RandomStreams
from sim.trace.tables import SINK, Event
from sim.units import US_PER_S


def live(
    changes: Sequence[Change], *, count: int = 3
) -> tuple[Kernel, Ledger, list[Any], list[int]]:
    kernel = Kernel()
    ledger = Ledger(kernel, [1.0] * count)
    rows: list[Any] = []
    came_up: list[int] = []
    churn = Churn(kernel, ledger, None, rows, changes, on_up=[came_up.append])
    churn.start()
    return kernel, ledger, rows, came_up


def test_a_mote_is_down_between_crash_and_recovery() -> None:
    kernel, ledger, rows, came_up = live(
        [Change(200, 1, Event.RECOVERY), Change(100, 1, Event.CRASH)]
    )
    kernel.advance(150)
    assert ledger.alive == [True, False, True, True]
    kernel.advance(300)
    assert ledger.alive == [True] * 4
    assert came_up == [1]
    assert rows == [(100, 1, Event.CRASH), (200, 1, Event.RECOVERY)]
    assert ledger.deaths == []


def test_an_added_mote_is_not_there_before_and_a_removed_one_not_after() -> None:
    changes = [
        Change(100, 2, Event.ADDED),
        Change(50, 2, Event.CRASH),
        Change(300, 0, Event.REMOVED),
        Change(250, 0, Event.CRASH),
        Change(400, 0, Event.RECOVERY),
    ]
    kernel, ledger, rows, _ = live(changes)
    assert ledger.alive == [True, True, False, True]
    kernel.advance(200)
    assert ledger.alive[2]
    kernel.advance(1000)
    assert ledger.alive == [False, True, True, True]
    assert [(node, event) for _, node, event in rows] == [
        (2, Event.ADDED),
        (0, Event.CRASH),
        (0, Event.REMOVED),
    ]


def test_the_dead_do_not_recover() -> None:
    kernel, ledger, rows, _ = live([Change(100, 1, Event.CRASH), Change(200, 1, Event.RECOVERY)])
    ledger.draw(1, ledger.cpu_j, 5.0)
    kernel.advance(1000)
    assert not ledger.alive[1]
    assert rows == []


def test_a_mote_that_dies_of_what_it_owes_does_not_crash_nor_recover() -> None:
    kernel = Kernel()
    ledger = Ledger(kernel, [0.05, 0.05, 100.0])
    listening = Listening(kernel, ledger, load_profile("telosb"))
    rows: list[Any] = []
    changes = [
        Change(US_PER_S, 0, Event.CRASH),
        Change(2 * US_PER_S, 0, Event.RECOVERY),
        Change(US_PER_S, 1, Event.REMOVED),
        Change(US_PER_S, 2, Event.REMOVED),
    ]
    Churn(kernel, ledger, listening, rows, changes).start()
    kernel.advance(3 * US_PER_S)
    assert ledger.deaths == [(US_PER_S, 0), (US_PER_S, 1)]
    assert rows == [(US_PER_S, 2, Event.REMOVED)]


def test_no_route_leads_through_a_mote_that_is_not_there_yet() -> None:
    kernel = Kernel()
    ledger = Ledger(kernel, [1.0] * 3)
    # From 0 to the sink by way of 1 or, a little farther, of 2.
    points_m = np.array([(0.0, 0.0), (30.0, 2.0), (30.0, -8.0), (60.0, 0.0)])
    channel = UnitDisk(Placement(points_m), load_profile("micaz"), range_m=35.0)
    routes = Routes(channel.links(0.5), Metric.HOPS, ledger.alive)
    ledger.when_down(routes.on_down)
    Churn(kernel, ledger, None, [], [Change(100, 1, Event.ADDED)], on_up=[routes.on_up]).start()
    assert routes.path(0, SINK) == [0, 2, SINK]
    kernel.advance(200)
    assert routes.path(0, SINK) == [0, 1, SINK]


def test_outages_of_the_sink_are_written_down() -> None:
    kernel, ledger, rows, _ = live(
        [Change(5, SINK, Event.SINK_DOWN), Change(9, SINK, Event.SINK_UP)]
    )
    kernel.advance(100)
    assert rows == [(5, SINK, Event.SINK_DOWN), (9, SINK, Event.SINK_UP)]
    assert ledger.alive[SINK]


def test_motes_are_up_and_down_for_the_mean_times_asked_for() -> None:
    end_us = 10_000 * US_PER_S
    changes = crashes(RandomStreams(1), 20, mean_up_us=30e6, mean_down_us=10e6, end_us=end_us)
    per_mote = [[c for c in changes if c.node == node] for node in range(20)]
    for history in per_mote:
        assert [c.event for c in history[:4]] == [Event.CRASH, Event.RECOVERY] * 2
        assert [c.at_us for c in history] == sorted(c.at_us for c in history)
    downs = [b.at_us - a.at_us for h in per_mote for a, b in zip(h[::2], h[1::2], strict=False)]
    assert np.mean(downs) == pytest.approx(10e6, rel=0.1)
    down_share = sum(downs) / (20 * end_us)
    assert down_share == pytest.approx(0.25, abs=0.02)
    once = crashes(RandomStreams(1), 20, mean_up_us=30e6, mean_down_us=0, end_us=end_us)
    assert all(c.event is Event.CRASH for c in once)
    assert len(once) == 20


def test_added_and_removed_motes_change_within_their_span() -> None:
    streams = RandomStreams(1)
    added = arrivals(streams, range(90, 100), from_us=1000, until_us=2000)
    removed = departures(streams, 100, removed=10, from_us=3000, until_us=4000)
    assert [c.node for c in added] == list(range(90, 100))
    assert len({c.node for c in removed}) == 10
    assert all(1000 <= c.at_us < 2000 for c in added)
    assert all(3000 <= c.at_us < 4000 for c in removed)


def test_clocks_are_off_and_drift_as_asked_and_the_sinks_is_right() -> None:
    clocks = LocalClocks(RandomStreams(1), 5000, offset_us=2000.0, drift_ppm=40.0)
    hour_us = 3600 * US_PER_S
    offsets = [clocks.local_us(n, 0) for n in range(5000)]
    gains = [clocks.local_us(n, hour_us) - hour_us - offsets[n] for n in range(5000)]
    assert np.std(offsets) == pytest.approx(2000, rel=0.05)
    assert np.std(gains) == pytest.approx(40e-6 * hour_us, rel=0.05)
    assert clocks.local_us(SINK, 123) == 123
    assert true_time(3, 77) == 77


def test_an_outage_that_follows_at_once_begins_after_the_one_before_has_ended() -> None:
    changes = [
        Change(100, SINK, Event.SINK_DOWN),
        Change(200, SINK, Event.SINK_UP),
        Change(200, SINK, Event.SINK_DOWN),
        Change(300, SINK, Event.SINK_UP),
    ]
    kernel, _, rows, _ = live(changes)
    kernel.advance(1000)
    assert [(at_us, event) for at_us, _, event in rows] == [
        (100, "sink down"),
        (200, "sink up"),
        (200, "sink down"),
        (300, "sink up"),
    ]
