"""Windows as people write them: `60s`, `100tuples`, `A=10s`, `A-B=10s,B-C=5s`, `A>B=3s`."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from join.contract import Stream
from join.windows import LastTuples, Pairs, PairWindow, PerStream, Uniform, Windows
from sim.errors import InputError
from sim.units import DurationError, duration_us

_WHOLE: Final = re.compile(r"-?\d{1,20}")
_TIME_US_MAX: Final = 2**63 - 1
_TUPLES: Final = re.compile(r"(\d+)\s*tuples?")


def parse_duration_us(text: str, name: str) -> int:
    """Microseconds of a length of time such as `60s`, `1.5min` or `250ms`.

    Raises:
        InputError: The text is no such length of time.
    """
    try:
        return duration_us(text)
    except DurationError as error:
        raise InputError(f"{name} = {text!r}: {error}") from None


def parse_time_us(text: str, name: str) -> int:
    """A time as recordings have it: microseconds, or with a unit as in `90s`.

    Raises:
        InputError: The text is no time, or one that no recording can have.
    """
    try:
        time_us = int(text) if _WHOLE.fullmatch(text.strip()) else parse_duration_us(text, name)
    except InputError as error:
        raise InputError(f"{error}, or whole microseconds") from None
    if not -_TIME_US_MAX <= time_us <= _TIME_US_MAX:
        raise InputError(f"{name} = {text}: expected a time below 2^63 microseconds")
    return time_us


def parse_window(text: str) -> Uniform | LastTuples:
    """The window of `--window`: a length of time, or `100tuples`."""
    match = _TUPLES.fullmatch(text.strip())
    if match is None:
        return Uniform(parse_duration_us(text, "--window"))
    count = int(match[1])
    if count < 1:
        raise InputError(f"--window = {text!r}: expected at least one tuple")
    return LastTuples(count)


def parse_windows(
    text: str, *, default: Uniform | None, streams: Sequence[str], two_way: bool
) -> Windows:
    """The windows of `--windows`: per stream, or between pairs of streams.

    Args:
        text: Windows with commas between them.
        default: The window of streams that are not listed.
        streams: The streams there are, by which a hyphen or `>` inside a name is understood; empty: not known.
        two_way: Directed windows hold in both directions.

    Raises:
        InputError: With everything that is wrong.
    """
    faults: list[str] = []
    per_stream: dict[Stream, int] = {}
    pairs: list[PairWindow] = []
    for entry in text.split(","):
        names, equals, length = entry.strip().rpartition("=")
        if not equals or not names:
            faults.append(f"--windows: {entry.strip()!r}: expected A=10s, A-B=10s or A>B=10s")
            continue
        try:
            window_us = parse_duration_us(length, f"--windows: {names}")
            pair = _pair(names.strip(), streams)
        except InputError as error:
            faults.append(str(error))
            continue
        if pair is None:
            if names.strip() in per_stream:
                faults.append(f"--windows: {names.strip()} has two windows")
            per_stream[names.strip()] = window_us
        else:
            first, second, directed = pair
            pairs.append(PairWindow(first, second, window_us, directed))
    named = [*per_stream, *(end for pair in pairs for end in (pair.first, pair.second))]
    unknown = dict.fromkeys(name for name in named if streams and name not in streams)
    faults += [f"--windows: {name} is none of the streams {', '.join(streams)}" for name in unknown]
    if per_stream and pairs:
        faults.append("--windows: windows per stream and windows between pairs do not mix")
    if pairs and default is not None:
        faults.append("--windows: windows between pairs leave nothing for --window to say")
    if two_way and not any(pair.directed for pair in pairs):
        faults.append("--two-way: expected directed windows such as A>B=3s in --windows")
    if faults:
        raise InputError("\n".join(faults))
    if pairs:
        return Pairs(tuple(pairs), two_way=two_way)
    return PerStream(per_stream, default_us=None if default is None else default.window_us)


def named_streams(windows: Windows) -> list[str] | None:
    """The streams that the windows name, when no other can have a window."""
    match windows:
        case Pairs():
            return [str(stream) for stream in windows.streams()]
        case PerStream(windows_us, None):
            return [str(stream) for stream in windows_us]
        case _:
            return None


def _pair(names: str, streams: Iterable[str]) -> tuple[str, str, bool] | None:
    """The two streams of a window, and whether it is directed; None if only one is named."""
    known = set(streams)
    if names in known:
        return None
    marks = [place for place, mark in enumerate(names) if mark in "->"]
    splits = [(names[:p].strip(), names[p + 1 :].strip(), names[p] == ">") for p in marks]
    fitting = [split for split in splits if not known or known >= set(split[:2])]
    if not marks or (known and not fitting and len(splits) != 1):
        if marks:
            raise InputError(f"--windows: {names!r} names no two of the streams {sorted(known)}")
        return None
    if not fitting:
        fitting = splits
    if len(fitting) > 1:
        raise InputError(f"--windows: {names!r} can be read in several ways: use --streams")
    first, second, directed = fitting[0]
    if not first or not second or first == second:
        raise InputError(f"--windows: {names!r}: expected two different streams")
    return first, second, directed
