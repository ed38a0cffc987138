"""Leases, the mote's side of temporal suppression: a reading is sent only if what was sent before is about to lapse.

After Olston, Jiang & Widom (SIGMOD 2003) and Ken (Chu et al., ICDE 2006), who suppress what the receiver can predict. Here
the prediction is that a reading's mote stays active for a window ω: a reading sent at t is a lease through t + ω.

1. A reading of a value without a lease is sent at once.
2. While a lease runs, only the newest reading of the value is kept; those before it are *suppressed*.
3. When a lease is due for renewal, at t + ω − margin, the newest reading is sent if there is one, with its own time;
   else the lease is left to lapse, and the next reading is sent at once.

So the receiver knows at every instant whether the mote's newest reading of a value is in the window, late by no more than a
message takes, if that is less than the margin.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from join.reading import Reading

LEASES_LEAST: Final = 32
"""Leases of a mote among which those that have lapsed are not worth looking for."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """When leases are due for renewal, counted from the reading sent."""

    first_us: int
    """After the reading that opened the lease."""
    then_us: int
    """After each later one."""


class _Lease:
    """What a mote has sent of one value."""

    __slots__ = ("due_us", "newest", "sent", "unsent")

    def __init__(self, reading: Reading, due_us: int) -> None:
        self.sent = reading
        self.newest = reading
        self.unsent: Reading | None = None
        self.due_us: int | None = due_us
        """When it is to be renewed, on the mote's clock; None: it is left to lapse."""


class Leases:
    """The leases of all motes. Times are on each mote's own clock."""

    def __init__(self, *, window_us: int, renewal: Renewal) -> None:
        assert 0 < renewal.first_us <= window_us, renewal
        assert 0 < renewal.then_us <= window_us, renewal
        self._window_us = window_us
        self._renewal = renewal
        self._of: dict[int, dict[int, _Lease]] = {}
        """By mote and value."""
        self._most: dict[int, int] = {}
        """By mote: how many leases there may be before those that have lapsed are looked for."""

    def take(self, reading: Reading) -> tuple[bool, Reading | None]:
        """Take a new reading: whether to send it now, and the reading that it makes unnecessary to send."""
        leases = self._of.setdefault(reading.node, {})
        lease = leases.get(reading.value)
        if lease is None or lease.due_us is None:
            leases[reading.value] = _Lease(reading, reading.at_us + self._renewal.first_us)
            if len(leases) > self._most.get(reading.node, LEASES_LEAST):
                self._forget_lapsed(reading.node, reading.at_us)
            return True, None
        superseded, lease.unsent = lease.unsent, reading
        lease.newest = reading
        return False, superseded

    def due_us(self, node: int, value: int) -> int | None:
        """When the lease of a mote and value is due for renewal; None if it is not, or there is none."""
        lease = self._of.get(node, {}).get(value)
        return None if lease is None else lease.due_us

    def renew(self, node: int, value: int) -> Reading | None:
        """Renew a lease that is due: returns the reading to send; None: the lease is left to lapse."""
        lease = self._of[node][value]
        reading, lease.unsent = lease.unsent, None
        if reading is None:
            lease.due_us = None
            return None
        lease.sent = reading
        lease.due_us = reading.at_us + self._renewal.then_us
        return reading

    def standing(self, node: int, now_us: int) -> list[tuple[Reading, bool]]:
        """The newest reading in the window of each value of a mote, and whether it has been sent.

        From now on all of them count as sent.
        """
        found = []
        for value, lease in list(self._of.get(node, {}).items()):
            if lease.newest.at_us + self._window_us < now_us:
                if lease.due_us is None:
                    del self._of[node][value]
                continue
            found.append((lease.newest, lease.unsent is None))
            lease.sent, lease.unsent = lease.newest, None
            lease.due_us = lease.newest.at_us + self._renewal.then_us
        return found

    def _forget_lapsed(self, node: int, now_us: int) -> None:
        """Forget values that a mote no longer has; with values that go on changing they would pile up."""
        leases = self._of[node]
        for value, lease in list(leases.items()):
            if lease.due_us is None and lease.newest.at_us + self._window_us < now_us:
                del leases[value]
        self._most[node] = max(LEASES_LEAST, 2 * len(leases))

    def forget(self, node: int) -> list[Reading]:
        """Forget the leases of a mote that went down; returns the readings that it had yet to send."""
        leases = self._of.pop(node, {})
        return [lease.unsent for lease in leases.values() if lease.unsent is not None]

    def unsent(self) -> Iterator[Reading]:
        """All readings that were kept and not sent, by mote and value."""
        for node in sorted(self._of):
            for lease in self._of[node].values():
                if lease.unsent is not None:
                    yield lease.unsent
