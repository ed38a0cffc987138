"""What each plan would have sent for the readings that a node has seen.

A *stay* is a time during which a mote's newest reading of a value is in the window; it takes a lease at its start and one
for about every window that it lasts. With D the hops from a mote or its head to the sink, G from a mote to the home of the value, H from that
home to the sink, bytes on air are

    sets     lease        each lease: reading · D
             change       each lease: reading · 1; each report: record · D; each confirmation of what is held: digest · D
             rendezvous   each lease: reading · G; each report of a stay that has a partner: record · H
    results  centralised  each reading: reading · D
             rendezvous   each reading: reading · G, and result · H if it has a partner

A stay of one lease takes one report, a longer one two: that it began, and that it ended. What that costs is in
`join.strategies.automatic.terrain`.
"""

from collections import Counter

from join.strategies.automatic.plans import Plan
from join.strategies.automatic.terrain import NEIGHBOUR, Counts, Part, Terrain
from sim.trace.tables import SINK

REPORTS_MOST = 2
"""Reports of a stay that is held."""
FIRST = (Part.PLAIN,)
LAST = (Part.NUMBER, Part.TIMED)
"""What the reports of a stay have in them."""


class Rhythm:
    """How long it takes from one lease of a stay to the next, learnt where leases themselves arrive.

    It is less than a window: a lease that is renewed has the mote's last reading, which is older than the renewal.
    """

    def __init__(self, window_us: int) -> None:
        self._total_us = window_us
        self._leases = 1

    def observe(self, gap_us: int) -> None:
        """Take note of the time between two leases."""
        self._total_us += gap_us
        self._leases += 1

    @property
    def gap_us(self) -> int:
        """The mean."""
        return max(1, self._total_us // self._leases)


class _Stay:
    """A mote's stay in a value."""

    __slots__ = ("first_us", "head", "leases", "matched", "newest_us", "until_us")

    def __init__(self, head: int | None, first_us: int) -> None:
        self.head = head
        self.first_us = first_us
        self.newest_us = first_us
        self.until_us = first_us
        self.leases = 0
        self.matched = False


class Estimates:
    """Bytes that plans would have cost."""

    def __init__(
        self, terrain: Terrain, rhythm: Rhythm, *, window_us: int, refresh_us: int
    ) -> None:
        """Estimate for a window, and heads that confirm what they hold every `refresh_us`.

        `rhythm` is learnt, or says how many leases a stay had.
        """
        self._terrain = terrain
        self._rhythm = rhythm
        self._window_us = window_us
        self._refresh_us = refresh_us
        self._confirmed_us: dict[int, int] = {}
        """By head: when it would have confirmed last what it holds."""
        self._values: dict[int, dict[int, _Stay]] = {}
        """By value and mote, those heard of last at the end."""
        self._sent: dict[Plan, Counts] = {plan: Counter() for plan in Plan}

    def lease(self, mote: int, head: int | None, value: int, at_us: int) -> None:
        """A mote's lease has arrived, where sets are asked for; its head may not be known."""
        stay, other = self._extend(mote, head, value, at_us, at_us + self._window_us)
        if at_us > stay.newest_us:
            self._rhythm.observe(at_us - stay.newest_us)
            stay.newest_us = at_us
        self._charge(mote, value, stay, other, 1, at_us)

    def active(self, mote: int, head: int, value: int, read_us: int, until_us: int) -> None:
        """A head reports that a mote is active in a value through `until_us`; its newest reading known was at `read_us`."""
        stay, other = self._extend(mote, head, value, read_us, until_us)
        leases = 1 + max(0, read_us - stay.first_us) // self._rhythm.gap_us - stay.leases
        self._charge(mote, value, stay, other, leases, read_us)

    def reading(self, mote: int, value: int, at_us: int) -> None:
        """A reading was joined, where results are asked for."""
        _, other = self._extend(mote, None, value, at_us, at_us + self._window_us)
        home = self._terrain.home_of(value)
        self._send(Plan.SINK, mote, SINK, Part.READING)
        self._send(Plan.HOMES, mote, home, Part.READING)
        if other is not None:
            partners = len(self._values[value]) - 1
            self._send(Plan.HOMES, home, SINK, Part.RESULT, *[Part.PARTNER] * partners)

    def bytes(self, now_us: int) -> dict[Plan, float]:
        """What each plan would have cost since the estimates began; stays that are held count up to now."""
        for value in list(self._values):
            stays = self._values[value]
            for mote, stay in list(stays.items()):
                if stay.until_us < now_us:
                    del stays[mote]
                elif stay.until_us > now_us + self._window_us and stay.head is not None:
                    # Held by its head. Without one, its mote's clock is just ahead of this one.
                    self.active(mote, stay.head, value, now_us, stay.until_us)
            if not stays:
                del self._values[value]
        return {plan: self._terrain.bytes(sent) for plan, sent in self._sent.items()}

    def _extend(
        self, mote: int, head: int | None, value: int, at_us: int, until_us: int
    ) -> tuple[_Stay, _Stay | None]:
        """Extend a mote's stay, or begin one: the stay, and one of another mote that joins it."""
        stays = self._values.setdefault(value, {})
        stay = stays.pop(mote, None)
        if stay is None or stay.until_us < at_us:
            stay = _Stay(head, at_us)
        other = next((each for each in reversed(stays.values()) if each.until_us >= at_us), None)
        stays[mote] = stay
        stay.until_us = until_us
        return stay, other

    def _charge(
        self, mote: int, value: int, stay: _Stay, other: _Stay | None, leases: int, now_us: int
    ) -> None:
        """Charge all plans with new leases of a stay that joins an `other` one."""
        home = self._terrain.home_of(value)
        if other is not None:
            self._meet(stay, other, home)
        # If its head is not known, it is taken to be about as far from the sink as the mote itself.
        site = mote if stay.head is None else stay.head
        for number in range(stay.leases + 1, stay.leases + leases + 1):
            self._send(Plan.LEASES, mote, SINK, Part.READING)
            self._send(Plan.HOMES, mote, home, Part.READING)
            if mote != stay.head:
                self._send(Plan.HEADS, mote, NEIGHBOUR, Part.READING)
            if number <= REPORTS_MOST:
                self._send(Plan.HEADS, site, SINK, *(FIRST if number == 1 else LAST))
                if stay.matched and number > 1:
                    self._send(Plan.HOMES, home, SINK, *LAST)
        stay.leases += max(0, leases)
        if stay.leases >= REPORTS_MOST:
            confirmed_us = self._confirmed_us.setdefault(site, now_us)
            if now_us - confirmed_us >= self._refresh_us:
                self._confirmed_us[site] = now_us
                self._send(Plan.HEADS, site, SINK, Part.NUMBER, Part.DIGEST)

    def _meet(self, stay: _Stay, other: _Stay, home: int) -> None:
        """Let a home report two stays that join, unless it has: both in one message."""
        fresh = (not stay.matched) + (not other.matched)
        stay.matched = other.matched = True
        if fresh:
            self._send(Plan.HOMES, home, SINK, *[Part.PLAIN] * fresh)

    def _send(self, plan: Plan, source: int, target: int, *parts: Part) -> None:
        """Count a message of these parts."""
        if source != target:
            sent = self._sent[plan]
            for part in (Part.FRAME, *parts):
                sent[source, target, part] += 1
