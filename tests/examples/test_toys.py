"""What users add in one file that calls `register(…)`, run as they would: no file of the product is edited."""

import csv
import json
import shutil
from pathlib import Path

import pytest

from scenarios.files.shipped import shipped_scenarios
from sim.trace.manifest import read_complete
from tests.support.checkers.trace import check_trace
from tests.support.plugins import motejoin

HERE = Path(__file__).parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the toys in it, and a scenario that uses them."""
    for toy in HERE.glob("toy_*.py"):
        shutil.copy(toy, tmp_path)
    text = shipped_scenarios()["gas-cloud-small"].partition("[phenomenon]")[0]
    text = text.replace('protocol = "heed"', 'protocol = "toy"\none_in = 8')
    (tmp_path / "tide.toml").write_text(f'{text}[phenomenon]\nkind = "toy"\nperiod_s = 40.0\n')
    return tmp_path


def test_a_run_with_a_protocol_and_a_phenomenon_of_ones_own(folder: Path) -> None:
    done = motejoin(
        folder, "run", "tide.toml", "--out", "run", plugins="toy_protocol, toy_phenomenon"
    )
    assert done.returncode == 0, done.stderr
    manifest = read_complete(folder / "run")
    assert manifest.scenario["clustering"]["one_in"] == 8
    assert manifest.scenario["phenomenon"] == {"kind": "toy", "period_s": 40.0}
    assert manifest.counts["mean_heads"] >= 200 / 8
    assert manifest.counts["tracking"]["coverage"] > 0.5
    check_trace(folder / "run")


def test_mistakes_are_reported_as_in_any_other_table(folder: Path) -> None:
    wrong = ["clustering.one_in=1", "phenomenon.perid_s=3.0"]
    words = [word for setting in wrong for word in ("--set", setting)]
    done = motejoin(folder, "run", "tide.toml", *words, plugins="toy_protocol,toy_phenomenon")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "tide.toml: clustering.one_in = 1: expected a number of at least 2",
        (
            "tide.toml: phenomenon.perid_s = 3.0: unknown key (did you mean 'period_s'?);"
            " known here: kind, period_s"
        ),
    ]


def test_without_them_a_scenario_says_what_there_is(folder: Path) -> None:
    done = motejoin(folder, "run", "tide.toml")
    assert done.returncode == 2
    assert "clustering.protocol = 'toy': expected one of 'dca', 'grid', 'heed'" in done.stderr
    assert "clustering.one_in = 8: unknown key" in done.stderr
    assert "phenomenon.kind = 'toy': expected one of 'data-centre', 'gas-cloud'" in done.stderr


def test_an_election_by_a_protocol_of_ones_own(folder: Path) -> None:
    words = ["--protocol", "toy", "--one-in", "5", "--nodes", "100", "--side", "200", "--json"]
    done = motejoin(folder, "cluster", *words, plugins="toy_protocol")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert (figures["protocol"], figures["heads"], figures["uncovered"]) == ("toy", 20, 0)
    shown = motejoin(folder, "cluster", "--help", plugins="toy_protocol").stdout
    assert "toy: one mote of so many leads (default: 10)" in " ".join(shown.split())


def test_a_query_with_an_aggregate_of_ones_own(folder: Path) -> None:
    (folder / "s.csv").write_text("id,v,at_us\n1,4,1\n1,9,2\n2,7,3\n1,2,2000000\n1,5,9000000\n")
    sql = "SELECT id, Range_Of(v) AS spread FROM S [RANGE 3 s] GROUP BY id"
    words = ["query", sql, "--stream", "S=s.csv", "--out", "a.csv"]
    done = motejoin(folder, *words, plugins="toy_aggregate")
    assert done.returncode == 0, done.stderr
    with (folder / "a.csv").open() as file:
        _, *rows = csv.reader(file)
    ones = [row[-1] for row in rows if row[3] == "1" and row[2] != "-"]
    assert ones[:3] == ["0", "5", "7"]  # 4; 4 and 9; 4, 9 and 2
    assert ones[-1] == "0"  # 5 alone
    refused = motejoin(folder, *words)
    assert refused.returncode == 2
    assert "there is no function 'Range_Of'" in refused.stderr


def test_an_installed_package_names_its_module(folder: Path, tmp_path: Path) -> None:
    package = tmp_path / "site"
    (package / "mine-1.0.dist-info").mkdir(parents=True)
    (package / "mine-1.0.dist-info" / "METADATA").write_text("Name: mine\nVersion: 1.0\n")
    named = "[motejoin.plugins]\nmine = mine.tides\n"
    (package / "mine-1.0.dist-info" / "entry_points.txt").write_text(named)
    (package / "mine").mkdir()
    shutil.move(folder / "toy_protocol.py", package / "mine" / "tides.py")
    done = motejoin(tmp_path, "cluster", "--protocol", "toy", "--nodes", "50", path=package)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("plugins", "says"),
    [
        ("no_such_toy", "ModuleNotFoundError: No module named 'no_such_toy'"),
        ("broken", "ZeroDivisionError"),
        ("another", "InputError: clustering protocol 'heed': there is one of that name"),
    ],
)
def test_a_module_that_cannot_be_used_is_named(folder: Path, plugins: str, says: str) -> None:
    (folder / "broken.py").write_text("1 / 0\n")
    toy = (folder / "toy_protocol.py").read_text()
    (folder / "another.py").write_text(toy.replace('"toy"', '"heed"'))
    done = motejoin(folder, "scenarios", plugins=plugins)
    assert done.returncode == 2
    assert done.stderr.startswith(f"MOTEJOIN_PLUGINS: module '{plugins}' cannot be used: {says}")
    assert "Traceback" not in done.stderr
