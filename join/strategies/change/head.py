"""A node that reports changes: which motes are active in which value, with as few reports as that takes.

It is a cluster head, which knows the stays of its members, a mote that knows its own, or a home, which knows all stays of some values. A *stay* is a
time during which a mote's newest reading of a value is in the window. The node learns of it by leases
(`join.strategies.mote_leases`) and sees to it that the sink knows of it:

* `Enter` at its first lease, and again before it lapses if there was another lease since; or
* `Hold`, then nothing until the last lease is about to leave the window, then `Leave`, which says when it does.

Which of the two is cheaper depends on how long stays last: `join.strategies.change.hold_rule`. A home need not report a stay
while no other mote is active in its value: the sink would not count it.
"""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from join.strategies.change.hold_rule import HoldRule
from join.strategies.change.records import Count, Enter, Hold, Leave

NOT_REPORTED_US = -1


class _Stay:
    """What the node knows of a mote's stay, and what it has reported."""

    __slots__ = ("held", "leases", "newest_us", "until_us")

    def __init__(self, newest_us: int) -> None:
        self.newest_us = newest_us
        self.leases = 1
        self.held = False
        self.until_us = NOT_REPORTED_US
        """Unless held: how long the sink takes it as active."""


class ReportingHead:
    """The stays that a node knows of, each reported by `Enter` or `Hold` and `Leave`."""

    def __init__(
        self, *, window_us: int, margin_us: int, rule: HoldRule | None, meets: bool = False
    ) -> None:
        """Set up a node.

        Args:
            window_us: ω.
            margin_us: How long before a stay lapses at the sink it is prolonged, or a held one ended.
            rule: Decides when to hold; None: never.
            meets: Whether it knows all stays of its values, so that one alone need not be reported.
        """
        self._window_us = window_us
        self._margin_us = margin_us
        self._rule = rule
        self._needed = 2 if meets else 1
        self._values: dict[int, dict[int, _Stay]] = {}
        """By value and mote."""

    def take(self, value: int, mote: int, at_us: int, now_us: int) -> list[Enter | Hold]:
        """Take a mote's lease; returns what to report now."""
        stays = self._values.setdefault(value, {})
        stay = stays.get(mote)
        if stay is not None and self._is_over(stay, now_us):
            self._end(value, mote)
            stays = self._values.setdefault(value, {})
            stay = None
        if stay is not None:
            if at_us > stay.newest_us:
                if self._rule is not None:
                    self._rule.went_on(stay.leases, stay.newest_us + self._window_us)
                stay.newest_us = at_us
                stay.leases += 1
        elif at_us + self._window_us >= now_us:
            stays[mote] = _Stay(at_us)
        return self._due_reports(value, now_us)

    def due_us(self, value: int, mote: int, now_us: int) -> int | None:
        """When to look at a stay next, from `now_us` on; None if there is none."""
        stay = self._values.get(value, {}).get(mote)
        if stay is None:
            return None
        ends_us = stay.newest_us + self._window_us
        if stay.held:
            return ends_us - self._margin_us
        if ends_us > stay.until_us:
            renewal_us = stay.until_us - self._margin_us
            if renewal_us > now_us:
                return renewal_us
            if self._is_needed(value, now_us):
                return now_us
        return ends_us + 1

    def due(self, value: int, mote: int, now_us: int) -> list[Enter | Hold | Leave]:
        """Look at a stay that is due; returns what to report now."""
        stay = self._values[value][mote]
        if stay.held:
            stay.held = False
            stay.until_us = stay.newest_us + self._window_us
            return [Leave(value, mote, stay.newest_us)]
        if self._is_over(stay, now_us):
            self._end(value, mote)
        elif self._is_due(stay, now_us) and self._is_needed(value, now_us):
            return [self._report(value, mote, stay, now_us)]
        return []

    def release(self, members: AbstractSet[int]) -> Iterator[Leave]:
        """Let go of the motes that are no `members` any longer; those held lapse by themselves from here on."""
        for value in list(self._values):
            stays = self._values[value]
            for mote in [mote for mote in stays if mote not in members]:
                stay = stays.pop(mote)
                if stay.held:
                    yield Leave(value, mote, stay.newest_us)
            if not stays:
                del self._values[value]

    def held(self) -> list[Hold]:
        """All that is held."""
        return [
            Hold(value, mote, stay.newest_us) for value, mote, stay in self._stays() if stay.held
        ]

    def standing(self) -> Iterable[Enter | Hold]:
        """All that has been reported and still stands."""
        for value, mote, stay in self._stays():
            if stay.held:
                yield Hold(value, mote, stay.newest_us)
            elif stay.until_us != NOT_REPORTED_US:
                # What was repeated for a snapshot need not be repeated again soon.
                stay.until_us = stay.newest_us + self._window_us
                yield Enter(value, mote, stay.newest_us)

    def leases(self) -> Iterator[tuple[int, int]]:
        """The newest lease of each stay: mote and time."""
        for _, mote, stay in self._stays():
            yield mote, stay.newest_us

    def _stays(self) -> Iterator[tuple[int, int, _Stay]]:
        for value, stays in self._values.items():
            for mote, stay in stays.items():
                yield value, mote, stay

    def _is_over(self, stay: _Stay, now_us: int) -> bool:
        """Whether the mote's newest reading has left the window."""
        return stay.newest_us + self._window_us < now_us

    def _is_due(self, stay: _Stay, now_us: int) -> bool:
        """Whether the sink must soon hear of the stay, or hear of it again."""
        return (
            not stay.held
            and stay.newest_us + self._window_us > stay.until_us
            and now_us >= stay.until_us - self._margin_us
        )

    def _is_needed(self, value: int, now_us: int) -> bool:
        """Whether enough motes are active in a value for the sink to count them."""
        if self._needed == 1:
            return True
        active = sum(not self._is_over(stay, now_us) for stay in self._values[value].values())
        return active >= self._needed

    def _due_reports(self, value: int, now_us: int) -> list[Enter | Hold]:
        """Report the stays of a value that the sink must hear of, now that one of them was prolonged or began."""
        stays = self._values.get(value)
        if not stays:
            self._values.pop(value, None)
            return []
        if not self._is_needed(value, now_us):
            return []
        return [
            self._report(value, mote, stay, now_us)
            for mote, stay in stays.items()
            if self._is_due(stay, now_us) and not self._is_over(stay, now_us)
        ]

    def _report(self, value: int, mote: int, stay: _Stay, now_us: int) -> Enter | Hold:
        if self._rule is not None and self._rule.holds(stay.leases, now_us):
            stay.held = True
            return Hold(value, mote, stay.newest_us)
        stay.until_us = stay.newest_us + self._window_us
        return Enter(value, mote, stay.newest_us)

    def _end(self, value: int, mote: int) -> None:
        stays = self._values[value]
        stay = stays.pop(mote)
        if not stays:
            del self._values[value]
        if self._rule is not None:
            self._rule.ended(stay.leases)


class CountingHead:
    """The same, reporting how many motes are active in a value, whenever that changes."""

    def __init__(self, *, window_us: int, meets: bool = False) -> None:
        self._window_us = window_us
        self._needed = 2 if meets else 1
        self._newest_us: dict[int, dict[int, int]] = {}
        """By value and mote: the newest lease."""
        self._reported: dict[int, int] = {}
        """By value: how many, unless none."""

    def take(self, value: int, mote: int, at_us: int, now_us: int) -> list[Count]:
        """Take a mote's lease; returns what to report now."""
        if at_us + self._window_us < now_us:
            return []
        motes = self._newest_us.setdefault(value, {})
        motes[mote] = max(at_us, motes.get(mote, at_us))
        return self._changed(value)

    def due_us(self, value: int, mote: int, now_us: int) -> int | None:
        """When to look at a mote next; None if it is not active."""
        del now_us
        newest_us = self._newest_us.get(value, {}).get(mote)
        return None if newest_us is None else newest_us + self._window_us + 1

    def due(self, value: int, mote: int, now_us: int) -> list[Count]:
        """Look at a mote that is due; returns what to report now."""
        motes = self._newest_us[value]
        if motes[mote] + self._window_us >= now_us:
            return []
        del motes[mote]
        return self._changed(value)

    def release(self, members: AbstractSet[int]) -> Iterator[Count]:
        """Let go of the motes that are no `members` any longer."""
        for value in list(self._newest_us):
            motes = self._newest_us[value]
            self._newest_us[value] = {mote: us for mote, us in motes.items() if mote in members}
            yield from self._changed(value)

    def held(self) -> list[Count]:
        """All that is held."""
        return [Count(value, motes) for value, motes in self._reported.items()]

    def standing(self) -> Iterable[Count]:
        """All that has been reported and still stands."""
        return self.held()

    def leases(self) -> Iterator[tuple[int, int]]:
        """The newest lease of each active mote: mote and time."""
        for motes in self._newest_us.values():
            yield from motes.items()

    def _changed(self, value: int) -> list[Count]:
        """The number of motes active in a value, if the sink has another one."""
        motes = len(self._newest_us[value])
        if not motes:
            del self._newest_us[value]
        if motes < self._needed:
            motes = 0
        if motes == self._reported.get(value, 0):
            return []
        if motes:
            self._reported[value] = motes
        else:
            del self._reported[value]
        return [Count(value, motes)]
