"""The sink's ledger of reports: gaps, digests, snapshots, restarts."""

from join.sink.activity import Vouched
from join.strategies.change.ledger import ReportLedger
from join.strategies.change.records import (
    Count,
    Digest,
    Enter,
    Hold,
    Leave,
    Record,
    Report,
    Snapshot,
    checksum,
)


class Sink:
    """A ledger that hears of head 9."""

    def __init__(self) -> None:
        self.ledger = ReportLedger(window_us=100, hold_us=1000)

    def take(
        self, number: int, record: Record, at_us: int = 10, boot: int = 0, *, plain: bool = False
    ) -> list[Vouched]:
        report = Report(9, boot, number, record, plain, at_us)
        return [vouched for _, vouched in self.ledger.take(report, at_us)]

    @property
    def lacks(self) -> bool:
        return self.ledger.lacks(9)


def digest(*held: Hold | Count) -> Digest:
    return Digest(len(held), checksum(held))


def test_an_enter_lapses_by_itself_and_a_hold_stands_until_it_is_ended() -> None:
    sink = Sink()
    assert sink.take(0, Enter(7, 3, 5)) == [Vouched(3, 9, 105, 5)]
    assert sink.take(1, Hold(7, 4, 6)) == [Vouched(4, 9, 1010, 6)]
    assert sink.take(2, Leave(7, 4, 90), 150) == [Vouched(4, 9, 190, 90)]
    assert not sink.lacks


def test_a_gap_shows_and_a_late_report_closes_it() -> None:
    sink = Sink()
    sink.take(0, Hold(7, 3, 5))
    assert sink.take(2, Hold(7, 4, 6))
    assert sink.lacks
    assert sink.take(1, Hold(7, 5, 6))
    assert not sink.lacks
    assert sink.take(1, Hold(7, 5, 6)) == [], "a repetition says nothing new"


def test_a_report_that_was_overtaken_changes_nothing() -> None:
    sink = Sink()
    sink.take(1, Leave(7, 3, 50))
    assert sink.take(0, Hold(7, 3, 5)) == []
    assert not sink.lacks


def test_a_digest_that_agrees_prolongs_what_is_held() -> None:
    sink = Sink()
    sink.take(0, Hold(7, 3, 5))
    sink.take(1, Enter(7, 4, 5))
    held = digest(Hold(7, 3, 0))
    assert sink.take(2, held, 600) == [Vouched(3, 9, 1600, 5)]
    assert not sink.lacks
    assert sink.take(2, digest(Hold(7, 3, 0), Hold(7, 8, 0)), 700) == []
    assert sink.lacks


def test_a_digest_shows_that_the_last_report_is_missing() -> None:
    sink = Sink()
    sink.take(0, Hold(7, 3, 5))
    assert sink.take(2, digest(Hold(7, 3, 0)), 600) == []
    assert sink.lacks


def test_a_snapshot_replaces_all_and_closes_every_gap() -> None:
    sink = Sink()
    sink.take(0, Hold(7, 3, 5))
    sink.take(4, Hold(7, 4, 6))
    said = sink.take(5, Snapshot((Hold(7, 4, 6), Enter(8, 5, 200))), 210)
    assert said == [Vouched(3, 9, 209, 0), Vouched(4, 9, 1210, 6), Vouched(5, 9, 300, 200)]
    assert not sink.lacks
    assert sink.take(6, digest(Hold(7, 4, 6)), 300) == [Vouched(4, 9, 1300, 6)]


def test_a_snapshot_does_not_undo_what_was_reported_after_it() -> None:
    sink = Sink()
    sink.take(0, Hold(7, 3, 5))
    sink.take(3, Hold(7, 6, 5))
    assert sink.take(2, Snapshot((Hold(7, 3, 5),)), 50) == [Vouched(3, 9, 1050, 5)]
    assert not sink.lacks


def test_a_head_that_has_started_anew_counts_from_zero() -> None:
    sink = Sink()
    sink.take(0, Hold(7, 3, 5))
    sink.take(1, Hold(7, 4, 5))
    assert sink.take(0, Hold(7, 5, 300), 300, boot=1) == [Vouched(5, 9, 1300, 300)]
    assert not sink.lacks
    # What it held before is confirmed by nobody, and what it sent before is void.
    assert sink.take(1, digest(Hold(7, 5, 0)), 400, boot=1) == [Vouched(5, 9, 1400, 300)]
    assert sink.take(2, Hold(7, 8, 5), 410, boot=0) == []


def test_counts_stand_for_the_head() -> None:
    sink = Sink()
    assert sink.take(0, Count(7, 4)) == [Vouched(9, 9, 1010, 10, weight=4, region=9)]
    assert sink.take(1, digest(Count(7, 4)), 600) == [Vouched(9, 9, 1600, 600, weight=4, region=9)]
    assert sink.take(1, Count(7, 0), 700) == [Vouched(9, 9, 699, 0)]


def test_a_plain_record_has_no_number_and_leaves_no_gap() -> None:
    sink = Sink()
    assert sink.take(0, Enter(7, 3, 5), plain=True) == [Vouched(3, 9, 105, 5)]
    assert sink.take(0, Enter(7, 4, 6), plain=True) == [Vouched(4, 9, 106, 6)]
    assert sink.take(0, Hold(7, 5, 6)) == [Vouched(5, 9, 1010, 6)]
    assert not sink.lacks


def test_motes_whose_reports_have_long_lapsed_are_forgotten_and_held_ones_are_not() -> None:
    sink = Sink()
    sink.take(0, Hold(7, 3, 0), 0)
    for number in range(1, 5000):
        at_us = number * 1_000_000
        assert sink.take(number, Enter(number, 4, at_us), at_us)
    known = sink.ledger._heads[9]
    assert len(known.numbers) == len(known.said_us) < 200
    assert known.standing <= known.numbers.keys()
    assert (7, 3) in known.standing
    # Of what is left a snapshot ends all that it does not list.
    ended = sink.take(5000, Snapshot(()), 5_000_000_000)
    assert len(ended) < 200
    assert not known.standing
