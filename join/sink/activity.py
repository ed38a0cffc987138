"""Which motes are active in each value as far as the sink knows, and the answer that follows.

A mote is *active* in a value through the last instant that somebody vouched for: a reading vouches for a window, a
report of a head for as long as the head says. The answer of a value is its active motes if these are at least two.

A report may also count motes without naming them: then a head stands for as many motes as it counts.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final, NamedTuple

from join.contract import Member, Value
from sim.trace.tables import SINK, Change

_NEVER_US: Final = 1 << 62
"""After any time."""


class Vouched(NamedTuple):
    """What one reporter says of one mote, or of as many as `weight`."""

    who: int
    """The mote; or the head whose motes are counted."""
    reporter: int
    until_us: int
    """The last instant at which it is active; in the past: it is no longer."""
    read_us: int
    """When its newest reading known was taken."""
    weight: int = 1
    region: int = SINK
    """The head whose region it is in, where regions count."""


@dataclass(frozen=True, slots=True)
class SetChange:
    """How the answer of a value changed."""

    change: Change
    value: Value
    joined: tuple[Member, ...]
    left: tuple[Member, ...]
    size: int
    """Motes in the answer now."""


class NetSetChange:
    """How the answer of a value changed over several changes: what comes and goes in between is left out."""

    def __init__(self, size: int, delay_us: int | None = None) -> None:
        """No change yet of an answer of `size` motes."""
        self._was = self._size = size
        self._came: dict[int, Member] = {}
        self._left: dict[int, Member] = {}
        self.delay_us = delay_us
        """Of the first change that a message made."""

    def take(self, change: SetChange) -> None:
        """Add a change."""
        self._size = change.size
        for member in change.left:
            if self._came.pop(_node(member), None) is None:
                self._left[_node(member)] = member
        for member in change.joined:
            if self._left.pop(_node(member), None) is None:
                self._came[_node(member)] = member

    def change(self, value: Value) -> SetChange | None:
        """The one change that all together are; None: there is none."""
        was, size = self._was, self._size
        if not self._came and not self._left and was == size:
            return None
        kind = Change.UPDATE if was and size else Change.ADD if size else Change.REMOVE
        joined = tuple(self._came[node] for node in sorted(self._came))
        left = tuple(self._left[node] for node in sorted(self._left))
        return SetChange(kind, value, joined, left, size)


def _node(member: Member) -> int:
    assert isinstance(member.stream, int), member
    return member.stream


class _Active:
    """An active mote."""

    __slots__ = ("due_us", "read_us", "region", "until_us", "weight")

    def __init__(self) -> None:
        self.until_us: dict[int, int] = {}
        """By reporter."""
        self.read_us = 0
        self.weight = 0
        self.region = SINK
        self.due_us = _NEVER_US
        """When it is looked at next."""


class _Motes:
    """The active motes of one value.

    Invariant: every mote has an entry in `lapses` at its `due_us`, not later than it lapses; other entries are stale.
    """

    __slots__ = ("active", "lapses", "size")

    def __init__(self) -> None:
        self.active: dict[int, _Active] = {}
        self.lapses: list[tuple[int, int]] = []
        """A heap of when to look at which mote."""
        self.size = 0
        """Sum of the weights."""

    def take(self, said: Vouched, *, replace: bool) -> bool:
        """Take what a reporter says; returns whether the mote is new."""
        mote = self.active.get(said.who)
        is_new = mote is None
        if mote is None:
            mote = self.active[said.who] = _Active()
        known_us = mote.until_us.get(said.reporter)
        if replace or known_us is None or known_us < said.until_us:
            mote.until_us[said.reporter] = said.until_us
            mote.read_us = max(mote.read_us, said.read_us)
            mote.region = said.region
            self.size += said.weight - mote.weight
            mote.weight = said.weight
            lapses_us = max(mote.until_us.values()) + 1
            if lapses_us < mote.due_us:
                self._look_at(said.who, mote, lapses_us)
        return is_new

    def lapse(self, now_us: int) -> dict[int, _Active]:
        """Remove and return the motes that nobody vouches for any longer."""
        gone = {}
        while self.lapses and self.lapses[0][0] <= now_us:
            due_us, who = heappop(self.lapses)
            mote = self.active.get(who)
            if mote is None or mote.due_us != due_us:
                continue
            lapses_us = max(mote.until_us.values()) + 1
            if lapses_us <= now_us:
                gone[who] = self.active.pop(who)
                self.size -= mote.weight
            else:
                self._look_at(who, mote, lapses_us)
        return gone

    def _look_at(self, who: int, mote: _Active, due_us: int) -> None:
        mote.due_us = due_us
        heappush(self.lapses, (due_us, who))


class Activity:
    """The active motes of every value."""

    def __init__(self) -> None:
        self._values: dict[Value, _Motes] = {}

    def extend(self, value: Value, vouched: Iterable[Vouched], now_us: int) -> SetChange | None:
        """Take what only ever prolongs activity, such as readings in any order."""
        return self._update(value, vouched, now_us, replace=False)

    def put(self, value: Value, vouched: Iterable[Vouched], now_us: int) -> SetChange | None:
        """Take what replaces all that its reporter said of these motes before."""
        return self._update(value, vouched, now_us, replace=True)

    def expire(self, value: Value, now_us: int) -> SetChange | None:
        """Let go of the motes of a value that nobody vouches for any longer."""
        return self._update(value, (), now_us, replace=False)

    def next_lapse_us(self, value: Value) -> int | None:
        """When to call `expire` next; None if no mote is active."""
        motes = self._values.get(value)
        return motes.lapses[0][0] if motes is not None else None

    def answer(self, value: Value) -> Mapping[int, tuple[int, int]]:
        """The answer of a value: who is in it, with weight and region."""
        motes = self._values.get(value)
        if motes is None or motes.size < 2:
            return {}
        return {who: (mote.weight, mote.region) for who, mote in motes.active.items()}

    def sensors(self) -> set[int]:
        """All motes in the answer of any value."""
        return {who for motes in self._values.values() if motes.size >= 2 for who in motes.active}

    def _update(
        self, value: Value, vouched: Iterable[Vouched], now_us: int, *, replace: bool
    ) -> SetChange | None:
        motes = self._values.get(value)
        if motes is None:
            motes = self._values[value] = _Motes()
        was = motes.size
        came = [said.who for said in vouched if motes.take(said, replace=replace)]
        gone = motes.lapse(now_us)
        active, size = motes.active, motes.size
        if not active:
            del self._values[value]
        fresh = {who for who in came if who in active}
        left = {who: mote.read_us for who, mote in gone.items() if who not in came}
        if was < 2:
            if size < 2:
                return None
            change, fresh, left = Change.ADD, set(active), {}
        elif size < 2:
            left |= {who: mote.read_us for who, mote in active.items() if who not in fresh}
            change, fresh = Change.REMOVE, set()
        elif fresh or left or size != was:
            change = Change.UPDATE
        else:
            return None
        return SetChange(
            change,
            value,
            tuple(Member(who, active[who].read_us) for who in sorted(fresh)),
            tuple(Member(who, left[who]) for who in sorted(left)),
            size if size >= 2 else 0,
        )
