"""What each plan would have cost for the readings that a node has seen: the cost model of `automatic`.

A *stay* is a time during which a mote's newest reading of a value is in the window; it takes a lease at its start and one
for about every window that it lasts. With D the hops from a mote or its head to the sink, G from a mote to the home of the value, H from that
home to the sink, bytes on air are

    sets     lease        each lease: reading · D
             change       each lease: reading · 1 + record · D, the latter at most twice per stay (it is held)
             rendezvous   each lease: reading · G, and as many records · H if the stay has a partner
    results  centralised  each reading: reading · D
             rendezvous   each reading: reading · G, and result · H if it has a partner
"""

from collections.abc import Mapping

from join.strategies.automatic.plans import Plan
from join.strategies.automatic.terrain import Terrain
from join.strategies.message_sizes import NODE_BYTES, TIME_BYTES, request_bytes

REPORTS_MOST = 2
"""Reports of a stay that is held: one that it began, one that it ended."""


class _Stay:
    """A mote's stay in a value."""

    __slots__ = ("first_us", "head", "leases", "matched", "until_us")

    def __init__(self, head: int | None, first_us: int) -> None:
        self.head = head
        self.first_us = first_us
        self.until_us = first_us
        self.leases = 0
        self.matched = False


class Estimates:
    """Bytes that plans would have cost."""

    def __init__(self, terrain: Terrain, *, window_us: int, renew_us: int) -> None:
        """Estimate for a window; leases are renewed every `renew_us`."""
        self._terrain = terrain
        self._window_us = window_us
        self._renew_us = renew_us
        self._values: dict[int, dict[int, _Stay]] = {}
        """By value and mote, those heard of last at the end."""
        self._bytes = dict.fromkeys(Plan, 0.0)

    def lease(self, mote: int, head: int | None, value: int, read_us: int, until_us: int) -> None:
        """A mote is active in a value through `until_us`, where sets are asked for; its newest reading was at `read_us`.

        If its head is not known, it is taken to be about as far from the sink as the mote itself.
        """
        stay, other, leases = self._extend(mote, head, value, read_us, until_us)
        terrain = self._terrain
        home = terrain.home_of(value)
        if other is not None:
            for each in (stay, other):
                if not each.matched:
                    each.matched = True
                    reports = min(REPORTS_MOST, each.leases)
                    self._bytes[Plan.HOMES] += reports * terrain.depth(home) * terrain.record_bytes
        reading = terrain.reading_bytes
        self._bytes[Plan.LEASES] += leases * reading * terrain.depth(mote)
        for number in range(stay.leases + 1, stay.leases + leases + 1):
            record = terrain.record_bytes if number <= REPORTS_MOST else 0.0
            if mote != head:
                self._bytes[Plan.HEADS] += reading
            self._bytes[Plan.HEADS] += record * terrain.depth(mote if head is None else head)
            self._bytes[Plan.HOMES] += reading * terrain.hops(mote, home)
            if stay.matched:
                self._bytes[Plan.HOMES] += record * terrain.depth(home)
        stay.leases += leases

    def reading(self, mote: int, value: int, at_us: int) -> None:
        """A reading was joined, where results are asked for."""
        stay, other, leases = self._extend(mote, None, value, at_us, at_us + self._window_us)
        stay.leases += leases
        terrain = self._terrain
        home = terrain.home_of(value)
        self._bytes[Plan.SINK] += terrain.reading_bytes * terrain.depth(mote)
        self._bytes[Plan.HOMES] += terrain.reading_bytes * terrain.hops(mote, home)
        if other is not None:
            partners = len(self._values[value]) - 1
            result = request_bytes(0, partners * (NODE_BYTES + TIME_BYTES)) + terrain.frame_bytes
            self._bytes[Plan.HOMES] += result * terrain.depth(home)

    def bytes(self, now_us: int) -> Mapping[Plan, float]:
        """What each plan would have cost since the estimates began; stays that are held count up to now."""
        for value in list(self._values):
            stays = self._values[value]
            for mote, stay in list(stays.items()):
                if stay.until_us < now_us:
                    del stays[mote]
                elif stay.until_us > now_us + self._window_us:
                    self.lease(mote, stay.head, value, now_us, stay.until_us)
            if not stays:
                del self._values[value]
        return self._bytes

    def _extend(
        self, mote: int, head: int | None, value: int, at_us: int, until_us: int
    ) -> tuple[_Stay, _Stay | None, int]:
        """Extend a mote's stay, or begin one: the stay, one of another mote that joins it, and how many leases are new."""
        stays = self._values.setdefault(value, {})
        stay = stays.pop(mote, None)
        if stay is None or stay.until_us < at_us:
            stay = _Stay(head, at_us)
        other = next((each for each in reversed(stays.values()) if each.until_us >= at_us), None)
        stays[mote] = stay
        stay.until_us = until_us
        leases = 1 + max(0, at_us - stay.first_us) // self._renew_us - stay.leases
        return stay, other, max(0, leases)
