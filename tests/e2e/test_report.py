import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from join.strategies.registry import STRATEGIES
from scenarios.cli import main
from sim.trace.manifest import Manifest, read_complete
from tests.support.checkers.report_page import Page, sets_of, unpack
from tests.support.requirements import CHROMIUM, needs_chromium
from tests.support.runs import SMALL, fails, run_here

DYING = ("motes.battery_j=0.05", "clustering.round_s=20.0", "duration_s=90.5")


class Reported:
    """A run, its report, and its trace read row by row."""

    def __init__(self, directory: Path, manifest: Manifest, page: Page) -> None:
        self.directory = directory
        self.manifest = manifest
        self.page = page

    def rows(self, table: str) -> list[dict[str, Any]]:
        """All rows of a table."""
        rows: list[dict[str, Any]] = pq.read_table(self.directory / "trace" / table).to_pylist()
        return rows


def report(directory: Path, *settings: str) -> Reported:
    arguments = [word for setting in settings for word in ("--set", setting)]
    manifest = run_here(directory, *arguments)
    assert main(["report", str(directory)]) == 0
    text = (directory / "report.html").read_text(encoding="utf-8")
    return Reported(directory, manifest, Page(text))


@pytest.fixture(scope="module")
def dying(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """A run in which motes die, so that every table but that of faults has rows."""
    reported = report(tmp_path_factory.mktemp("report") / "run", *DYING)
    empty = [table for table, rows in reported.manifest.rows.items() if not rows]
    assert empty == ["faults"]
    return reported


def test_plots_add_up_to_the_manifest(dying: Reported) -> None:
    counts, page = dying.manifest.counts, dying.page

    def totals(name: str) -> dict[str, int]:
        return {each["name"]: sum(each["values"]) for each in page.chart(name)["series"]}

    assert sum(totals("traffic").values()) == counts["bytes"]
    assert totals("traffic")["probe"] == counts["traffic"]["probe"]["sent_bytes"]
    fates = totals("fates")
    assert sum(fates.values()) == counts["readings_with_value"]
    assert fates["joined"] == counts["fates"]["joined"]
    assert totals("drops") == counts["drops"]
    assert sum(page.chart("delay")["counts"]) == counts["results"]
    spent = {each["name"]: each["values"][-1] for each in page.chart("energy")["series"]}
    assert spent == pytest.approx(
        {cause: joules for cause, joules in counts["energy_by_cause_j"].items() if joules}
    )
    heads = [span["value"] for span in page.chart("heads")["spans"]]
    assert len(heads) == counts["rounds"]
    assert sum(heads) / len(heads) == pytest.approx(counts["mean_heads"])
    assert sum(page.chart("batteries")["counts"]) == dying.manifest.scenario["motes"]["count"]


def test_the_replay_shows_the_sets_of_the_trace(dying: Reported) -> None:
    replay = dying.page.data["replay"]
    frames = range(replay["frames"])
    assert [*frames] == [*range(91)]
    inside: dict[int, set[int]] = {}
    for row in dying.rows("truth"):
        inside.setdefault(row["at_us"], set()).update(row["nodes"])
    assert sets_of(replay["truth"]) == [inside.get(f * 1_000_000, set()) for f in frames]
    labels = {str(value): label for value, label in dying.manifest.values.items()}
    answers = {each["label"]: sets_of(each) for each in replay["answers"]}
    whole = sets_of(replay["answer"])
    for frame in frames:
        current: dict[int, set[int]] = {}
        for row in dying.rows("results") if frame % 10 == 0 or frame == 90 else ():
            if row["at_us"] > frame * 1_000_000:
                break
            members = {member["node"] for member in row["partners"]}
            if row["origin"] is not None:
                current.setdefault(row["value"], set()).update(members, [row["origin"]])
            elif row["change"] == "-":
                del current[row["value"]]
            else:
                current[row["value"]] -= members
            assert len(current.get(row["value"], ())) == row["answer"]
        if frame % 10 == 0 or frame == 90:
            assert whole[frame] == set().union(*current.values())
            for value, members in current.items():
                assert answers[labels[str(value)]][frame] == members
    assert any(whole)


def test_the_replay_shows_dead_motes_and_heads(dying: Reported) -> None:
    replay = dying.page.data["replay"]
    deaths = replay["deaths"]
    shown = dict(zip(unpack(deaths["nodes"], "I"), unpack(deaths["frames"], "I"), strict=True))
    assert shown == {row["node"]: -(-row["at_us"] // 1_000_000) for row in dying.rows("deaths")}
    heads: dict[int, dict[int, int]] = {}
    for row in dying.rows("elections"):
        heads.setdefault(row["round"], {})[row["node"]] = row["head"]
    motes = range(replay["motes"])
    rounds = [unpack(each["head"], "i") for each in replay["rounds"]]
    assert rounds == [[heads[number].get(mote, -1) for mote in motes] for number in sorted(heads)]


def test_the_tracking_figures_follow_from_the_plot(dying: Reported) -> None:
    tracking = dying.manifest.counts["tracking"]
    chart = dying.page.chart("tracking")
    inside, answered = (each["values"] for each in chart["series"])
    covered, false = (each["values"] for each in dying.page.chart("coverage")["series"])
    assert max(inside) == tracking["inside_most"]
    assert max(answered) == tracking["answer_most"]
    looks = list(zip(covered, false, inside, answered, strict=True))
    seen = [share for share, _, truth, answer in looks if truth or answer]
    assert sum(seen) / len(seen) == pytest.approx(tracking["coverage"], abs=1e-5)
    alarms = [share * answer for _, share, _, answer in looks if answer]
    assert sum(alarms) / len(looks) == pytest.approx(tracking["false_alarms"], abs=1e-4)
    assert next(f for f, size in enumerate(inside) if size) == tracking["appeared_s"]


def test_the_page_names_its_path_last_and_stays_small(
    dying: Reported, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "page.html"
    capsys.readouterr()
    assert main(["report", str(dying.directory), "--out", str(out)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == str(out)
    assert out.stat().st_size < 500_000


def test_a_directory_that_is_not_a_run_is_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no such run directory" in fails(capsys, "report", str(tmp_path / "none"))
    assert "not a run directory" in fails(capsys, "report", str(tmp_path))


EDITED = {
    "messages": "traffic",
    "bytes": "traffic",
    "traffic.probe.sent": "traffic",
    "traffic.probe.sent_bytes": "traffic",
    "traffic.probe.received": "traffic",
    "traffic.probe.lost": "traffic",
    "traffic.probe.in_flight": "traffic",
    "energy_j": "energy",
    "energy_by_cause_j.tx": "energy",
    "control_j": "energy",
    "deaths": "deaths",
    "readings": "readings",
    "readings_with_value": "readings",
    "fates.joined": "fates",
    "fates.forgotten": "fates",
    "drops.dead": "drops",
    "results": "results",
    "mean_width": "results",
    "mean_delay_ms": "results",
    "probes": "probes",
    "heads_probed": "probes",
    "heads_matched": "probes",
    "requests.finished": "requests",
}
"""Counts that can be recomputed from the trace, and the table that has them."""


@pytest.mark.parametrize("key", EDITED)
def test_an_edited_count_is_rejected_and_the_old_page_stays(
    dying: Reported, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = dying.directory / "manifest.json"
    whole, page = path.read_text(), (dying.directory / "report.html").read_text()
    content = json.loads(whole)
    *names, last = key.split(".")
    cells = content["counts"]
    for name in names:
        cells = cells[name]
    right = cells.get(last, 0)
    cells[last] = right + 1
    path.write_text(json.dumps(content))
    try:
        said = fails(capsys, "report", str(dying.directory))
    finally:
        path.write_text(whole)
    head, _, expected = said.partition(", expected ")
    assert head == f"{path}: counts.{key} = {right + 1!r}"
    recounted, _, table = expected.partition(" as in ")
    assert float(recounted) == pytest.approx(right)
    assert table == f"trace/{EDITED[key]}\n"
    assert (dying.directory / "report.html").read_text() == page


@pytest.mark.parametrize(
    "settings",
    [
        ["join.strategy=centralised"],
        ["clustering.protocol=none", "join.strategy=centralised"],
        ["motes.count=1"],
        ["trace.partners=false"],
        ["trace.tables=['motes']"],
        ["trace.messages=off", "clustering.round_s=0.0"],
        ["duration_s=7.0"],
        ["radio.loss=0.2", "join.retries=2"],
        ["radio.loss=0.2", "join.probing=fan-out", "join.feedback=off"],
        ["radio.mac=csma", "motes.profile=micaz", "routing.sink=multi-hop", "motes.start_s=15.0"],
        ["radio.mac=tdma", "motes.profile=telosb", "radio.duty_cycle=1.0"],
        ["faults.crashes={mean_up_s=20.0, mean_down_s=5.0}", "trace.energy_every_s=7.0"],
    ],
    ids=" ".join,
)
def test_every_kind_of_run_has_a_report(tmp_path: Path, settings: list[str]) -> None:
    reported = report(tmp_path / "run", "duration_s=40.0", *settings)
    assert f"{reported.manifest.counts['bytes']:,} bytes in all" in reported.page.words


def in_browser(page: Path, directory: Path) -> str:
    """The page's document after its script has run."""
    assert CHROMIUM is not None
    flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync"
    quiet = "--disable-background-networking --disable-component-update --virtual-time-budget=5000"
    finished = subprocess.run(
        [
            CHROMIUM,
            *flags.split(),
            *quiet.split(),
            f"--user-data-dir={directory}",
            "--enable-logging=stderr",
            "--dump-dom",
            f"{page.as_uri()}#t=90",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert "CONSOLE" not in finished.stderr, finished.stderr
    return finished.stdout


@needs_chromium
def test_a_browser_draws_everything_without_errors(dying: Reported, tmp_path: Path) -> None:
    drawn = in_browser(dying.directory / "report.html", tmp_path / "profile")
    page = Page(drawn)
    root = next(attributes for name, attributes in page.tags if name == "html")
    assert root["data-report"] == "ready"
    assert sum(name == "svg" for name, _ in page.tags) == len(page.data["charts"]) + 1
    assert "90 s" in page.words
    inside = sets_of(page.data["replay"]["truth"])[90]
    answer = sets_of(page.data["replay"]["answer"])[90]
    dead = dict(
        zip(
            unpack(page.data["replay"]["deaths"]["nodes"], "I"),
            unpack(page.data["replay"]["deaths"]["frames"], "I"),
            strict=True,
        )
    )
    alive = {mote for mote in range(200) if dead.get(mote, 100) > 90}
    assert alive < set(range(200))
    words = page.words
    for text, motes in {
        "inside and in the answer": inside & answer & alive,
        "inside, not in the answer": (inside - answer) & alive,
        "in the answer, not inside": (answer - inside) & alive,
    }.items():
        assert words[words.index(text) + 1] == str(len(motes)), text
    assert words[words.index("dead", words.index("cluster heads")) + 1] == str(200 - len(alive))


@needs_chromium
def test_a_browser_draws_removed_motes_differently(tmp_path: Path) -> None:
    removed = "faults.removed={count=7, from_s=5.0, until_s=10.0}"
    reported = report(tmp_path / "run", "duration_s=20.0", removed)
    assert len(sets_of(reported.page.data["replay"]["down"])[-1]) == 7
    drawn = in_browser(reported.directory / "report.html", tmp_path / "profile")
    words = Page(drawn).words
    assert words[words.index("not working: crashed or not in the field") + 1] == "7"
    motes = reported.manifest.scenario["motes"]["count"]
    kinds = ("inside and in the answer", "inside, not in the answer", "in the answer, not inside")
    shown = [
        words[words.index(kind) + 1] for kind in (*kinds, "elsewhere", "dead") if kind in words
    ]
    assert sum(int(count) for count in shown) == motes - 7


def test_a_run_and_its_baseline_are_made_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    words = [
        "run",
        SMALL,
        "--set",
        "duration_s=20.0",
        "--out",
        str(out),
        "--baseline",
        "centralised",
    ]
    assert main(words) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == str(out)
    assert said[-2].endswith(f"motejoin report {out} --baseline {out}-centralised")
    first, second = read_complete(out), read_complete(tmp_path / "run-centralised")
    assert second.scenario["join"]["strategy"] == "centralised"
    assert second.strategy == STRATEGIES["centralised"].does != first.strategy
    assert all(STRATEGIES[name].does for name in ("snjoin-star", "lease", "change", "automatic"))
    assert first.counts["readings_with_value"] == second.counts["readings_with_value"]
    assert main(["report", str(out), "--baseline", f"{out}-centralised"]) == 0
    page = Page((out / "report.html").read_text())
    assert next(row for row in page.rows if row[0] == "bytes/s on air")[3]
    capsys.readouterr()
    # A directory that is taken is the first and only thing to be said.
    for place in (out, tmp_path / "run-centralised"):
        taken = fails(capsys, *words)
        assert taken.count("\n") == 1
        assert f"--out = {str(place)!r}: already there" in taken
        shutil.rmtree(out, ignore_errors=True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["a", "b", "c"], "3 runs given; expected one or two"),
        (["a", "b", "--baseline", "c"], "--baseline: expected with one run"),
        (["a", "--animate", "x.gif", "--out", "y.html"], "--animate: expected one run, without"),
        (["a", "--animate", "x.avi"], "ends in '.avi', expected .gif or .mp4"),
    ],
)
def test_reports_that_cannot_be_are_refused(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert says in fails(capsys, "report", *words)
