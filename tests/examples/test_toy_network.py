"""The toy strategy, MAC and probing rule work in whole runs, and no product file knows them."""

from pathlib import Path

import pytest

from tests.examples import toy_mac, toy_rule, toy_strategy  # noqa: F401 - importing registers them
from tests.support.checkers.trace import Trace, check_trace
from tests.support.runs import fails, run_here

SHORT = ("--set", "duration_s=60.0")


def run(out: Path, *settings: str) -> Trace:
    """A short run whose trace all checkers accept."""
    run_here(out, *SHORT, *(word for each in settings for word in ("--set", each)))
    return check_trace(out)


def pairs(trace: Trace) -> set[tuple[object, ...]]:
    """The pairs of readings that were reported, each with its lower number first."""
    listed = "SELECT origin AS a, origin_at_us AS t, UNNEST(partners) AS p FROM results"
    return {
        *trace.rows(f"SELECT a, t, p.node, p.at_us FROM ({listed}) WHERE a < p.node"),
        *trace.rows(f"SELECT p.node, p.at_us, a, t FROM ({listed}) WHERE a > p.node"),
    }


def test_the_toy_strategy_joins_what_the_centralised_one_joins(tmp_path: Path) -> None:
    direct = run(tmp_path / "direct", "join.strategy=direct")
    central = run(tmp_path / "central", "join.strategy=centralised")
    assert pairs(direct) == pairs(central)
    assert pairs(direct)
    ((heads,),) = direct.rows(
        "SELECT COUNT(*) FROM messages WHERE kind = 'reading' AND target <> -1"
    )
    assert heads == 0


def test_the_toy_mac_sends_unicasts_on_its_ticks_only(tmp_path: Path) -> None:
    trace = run(tmp_path / "run", "radio.mac=ticking")
    tick = f"at_us % {toy_mac.TICK_US}"
    assert trace.rows(f"SELECT DISTINCT {tick} FROM messages WHERE target IS NOT NULL") == [(0,)]


def test_the_toy_rule_probes_about_half_of_the_heads(tmp_path: Path) -> None:
    trace = run(tmp_path / "run", "join.feedback=coin-toss")
    ((share,),) = trace.rows("SELECT SUM(len(heads)) / SUM(known) FROM requests WHERE known > 0")
    assert share == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("key", ["join.strategy", "radio.mac", "join.feedback"])
def test_a_misspelt_name_is_refused_with_the_registered_ones(
    key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = fails(capsys, "run", "gas-cloud-small", "--set", f"{key}=tiking")
    assert f"{key} = 'tiking': expected one of" in said
