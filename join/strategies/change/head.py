"""A head that reports changes: which motes are active in which value, with as few reports as that takes.

A *stay* is a time during which a mote's newest reading of a value is in the window. The head learns of it by leases
(`join.strategies.leases`) and sees to it that the sink knows of it:

* `Enter` at its first lease, and again before it lapses if there was another lease since; or
* `Hold`, then nothing until the last lease is about to leave the window, then `Leave`, which says when it does.

Which of the two is cheaper depends on how long stays last: `join.strategies.change.hold_rule`.
"""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from join.strategies.change.hold_rule import HoldRule
from join.strategies.change.records import Count, Enter, Hold, Leave

Stay = tuple[int, int]
"""A value and a mote."""


class _Stay:
    """What the head knows of a mote's stay, and what it has reported."""

    __slots__ = ("held", "leases", "newest_us", "until_us")

    def __init__(self, newest_us: int) -> None:
        self.newest_us = newest_us
        self.leases = 1
        self.held = False
        self.until_us = 0
        """Unless held: how long the sink takes it as active."""


class ReportingHead:
    """The stays of a head's members, each reported by `Enter` or `Hold` and `Leave`."""

    def __init__(self, *, window_us: int, margin_us: int, rule: HoldRule | None) -> None:
        """Set up a head.

        Args:
            window_us: ω.
            margin_us: How long before a stay lapses at the sink it is prolonged, or a held one ended.
            rule: Decides when to hold; None: never.
        """
        self._window_us = window_us
        self._margin_us = margin_us
        self._rule = rule
        self._stays: dict[Stay, _Stay] = {}

    def take(self, value: int, mote: int, at_us: int, now_us: int) -> Enter | Hold | None:
        """Take a member's lease; returns what to report now, if anything."""
        stay = self._stays.get((value, mote))
        if stay is not None and not self._is_over(stay, now_us):
            if at_us <= stay.newest_us:
                return None
            stay.newest_us = at_us
            if self._rule is not None:
                self._rule.went_on(stay.leases)
            stay.leases += 1
            if stay.held or now_us < stay.until_us - self._margin_us:
                return None  # the sink knows enough until `due`
            return self._report(value, mote, stay)
        if at_us + self._window_us < now_us:
            return None  # it has left the window on its way
        if stay is not None:
            self._end(value, mote)
        stay = self._stays[value, mote] = _Stay(at_us)
        return self._report(value, mote, stay)

    def due_us(self, value: int, mote: int, now_us: int) -> int | None:
        """When to look at a stay next, from `now_us` on; None if there is none."""
        stay = self._stays.get((value, mote))
        if stay is None:
            return None
        if stay.held:
            return stay.newest_us + self._window_us - self._margin_us
        renewal_us = stay.until_us - self._margin_us
        if renewal_us > now_us or stay.newest_us + self._window_us > stay.until_us:
            return max(renewal_us, now_us)
        return stay.until_us + 1

    def due(self, value: int, mote: int, now_us: int) -> Enter | Hold | Leave | None:
        """Look at a stay that is due; returns what to report now, if anything."""
        stay = self._stays[value, mote]
        if stay.held:
            stay.held = False
            stay.until_us = stay.newest_us + self._window_us
            return Leave(value, mote, stay.newest_us)
        if self._is_over(stay, now_us):
            self._end(value, mote)
        elif stay.newest_us + self._window_us > stay.until_us:
            return self._report(value, mote, stay)
        return None

    def release(self, members: AbstractSet[int]) -> Iterator[Leave]:
        """Let go of the motes that are no `members` any longer; those held lapse by themselves from here on."""
        for (value, mote), stay in list(self._stays.items()):
            if mote not in members:
                del self._stays[value, mote]
                if stay.held:
                    yield Leave(value, mote, stay.newest_us)

    def held(self) -> list[Hold]:
        """All that is held."""
        return [
            Hold(value, mote, stay.newest_us)
            for (value, mote), stay in self._stays.items()
            if stay.held
        ]

    def standing(self) -> Iterable[Enter | Hold]:
        """All that has been reported and still stands."""
        for (value, mote), stay in self._stays.items():
            if stay.held:
                yield Hold(value, mote, stay.newest_us)
            else:
                # What was repeated for a snapshot need not be repeated again soon.
                stay.until_us = stay.newest_us + self._window_us
                yield Enter(value, mote, stay.newest_us)

    def leases(self) -> Iterator[tuple[int, int]]:
        """The newest lease of each stay: mote and time."""
        for (_, mote), stay in self._stays.items():
            yield mote, stay.newest_us

    def _is_over(self, stay: _Stay, now_us: int) -> bool:
        """Whether the mote's newest reading has left the window."""
        return stay.newest_us + self._window_us < now_us

    def _report(self, value: int, mote: int, stay: _Stay) -> Enter | Hold:
        if self._rule is not None and self._rule.holds(stay.leases):
            stay.held = True
            return Hold(value, mote, stay.newest_us)
        stay.until_us = stay.newest_us + self._window_us
        return Enter(value, mote, stay.newest_us)

    def _end(self, value: int, mote: int) -> None:
        stay = self._stays.pop((value, mote))
        if self._rule is not None:
            self._rule.ended(stay.leases)


class CountingHead:
    """The same, reporting how many members are active in a value, whenever that changes."""

    def __init__(self, *, window_us: int) -> None:
        self._window_us = window_us
        self._newest_us: dict[int, dict[int, int]] = {}
        """By value and mote: the newest lease."""

    def take(self, value: int, mote: int, at_us: int, now_us: int) -> Count | None:
        """Take a member's lease; returns what to report now, if anything."""
        if at_us + self._window_us < now_us:
            return None
        motes = self._newest_us.setdefault(value, {})
        is_new = mote not in motes
        motes[mote] = max(at_us, motes.get(mote, at_us))
        return Count(value, len(motes)) if is_new else None

    def due_us(self, value: int, mote: int, now_us: int) -> int | None:
        """When to look at a mote next; None if it is not active."""
        del now_us
        newest_us = self._newest_us.get(value, {}).get(mote)
        return None if newest_us is None else newest_us + self._window_us + 1

    def due(self, value: int, mote: int, now_us: int) -> Count | None:
        """Look at a mote that is due; returns what to report now, if anything."""
        motes = self._newest_us[value]
        if motes[mote] + self._window_us >= now_us:
            return None
        return self._remove(value, mote)

    def release(self, members: AbstractSet[int]) -> Iterator[Count]:
        """Let go of the motes that are no `members` any longer."""
        for value in list(self._newest_us):
            gone = [mote for mote in self._newest_us[value] if mote not in members]
            counts = [self._remove(value, mote) for mote in gone]
            yield from counts[-1:]

    def held(self) -> list[Count]:
        """All that is held."""
        return [Count(value, len(motes)) for value, motes in self._newest_us.items()]

    def standing(self) -> Iterable[Count]:
        """All that has been reported and still stands."""
        return self.held()

    def leases(self) -> Iterator[tuple[int, int]]:
        """The newest lease of each active mote: mote and time."""
        for motes in self._newest_us.values():
            yield from motes.items()

    def _remove(self, value: int, mote: int) -> Count:
        motes = self._newest_us[value]
        del motes[mote]
        if not motes:
            del self._newest_us[value]
        return Count(value, len(motes))
