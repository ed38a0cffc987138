"""What each plan would have sent for the readings that a node has seen.

A *stay* is a time during which a mote's newest reading of a value is in the window; it takes a lease at its start and one
for about every window that it lasts. With D the hops from a mote or its head to the sink, G from a mote to the home of the value, H from that
home to the sink, bytes on air are

    sets     lease        each lease: reading · D
             change       each lease: reading · 1; each report: record · D; each confirmation of what is held: digest · D
             rendezvous   each lease: reading · G; each report of a stay that has a partner: record · H
    results  centralised  each reading: reading · D
             rendezvous   each reading: reading · G, and result · H if it has a partner
    both     placed       as results by `rendezvous`, with a home that moves (`join.strategies.automatic.placing`)

A report either lapses after a window, so that each lease takes another, or holds the mote until a second one ends that. Sites learn from
which lease on holding pays (`join.strategies.change.hold_rule`): reports are counted for several such rules, and the cheapest counts. What
messages cost is in `join.strategies.automatic.terrain`.
"""

from collections import Counter
from functools import partial

from join.strategies.automatic.placing import Placing
from join.strategies.automatic.plans import Plan
from join.strategies.automatic.terrain import NEIGHBOUR, Counts, Part, Terrain
from sim.trace.tables import SINK

NEVER = 1 << 30
READINGS_MOST = 100
"""That a lease is taken to stand for."""
HOLD_FROM = (1, 2, 3, NEVER)
"""Rules: from which lease of a stay on a site holds its mote."""


class Rhythm:
    """How long it takes from one lease of a stay to the next, learnt where leases themselves arrive.

    It is less than a window: a lease that is renewed has the mote's last reading, which is older than the renewal. How much older
    says how often the mote takes readings.
    """

    def __init__(self, window_us: int) -> None:
        self._window_us = window_us
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

    @property
    def readings(self) -> float:
        """About how many readings a lease stands for: a mote's last one is as old as there is time between two of them."""
        between_us = max(self._window_us // READINGS_MOST, self._window_us - self.gap_us)
        return max(1.0, self.gap_us / max(1, between_us)) if self._leases > 1 else 1.0


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
        self._reports: dict[Plan, dict[int, Counts]] = {
            plan: {rule: Counter() for rule in HOLD_FROM} for plan in (Plan.HEADS, Plan.HOMES)
        }
        """Reports of sites, by the rule that they follow."""
        self._placing = Placing(terrain, partial(self._send, Plan.PLACES), window_us=window_us)
        self._owed = 0.0
        """Readings that leases stood for and that have not been placed: less than one."""

    def restart(self) -> None:
        """Count anew; what is known of stays and places is kept.

        In the beginning every stay seems to be new, so that plans with most to do at its start seem dearer than they are.
        """
        for sent in self._sent.values():
            sent.clear()
        for by_rule in self._reports.values():
            for sent in by_rule.values():
                sent.clear()

    def lease(self, mote: int, head: int | None, value: int, at_us: int) -> None:
        """A mote's lease has arrived, where sets are asked for; its head may not be known."""
        stay, other = self._extend(mote, head, value, at_us, at_us + self._window_us)
        if at_us > stay.newest_us:
            self._rhythm.observe(at_us - stay.newest_us)
            stay.newest_us = at_us
        self._place(mote, value, stay, 1, at_us)
        self._charge(mote, value, stay, other, 1, at_us)

    def active(self, mote: int, head: int, value: int, read_us: int, until_us: int) -> None:
        """A head reports that a mote is active in a value through `until_us`; its newest reading known was at `read_us`."""
        stay, other = self._extend(mote, head, value, read_us, until_us)
        leases = self._due(stay, read_us)
        self._place(mote, value, stay, leases, read_us)
        self._charge(mote, value, stay, other, leases, read_us)

    def reading(self, mote: int, value: int, at_us: int) -> None:
        """A reading was joined, where results are asked for."""
        _, other = self._extend(mote, None, value, at_us, at_us + self._window_us)
        home = self._terrain.home_of(value)
        self._send(Plan.SINK, mote, SINK, Part.READING)
        self._send(Plan.HOMES, mote, home, Part.READING)
        partners = self._partners(value, at_us)
        self._placing.take(mote, value, at_us, partners)
        if other is not None:
            self._send(Plan.HOMES, home, SINK, Part.RESULT, *[Part.PARTNER] * partners)

    def bytes(self, now_us: int) -> dict[Plan, float]:
        """What each plan would have cost since counting began; stays that are held count up to now."""
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
        found = {plan: self._terrain.bytes(sent) for plan, sent in self._sent.items()}
        for plan, by_rule in self._reports.items():
            found[plan] += min(self._terrain.bytes(sent) for sent in by_rule.values())
        return found

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

    def _due(self, stay: _Stay, at_us: int) -> int:
        """How many leases more a stay has had by now."""
        return 1 + max(0, at_us - stay.first_us) // self._rhythm.gap_us - stay.leases

    def _partners(self, value: int, at_us: int) -> int:
        """How many other motes a reading of now joins."""
        return sum(stay.until_us >= at_us for stay in self._values[value].values()) - 1

    def _place(self, mote: int, value: int, stay: _Stay, leases: int, at_us: int) -> None:
        """Place the readings that new leases of a stay stand for."""
        if leases > 0:
            later = leases if stay.leases else leases - 1  # than the first, which is one reading
            self._owed += leases - later + later * self._rhythm.readings
            partners = self._partners(value, at_us)
            while self._owed >= 1.0:
                self._owed -= 1.0
                self._placing.take(mote, value, at_us, partners)

    def _charge(
        self, mote: int, value: int, stay: _Stay, other: _Stay | None, leases: int, now_us: int
    ) -> None:
        """Charge all plans with new leases of a stay that joins an `other` one."""
        home = self._terrain.home_of(value)
        # If its head is not known, it is taken to be about as far from the sink as the mote itself.
        site = mote if stay.head is None else stay.head
        for number in range(stay.leases + 1, stay.leases + leases + 1):
            self._send(Plan.LEASES, mote, SINK, Part.READING)
            self._send(Plan.HOMES, mote, home, Part.READING)
            if mote != stay.head:
                self._send(Plan.HEADS, mote, NEIGHBOUR, Part.READING)
            self._report(Plan.HEADS, site, number)
            if stay.matched:
                self._report(Plan.HOMES, home, number)
        stay.leases += max(0, leases)
        if other is not None:
            # A home reports those that it has not reported before, both in one message.
            fresh = [each.leases for each in (stay, other) if not each.matched]
            stay.matched = other.matched = True
            self._report(Plan.HOMES, home, *fresh, first=True)
        confirmed_us = self._confirmed_us.setdefault(site, now_us)
        if now_us - confirmed_us >= self._refresh_us:
            self._confirmed_us[site] = now_us
            for rule, sent in self._reports[Plan.HEADS].items():
                if stay.leases >= rule:
                    _count(sent, site, SINK, Part.NUMBER, Part.DIGEST)

    def _report(self, plan: Plan, site: int, *leases: int, first: bool = False) -> None:
        """Count a report of stays that have had so many leases, the `first` or not, under each rule; if they are held, its end, too."""
        for rule, sent in self._reports[plan].items():
            began: list[Part] = []
            for number in leases:
                if number < rule:
                    began.append(Part.PLAIN if rule == NEVER else Part.TIMED)
                elif number == rule or first:
                    began.append(Part.HOLD)
                    _count(sent, site, SINK, Part.NUMBER, Part.TIMED)
            if began:
                numbered = () if rule == NEVER else (Part.NUMBER,)
                _count(sent, site, SINK, *numbered, *began)

    def _send(self, plan: Plan, source: int, target: int, *parts: Part) -> None:
        """Count a message of a plan."""
        _count(self._sent[plan], source, target, *parts)


def _count(sent: Counts, source: int, target: int, *parts: Part) -> None:
    """Count a message of these parts."""
    if source != target:
        for part in (Part.FRAME, *parts):
            sent[source, target, part] += 1
