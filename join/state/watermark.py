"""An operator's event time: which tuples are late, and which are implausibly early.

Paper                            Here
current time (SNJoin §2.2)       `at_us`, the newest time seen or announced
epsilon, the error factor        `late_us`

The papers leave "current time" open. A wall clock would make results depend on the machine, and the
newest timestamp alone lets one wrong value make everything after it late; so time is the newest timestamp,
and a timestamp that jumps ahead by more than `FUTURE_US_MAX` is rejected.
"""

from typing import Final

from sim.units import UNITS_US

FUTURE_US_MAX: Final = 366 * UNITS_US["d"]
"""How far ahead of the newest tuple a tuple may be: allows a year of silence, rejects a mixed-up unit."""


class Watermark:
    """The newest event time, and counts of the tuples rejected because of it."""

    __slots__ = ("at_us", "future_us", "late", "late_us", "refused")

    def __init__(self, *, late_us: int, future_us: int = FUTURE_US_MAX) -> None:
        assert late_us >= 0, late_us
        assert future_us >= 0, future_us
        self.late_us = late_us
        self.future_us = future_us
        self.at_us: int | None = None
        """None until the first tuple."""
        self.late = 0
        self.refused = 0

    def admit(self, at_us: int) -> bool:
        """Whether a tuple of this time is neither late nor too far ahead; counts the tuples rejected."""
        now_us = self.at_us
        if now_us is None:
            self.at_us = at_us
            return True
        ahead_us = at_us - now_us
        if ahead_us > 0:
            if ahead_us > self.future_us:
                self.refused += 1
                return False
            self.at_us = at_us
            return True
        if ahead_us >= -self.late_us:
            return True
        self.late += 1
        return False

    def advance(self, at_us: int) -> None:
        """Advance event time to `at_us`."""
        if self.at_us is None or at_us > self.at_us:
            self.at_us = at_us
