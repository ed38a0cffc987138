"""Units of time: everything counts in integer microseconds, and people write seconds or `90s`."""

import re
from typing import Final

US_PER_S: Final = 1_000_000
US_PER_MS: Final = 1_000

UNITS_US: Final = {
    "us": 1,
    "ms": US_PER_MS,
    "s": US_PER_S,
    "min": 60 * US_PER_S,
    "h": 3_600 * US_PER_S,
    "d": 86_400 * US_PER_S,
}
"""What people write after a number of them, shortest first."""

DURATION_US_MAX: Final = 2**62
"""The longest duration that can be written: times to which it is added stay within 64 bits."""

_DURATION: Final = re.compile(r"(\d+)(?:\.(\d+))?\s*([a-z]+)")


def to_us(seconds: float) -> int:
    """Seconds as the integer microseconds that the simulator counts in."""
    return round(seconds * US_PER_S)


def duration_us(text: str) -> int | None:
    """Microseconds of a length of time such as `60s`, `1.5min` or `250 ms`; None if the text is none.

    It has to be a whole number of microseconds, at most `DURATION_US_MAX`.
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None or match[3] not in UNITS_US:
        return None
    fraction = match[2] or ""
    us, rest = divmod(int(match[1] + fraction) * UNITS_US[match[3]], 10 ** len(fraction))
    return None if rest or us > DURATION_US_MAX else us
