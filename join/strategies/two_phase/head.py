"""What a head sends to the sink: the newest reading of each value now and then, and candidates when they are called for.

A head keeps its members' readings for a window. Of each value it sends

1. the first reading, and the newest one when the last one sent is about to leave the window, if there is a newer one (as
   leases do, `join.strategies.mote_leases`): so the sink knows at every instant whether the head holds readings of a value;
2. every reading up to the time that the sink has called for, those kept included: some other head has readings of the value;
   and the first one after that time, upon which the sink calls again if need be;
3. readings of different members that join with each other, without being called for.

No reading is sent twice.
"""

from collections.abc import Iterable, Iterator

from join.reading import Reading

NOT_CALLED_US = -(1 << 62)
"""Before any time."""


class _Held:
    """The readings of one value."""

    __slots__ = ("called_us", "kept", "reminds", "sent_us", "vouched_us")

    def __init__(self) -> None:
        self.kept: list[Reading] = []
        """Not sent, in order of arrival."""
        self.sent_us: dict[int, int] = {}
        """By mote: the newest reading sent."""
        self.called_us = NOT_CALLED_US
        """Up to what time the sink has called for readings."""
        self.reminds = False
        """Whether the next reading after that time is sent too."""
        self.vouched_us: int | None = None
        """The time of the newest reading sent."""


class CandidateHead:
    """The readings that a head keeps, and those it sends. Times are on its own clock."""

    def __init__(self, *, window_us: int, margin_us: int, keep_us: int) -> None:
        """Set up a head.

        Args:
            window_us: ω.
            margin_us: How long before the newest reading sent leaves the window the next one is sent.
            keep_us: How long readings are kept; longer than a window, since calls take time.
        """
        self._window_us = window_us
        self._renewal_us = window_us - margin_us
        self._keep_us = keep_us
        self._values: dict[int, _Held] = {}

    def take(self, reading: Reading, now_us: int) -> list[Reading]:
        """Take a member's reading; returns what to send now, oldest first."""
        held = self._values.setdefault(reading.value, _Held())
        partners = [each for each in held.kept if self._joins(each, reading)]
        since_us = reading.at_us - self._window_us
        is_candidate = (
            bool(partners)
            or reading.at_us <= held.called_us
            or any(us >= since_us and mote != reading.node for mote, us in held.sent_us.items())
        )
        held.kept.append(reading)
        if is_candidate:
            return self._send(held, [*partners, reading])
        if held.reminds or held.vouched_us is None or now_us >= held.vouched_us + self._renewal_us:
            held.reminds = False
            return self._send(held, [reading])
        return []

    def call(self, value: int, until_us: int) -> list[Reading]:
        """Take a call for readings up to `until_us`; returns what to send now."""
        held = self._values.setdefault(value, _Held())
        held.called_us = max(held.called_us, until_us)
        held.reminds = True
        return self._send(held, [each for each in held.kept if each.at_us <= held.called_us])

    def due_us(self, value: int) -> int | None:
        """When the newest reading sent of a value is about to leave the window; None if none was sent."""
        held = self._values.get(value)
        if held is None or held.vouched_us is None:
            return None
        return held.vouched_us + self._renewal_us

    def due(self, value: int) -> list[Reading]:
        """Look at a value that is due; returns what to send now."""
        held = self._values[value]
        newest = max(held.kept, key=_time, default=None)
        if newest is None or held.vouched_us is None or newest.at_us <= held.vouched_us:
            return []
        return self._send(held, [newest])

    def expire(self, now_us: int, value: int | None = None) -> Iterator[Reading]:
        """Let go of readings that are too old to be called for; yields those that never had to be sent."""
        for each in list(self._values) if value is None else [value]:
            held = self._values.get(each)
            if held is None:
                continue
            earliest_us = now_us - self._keep_us
            yield from (reading for reading in held.kept if reading.at_us < earliest_us)
            held.kept = [reading for reading in held.kept if reading.at_us >= earliest_us]
            held.sent_us = {mote: us for mote, us in held.sent_us.items() if us >= earliest_us}
            if not held.kept and not held.sent_us and held.called_us < earliest_us:
                del self._values[each]

    def kept(self) -> Iterator[Reading]:
        """All readings that have not been sent."""
        for held in self._values.values():
            yield from held.kept

    def _joins(self, one: Reading, other: Reading) -> bool:
        return one.node != other.node and abs(one.at_us - other.at_us) <= self._window_us

    def _send(self, held: _Held, readings: Iterable[Reading]) -> list[Reading]:
        chosen = sorted(readings, key=_time)
        for reading in chosen:
            held.kept.remove(reading)
            held.sent_us[reading.node] = max(
                reading.at_us, held.sent_us.get(reading.node, reading.at_us)
            )
            if held.vouched_us is None or reading.at_us > held.vouched_us:
                held.vouched_us = reading.at_us
        return chosen


def _time(reading: Reading) -> int:
    return reading.at_us
