"""The toy strategy, MAC and probing rule work in whole runs, and no product file knows them."""

import shutil
from pathlib import Path

import pytest

from tests.support.checkers.trace import Trace, check_trace
from tests.support.plugins import motejoin

TOYS = ("toy_strategy", "toy_mac", "toy_rule")
TICK_US = 10_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the toys in it."""
    for toy in TOYS:
        shutil.copy(Path(__file__).with_name(f"{toy}.py"), tmp_path)
    return tmp_path


def run(folder: Path, name: str, setting: str) -> Trace:
    """A short run whose trace all checkers accept."""
    words = ["run", "gas-cloud-small", "--set", "duration_s=60.0", "--set", setting, "--out", name]
    ran = motejoin(folder, *words, plugins=",".join(TOYS))
    assert ran.returncode == 0, ran.stderr
    return check_trace(folder / name)


def pairs(trace: Trace) -> set[tuple[object, ...]]:
    """The pairs of readings that were reported, each with its lower number first."""
    listed = "SELECT origin AS a, origin_at_us AS t, UNNEST(partners) AS p FROM results"
    return {
        *trace.rows(f"SELECT a, t, p.node, p.at_us FROM ({listed}) WHERE a < p.node"),
        *trace.rows(f"SELECT p.node, p.at_us, a, t FROM ({listed}) WHERE a > p.node"),
    }


def test_the_toy_strategy_joins_what_the_centralised_one_joins(folder: Path) -> None:
    direct = run(folder, "direct", "join.strategy=direct")
    central = run(folder, "central", "join.strategy=centralised")
    assert pairs(direct) == pairs(central)
    assert pairs(direct)
    ((heads,),) = direct.rows(
        "SELECT COUNT(*) FROM messages WHERE kind = 'reading' AND target <> -1"
    )
    assert heads == 0


def test_the_toy_mac_sends_unicasts_on_its_ticks_only(folder: Path) -> None:
    trace = run(folder, "run", "radio.mac=ticking")
    tick = f"at_us % {TICK_US}"
    assert trace.rows(f"SELECT DISTINCT {tick} FROM messages WHERE target IS NOT NULL") == [(0,)]


def test_the_toy_rule_probes_about_half_of_the_heads(folder: Path) -> None:
    trace = run(folder, "run", "join.feedback=coin-toss")
    ((share,),) = trace.rows("SELECT SUM(len(heads)) / SUM(known) FROM requests WHERE known > 0")
    assert share == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    ("key", "known"),
    [("join.strategy", "direct"), ("radio.mac", "ticking"), ("join.feedback", "coin-toss")],
)
def test_a_misspelt_name_is_refused_with_the_registered_ones(
    key: str, known: str, folder: Path
) -> None:
    words = ["run", "gas-cloud-small", "--set", f"{key}=tiking"]
    refused = motejoin(folder, *words, plugins=",".join(TOYS))
    assert refused.returncode == 2
    assert f"{key} = 'tiking': expected one of" in refused.stderr
    assert repr(known) in refused.stderr
