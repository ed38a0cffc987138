"""Durations: one set of units and one limit for command lines, files and queries."""

from collections.abc import Callable

import pytest

from join.dsms.language.errors import QueryError
from join.dsms.language.parse import parse
from scenarios.files.window_text import parse_duration_us
from sim.errors import InputError, MoteJoinError
from sim.units import DURATION_US_MAX, UNITS_US, DurationError, duration_us


def option_us(text: str) -> int:
    return parse_duration_us(text, "--window")


def query_us(text: str) -> int:
    window_us = parse(f"SELECT x FROM S WINDOW {text}").window_us
    assert window_us is not None
    return window_us


readers = pytest.mark.parametrize("read", [duration_us, option_us, query_us])
DAYS, REST_US = divmod(DURATION_US_MAX, UNITS_US["d"])
assert REST_US


@readers
@pytest.mark.parametrize(
    ("text", "us"),
    [
        ("0s", 0),
        ("250 ms", 250_000),
        ("1.5min", 90_000_000),
        ("0.000001s", 1),
        ("1.10000000000000000000ms", 1_100),
        ("0.0001220703125d", 10_546_875),
        ("0" * 5_000 + "7s", 7_000_000),
        # A float has 53 bits: too few for these.
        ("4611686018427387903us", DURATION_US_MAX - 1),
        ("4611686018427387.903 ms", DURATION_US_MAX - 1),
        (f"{DURATION_US_MAX}us", DURATION_US_MAX),
        (f"{DAYS}d", DAYS * UNITS_US["d"]),
    ],
)
def test_durations_are_read_exactly_up_to_the_limit(
    read: Callable[[str], int], text: str, us: int
) -> None:
    assert read(text) == us


@readers
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{DURATION_US_MAX + 1}us", "too long"),
        (f"{DAYS + 1}d", f"too long, expected at most {DAYS} d"),
        ("9" * 5_000 + "s", "too long"),
        ("0.5us", "a whole number of microseconds"),
        ("1.0000001s", "a whole number of microseconds"),
        ("0.00006103515625d", "a whole number of microseconds"),
        ("1." + "3" * 5_000 + "s", "a whole number of microseconds"),
    ],
)
def test_no_other_duration_is_read(read: Callable[[str], int], text: str, says: str) -> None:
    with pytest.raises((DurationError, MoteJoinError), match=says):
        read(text)


@pytest.mark.parametrize("text", ["", "60", "s", "60 weeks", "-1s", "1.s", "1e3s"])
def test_what_is_no_duration_is_refused_with_the_units_there_are(text: str) -> None:
    with pytest.raises(InputError, match=r"^--late = .*\(us, ms, s, min, h, d\), such as 60s$"):
        parse_duration_us(text, "--late")


@pytest.mark.parametrize("text", ["2 sec", "2SECONDS", "2 Second", "2s"])
def test_queries_may_spell_units_out(text: str) -> None:
    assert query_us(text) == 2 * UNITS_US["s"]


def test_queries_refuse_what_has_no_unit() -> None:
    with pytest.raises(QueryError, match="60 has no unit; write 60 s"):
        query_us("60")
