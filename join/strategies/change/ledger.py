"""The sink's ledger of what heads have reported: it notices gaps, and lets go of what is not confirmed.

Every record of a head has a number. A number that does not come, or a digest that differs from what the sink holds, is a
gap: the sink then asks for a snapshot. What a head holds stands for `hold_us` from the last sign that it still does:
the report itself, a snapshot, or a digest that agrees.
"""

from typing import Final

from join.sink.activity import Vouched
from join.strategies.change.records import (
    Count,
    Digest,
    Enter,
    Hold,
    Leave,
    Report,
    Snapshot,
    checksum,
)
from sim.units import US_PER_S

Statement = tuple[int, Vouched]
"""A value, and what is said of a mote, or of a head's motes, in it."""


OVERTAKEN_US: Final = 60 * US_PER_S
"""How much later than a report one that it overtook may come."""
KEPT_LEAST: Final = 32
"""Motes of a head among which those whose reports have lapsed are not worth looking for."""


class _Head:
    """What one head has reported since it started."""

    __slots__ = (
        "boot",
        "held",
        "missing",
        "most",
        "next",
        "numbers",
        "said_us",
        "stale",
        "standing",
    )

    def __init__(self, boot: int) -> None:
        self.boot = boot
        self.next = 0
        """The number expected next."""
        self.missing: set[int] = set()
        """Numbers that were skipped."""
        self.stale = False
        """Whether a digest differed."""
        self.numbers: dict[tuple[int, int], int] = {}
        """By value and mote (or head, where motes are counted): the last number about it."""
        self.said_us: dict[tuple[int, int], int] = {}
        """When that came."""
        self.most = KEPT_LEAST
        """How many of them there may be before those that have lapsed are looked for."""
        self.held: dict[tuple[int, int], Hold | Count] = {}
        self.standing: set[tuple[int, int]] = set()
        """All that was reported as active and has not been ended."""


class ReportLedger:
    """What all heads have reported."""

    def __init__(self, *, window_us: int, hold_us: int) -> None:
        self._window_us = window_us
        self._hold_us = hold_us
        self._heads: dict[int, _Head] = {}

    def lacks(self, head: int) -> bool:
        """Whether reports of a head are missing."""
        known = self._heads.get(head)
        return known is not None and (known.stale or bool(known.missing))

    def take(self, report: Report, now_us: int) -> list[Statement]:
        """Take a report; returns what it says of motes."""
        known = self._heads.get(report.head)
        if known is None or known.boot < report.boot:
            # A head that has started anew: what it held before lapses when nobody confirms it.
            known = self._heads[report.head] = _Head(report.boot)
        elif known.boot > report.boot:
            return []
        match report.record:
            case Digest() as digest:
                return self._compare(report.head, known, report.number, digest, now_us)
            case Snapshot() as snapshot:
                return self._replace(report.head, known, report.number, snapshot, now_us)
            case record:
                if not report.plain and not _is_new(known, report.number):
                    return []
                return self._apply(report.head, known, report.number, record, now_us)

    def _compare(
        self, head: int, known: _Head, number: int, digest: Digest, now_us: int
    ) -> list[Statement]:
        if number > known.next:
            known.missing.update(range(known.next, number))
            known.next = number
        if number < known.next or known.missing:
            return []  # an old digest, or one that cannot agree yet
        if (len(known.held), checksum(known.held.values())) != digest:
            known.stale = True
            return []
        return [self._holding(head, record, now_us) for record in known.held.values()]

    def _replace(
        self, head: int, known: _Head, number: int, snapshot: Snapshot, now_us: int
    ) -> list[Statement]:
        listed = {_key(head, record) for record in snapshot.records}
        said: list[Statement] = []
        for value, who in sorted(known.standing - listed):
            if known.numbers[value, who] < number:
                said.append((value, Vouched(who, head, now_us - 1, 0)))
                known.standing.discard((value, who))
                known.held.pop((value, who), None)
        for record in snapshot.records:
            said += self._apply(head, known, number, record, now_us)
        known.missing = {each for each in known.missing if each > number}
        known.next = max(known.next, number + 1)
        known.stale = False
        return said

    def _apply(
        self,
        head: int,
        known: _Head,
        number: int,
        record: Enter | Hold | Leave | Count,
        now_us: int,
    ) -> list[Statement]:
        key = _key(head, record)
        if known.numbers.get(key, -1) > number:
            return []  # a later report has overtaken this one
        known.numbers[key] = number
        known.said_us[key] = now_us
        if len(known.numbers) > known.most:
            self._forget_lapsed(known, now_us)
        known.held.pop(key, None)
        known.standing.add(key)
        match record:
            case Enter(value, mote, read_us) | Leave(value, mote, read_us):
                return [(value, Vouched(mote, head, read_us + self._window_us, read_us))]
            case Count(motes=0):
                known.standing.discard(key)
                return [(record.value, Vouched(head, head, now_us - 1, 0))]
            case Hold() | Count():
                known.held[key] = record
                return [self._holding(head, record, now_us)]

    def _forget_lapsed(self, known: _Head, now_us: int) -> None:
        """Forget motes whose last report has long lapsed: with values that go on changing they would pile up."""
        since_us = now_us - self._window_us - OVERTAKEN_US
        lapsed = [
            key for key, us in known.said_us.items() if us < since_us and key not in known.held
        ]
        for key in lapsed:
            del known.numbers[key], known.said_us[key]
        known.standing.difference_update(lapsed)
        known.most = max(KEPT_LEAST, 2 * len(known.numbers))

    def _holding(self, head: int, record: Hold | Count, now_us: int) -> Statement:
        until_us = now_us + self._hold_us
        if isinstance(record, Count):
            return record.value, Vouched(
                head, head, until_us, now_us, weight=record.motes, region=head
            )
        return record.value, Vouched(record.mote, head, until_us, record.read_us)


def _is_new(known: _Head, number: int) -> bool:
    """Whether a number has not come before; notes the numbers that it shows to be missing."""
    if number >= known.next:
        known.missing.update(range(known.next, number))
        known.next = number + 1
        return True
    if number in known.missing:
        known.missing.discard(number)
        return True
    return False


def _key(head: int, record: Enter | Hold | Leave | Count) -> tuple[int, int]:
    """The value, and the mote or the head whose motes are counted."""
    return record.value, head if isinstance(record, Count) else record.mote
