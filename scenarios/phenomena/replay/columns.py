"""Columns of a recorded file as numbers and as times; what cannot be read is left out row by row."""

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_SECOND_NS: Final = 1_000_000_000
_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": _SECOND_NS}
_NUMBER: Final = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_DATE: Final = (
    r"^(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})"
    r"[ T](?P<hour>\d{2}):(?P<minute>\d{2}):(?P<second>\d{2})(?:\.(?P<fraction>\d{1,9}))?"
    r"(?:Z|(?P<sign>[+-])(?P<off_hour>\d{2}):?(?P<off_minute>\d{2})?)?$"
)
# The years that all fit into 64 bits of nanoseconds.
_YEARS: Final = (1678, 2261)


def numbers(column: Any) -> tuple[Floats, Flags]:  # noqa: ANN401
    """A column as numbers, not-a-number where it has none, and where it is empty."""
    if _is_text(column):
        text = _trimmed(column)
        empty = pc.equal(text, "")
        legible = pc.match_substring_regex(text, _NUMBER)
        cells = pc.if_else(legible, text, "nan").cast(pa.float64())
    else:
        empty = pc.is_null(column)
        # Integers beyond 2^53 are rounded to the next number that there is.
        cells = pc.fill_null(column.cast(pa.float64(), safe=False), float("nan"))
    found = cells.to_numpy().astype(np.float64)
    return np.where(np.isfinite(found), found, np.nan), empty.to_numpy().astype(np.bool_)


def times_s(column: Any, unit_s: float) -> tuple[Floats, Flags]:  # noqa: ANN401
    """A column as seconds, and where it could be read: numbers of some unit, or dates with times."""
    if _is_text(column):
        text = _trimmed(column)
        if pc.any(pc.match_substring_regex(text, _DATE)).as_py():
            return _dates_s(text)
    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("s"))
    if pa.types.is_timestamp(column.type) or pa.types.is_duration(column.type):
        known = pc.is_valid(column).to_numpy().astype(np.bool_)
        ticks = pc.fill_null(column.cast(pa.int64()), 0).to_numpy().astype(np.float64)
        return ticks * (_SECOND_NS // _PER_SECOND[column.type.unit]) / _SECOND_NS, known
    found, _ = numbers(column)
    return found * unit_s, ~np.isnan(found)


def _dates_s(text: Any) -> tuple[Floats, Flags]:  # noqa: ANN401
    """Dates with times, in seconds since 1970; one without an offset is taken for UTC."""
    fields = pc.extract_regex(text, _DATE)
    dated = pc.is_valid(fields).to_numpy().astype(np.bool_)

    def part(name: str) -> Ints:
        digits = pc.fill_null(pc.struct_field(fields, name), "")
        filled = pc.if_else(pc.equal(digits, ""), "0", digits)
        found: Ints = filled.cast(pa.int64()).to_numpy()
        return found

    year, month, day = part("year"), part("month"), part("day")
    hour, minute, second = part("hour"), part("minute"), part("second")
    off_hour, off_minute = part("off_hour"), part("off_minute")
    first = (np.clip(year, *_YEARS) - 1970) * 12 + np.clip(month, 1, 12) - 1
    date = first.astype("datetime64[M]").astype("datetime64[D]") + (day - 1)
    exists = dated & (year >= _YEARS[0]) & (year <= _YEARS[1]) & (month >= 1) & (month <= 12)
    # A day too many is in the next month.
    exists &= (day >= 1) & (date.astype("datetime64[M]").astype(np.int64) == first)
    exists &= (hour < 24) & (minute < 60) & (second < 60) & (off_hour < 24) & (off_minute < 60)
    ahead = np.where(_is_minus(fields), -1, 1) * (off_hour * 60 + off_minute) * 60
    since_s = date.astype(np.int64) * 86_400 + hour * 3600 + minute * 60 + second - ahead
    fraction = pc.utf8_rpad(pc.fill_null(pc.struct_field(fields, "fraction"), ""), 9, "0")
    since_ns = since_s * _SECOND_NS + fraction.cast(pa.int64()).to_numpy()
    return np.where(exists, since_ns, 0).astype(np.float64) / _SECOND_NS, exists


def _is_minus(fields: Any) -> Flags:  # noqa: ANN401
    minus = pc.fill_null(pc.equal(pc.struct_field(fields, "sign"), "-"), fill_value=False)
    flags: Flags = minus.to_numpy().astype(np.bool_)
    return flags


def _is_text(column: Any) -> bool:  # noqa: ANN401
    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


def _trimmed(column: Any) -> Any:  # noqa: ANN401
    return pc.utf8_trim_whitespace(pc.fill_null(column, ""))
