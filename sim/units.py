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
"""Unit names as people write them, shortest unit first."""

DURATION_US_MAX: Final = 2**62
"""The longest duration that can be written: times to which it is added stay within 64 bits."""

_DURATION: Final = re.compile(r"(\d+)(?:\.(\d+))?\s*([a-z]+)")
_WHOLE_DIGITS_MAX: Final = len(str(DURATION_US_MAX))
_FRACTION_DIGITS_MAX: Final = 13
"""A day is 2^13 times an odd number of microseconds: with more decimals no part of it is whole."""


class DurationError(ValueError):
    """A text that is no duration, with what was expected instead."""


def to_us(seconds: float) -> int:
    """Seconds as the integer microseconds that the simulator counts in."""
    return round(seconds * US_PER_S)


def duration_us(text: str) -> int:
    """Microseconds of a length of time such as `60s`, `1.5min` or `250 ms`, without rounding.

    Raises:
        DurationError: The text is no length of time, no whole number of microseconds, or more than
            `DURATION_US_MAX`.
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None or match[3] not in UNITS_US:
        units = ", ".join(UNITS_US)
        raise DurationError(f"expected a number with a unit ({units}), such as 60s")
    whole, fraction = match[1].lstrip("0"), (match[2] or "").rstrip("0")
    # Digits are counted first, since Python refuses to read a number of thousands of them.
    too_long, uneven = len(whole) > _WHOLE_DIGITS_MAX, len(fraction) > _FRACTION_DIGITS_MAX
    us = 0
    if not too_long and not uneven:
        us, rest = divmod(int(f"0{whole}{fraction}") * UNITS_US[match[3]], 10 ** len(fraction))
        too_long, uneven = us > DURATION_US_MAX, rest > 0
    if too_long:
        raise DurationError(f"too long, expected at most {DURATION_US_MAX // UNITS_US['d']} d")
    if uneven:
        raise DurationError("expected a whole number of microseconds")
    return us
