"""A reporting node, step by step."""

from join.strategies.change.head import CountingHead, ReportingHead
from join.strategies.change.hold_rule import HoldRule
from join.strategies.change.records import Count, Enter, Hold, Leave


class Always(HoldRule):
    def holds(self, leases: int, now_us: int) -> bool:
        return leases >= 2


def test_an_enter_is_repeated_only_if_the_stay_goes_on() -> None:
    head = ReportingHead(window_us=100, margin_us=10, rule=None)
    assert head.take(7, 3, 0, 0) == [Enter(7, 3, 0)]
    assert head.due_us(7, 3, 0) == 101
    assert head.take(7, 3, 80, 82) == []
    assert head.due_us(7, 3, 82) == 90
    assert head.due(7, 3, 90) == [Enter(7, 3, 80)]
    assert head.due_us(7, 3, 90) == 181
    assert head.due(7, 3, 181) == []
    assert head.due_us(7, 3, 181) is None


def test_a_lease_that_comes_in_the_last_moment_is_reported_at_once() -> None:
    head = ReportingHead(window_us=100, margin_us=10, rule=None)
    head.take(7, 3, 0, 0)
    assert head.due(7, 3, 90) == []
    assert head.take(7, 3, 92, 94) == [Enter(7, 3, 92)]


def test_what_is_held_needs_no_report_until_it_leaves() -> None:
    head = ReportingHead(window_us=100, margin_us=10, rule=Always())
    assert head.take(7, 3, 0, 0) == [Enter(7, 3, 0)]
    assert head.take(7, 3, 85, 85) == []
    assert head.due(7, 3, 90) == [Hold(7, 3, 85)]
    assert head.take(7, 3, 170, 170) == []
    assert head.due_us(7, 3, 170) == 260
    assert head.held() == [Hold(7, 3, 170)]
    assert head.due(7, 3, 260) == [Leave(7, 3, 170)]
    assert head.held() == []
    assert head.due_us(7, 3, 260) == 271


def test_a_mote_with_another_head_is_let_go_and_ended_if_it_was_held() -> None:
    head = ReportingHead(window_us=100, margin_us=10, rule=Always())
    head.take(7, 3, 0, 0)
    head.take(7, 4, 0, 0)
    head.take(7, 3, 85, 85)
    head.due(7, 3, 90)
    assert list(head.release({5})) == [Leave(7, 3, 85)]
    assert list(head.leases()) == []


def test_a_home_reports_nobody_who_is_alone() -> None:
    home = ReportingHead(window_us=100, margin_us=10, rule=None, meets=True)
    assert home.take(7, 3, 0, 0) == []
    assert home.take(7, 3, 50, 50) == []
    assert home.take(8, 4, 55, 55) == []
    # The second makes the first count.
    assert home.take(7, 4, 60, 60) == [Enter(7, 3, 50), Enter(7, 4, 60)]
    # When the first has gone, the second needs no more reports.
    assert home.take(7, 4, 145, 145) == []
    assert home.due(7, 4, 152) == []
    assert home.due_us(7, 4, 152) == 246
    # A third makes it count again.
    assert home.take(7, 5, 200, 200) == [Enter(7, 4, 145), Enter(7, 5, 200)]


def test_a_lease_that_left_the_window_on_its_way_is_no_stay() -> None:
    head = ReportingHead(window_us=100, margin_us=10, rule=None)
    assert head.take(7, 3, 0, 101) == []
    assert head.due_us(7, 3, 101) is None


def test_a_snapshot_lists_what_stands_and_prolongs_it() -> None:
    head = ReportingHead(window_us=100, margin_us=10, rule=None)
    head.take(7, 3, 0, 0)
    head.take(7, 3, 50, 50)
    assert list(head.standing()) == [Enter(7, 3, 50)]
    assert head.due_us(7, 3, 60) == 151


def test_a_counting_head_reports_every_change_of_the_number() -> None:
    head = CountingHead(window_us=100)
    assert head.take(7, 3, 0, 0) == [Count(7, 1)]
    assert head.take(7, 3, 50, 50) == []
    assert head.take(7, 4, 60, 60) == [Count(7, 2)]
    assert head.due_us(7, 3, 60) == 151
    assert head.due(7, 3, 151) == [Count(7, 1)]
    assert list(head.release(set())) == [Count(7, 0)]
    assert head.held() == []


def test_a_home_that_counts_needs_two() -> None:
    home = CountingHead(window_us=100, meets=True)
    assert home.take(7, 3, 0, 0) == []
    assert home.take(7, 4, 60, 60) == [Count(7, 2)]
    assert home.due(7, 3, 101) == [Count(7, 0)]
