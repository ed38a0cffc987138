import re
from pathlib import Path
from typing import Any

import pytest

from analysis.report.html import Html, join, tag
from analysis.report.page import report_page, write_report
from analysis.report.still import run_figure
from analysis.report.verdict import verdict
from analysis.report.view import open_run
from sim.errors import InputError, TraceError
from sim.trace.manifest import Manifest, Status
from sim.trace.tables import TABLES, DropReason, Fate
from tests.support.checkers.report_page import Page, sets_of, unpack
from tests.support.report_runs import S, mote_rows, write_run

FULL: dict[str, list[tuple[Any, ...]]] = {
    "motes": mote_rows(4),
    "truth": [(2 * S, "ammonia", [0, 1]), (3 * S, "ammonia", [0, 1, 2])],
    "traffic": [(1, 0, "probe", 5, 1_234_000, 4, 0, 1, 5), (0, 1, "head", 2, 567, 8, 0, 0, 10)],
    "fates": [(S, 0, S, "joined", None, 0), (S, 1, S, "dropped", "dead", 0)],
    "drops": [(S, 0, "dead", "reading", 1, S)],
    "probes": [(S, 0, 3, 2, 1, 3, 40, 0, S)],
    "results": [(2 * S, "join", "+", 3, 0, 2 * S, 2, [(1, 2 * S)], 31_250, 2)],
    "elections": [(S, 0, 0, 0, 1), (S, 0, 1, 0, 1), (S, 0, 2, 2, 1)],
    "energy": [
        (0, n, 20.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0) for n in range(4)
    ] + [(10 * S, n, 5.0 * n, 20.0 - 5.0 * n, 0.0, 0.0, 0.0, 0.0, 0.0) for n in range(4)],
    "deaths": [(10 * S - 1, 0)],
    "faults": [(3 * S, 1, "crash"), (3 * S, -1, "sink down"), (4 * S + 1, 1, "recovery"), (6 * S, 2, "removed"), (8 * S, 3, "added")],
}  # fmt: skip
CHARTS = {
    "tracking",
    "coverage",
    "traffic",
    "probes",
    "energy",
    "residual",
    "batteries",
    "fates",
    "drops",
    "delay",
    "heads",
    "clusters",
}


def page_of(
    directory: Path,
    rows: dict[str, list[tuple[Any, ...]]],
    **changes: Any,  # noqa: ANN401
) -> Page:
    write_run(directory, rows, **changes)
    return Page(report_page(open_run(directory)))


def test_a_full_trace_gives_every_plot_and_no_note(tmp_path: Path) -> None:
    page = page_of(tmp_path, FULL, values={"3": "ammonia, level 3"})
    assert page.charts() == CHARTS
    drawn = {a["data-chart"] for _, a in page.tags if "data-chart" in a}
    assert drawn == CHARTS
    assert "Not shown" not in page.text


def test_every_plot_has_an_alternative_in_words(tmp_path: Path) -> None:
    page = page_of(tmp_path, FULL)
    images = [a for _, a in page.tags if a.get("role") == "img"]
    assert len(images) == len(CHARTS) + 1
    assert all(a["aria-label"] for a in images)


def test_the_page_loads_nothing(tmp_path: Path) -> None:
    page = page_of(tmp_path, FULL)
    for name, attributes in page.tags:
        assert name not in {"link", "img", "iframe", "object", "embed", "base", "source"}
        assert not {"src", "href", "action", "data", "srcset"} & set(attributes), (name, attributes)
    # The only address is the name of the SVG vocabulary, which nobody fetches.
    assert set(re.findall(r"\w+://[^\"'\s]*", page.text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|import\(", page.text)
    policy = next(a["content"] for _, a in page.tags if a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_the_numbers_are_the_manifests(tmp_path: Path) -> None:
    page = page_of(tmp_path, {name: FULL[name] for name in ("motes", "traffic", "deaths")})
    words = page.words
    for label, figure in {
        "Appeared": "2 s",
        "Detection delay": "3 s",
        "Coverage": "62.5 %",
        "Motes wrongly in the answer": "0.125",
        "Results": "6",
        "Tuple width": "2.5 sensors",
        "Delay": "31.25 ms",
        "Bytes/s on air": "123,457",
        "Messages/s on air": "0.7",
        "Election bytes": "567",
        "Copies lost": "1",
        "Energy": "12.5 J",
        "Motes dead": "1",
        "Drop rate": "30 %",
        "Drops": "5",
    }.items():
        assert words[words.index(label) + 1] == figure, label
    for row in (
        ["probe", "5", "1,234,000", "4", "1", "0"],
        ["head", "2", "567", "8", "0", "2"],
        ["all", "7", "1,234,567", "12", "1", "2"],
        ["tx", "10.000000", "80.0%"],
        ["all", "12.500000", "100%"],
        ["dropped", "3", "30.0%"],
        ["state lost", "2", "40.0%"],
        ["join.window_s", "5.0"],
        ["version of python", "3.11"],
    ):
        assert row in page.rows, row


def test_heads_probed_are_those_per_reading_not_per_request(tmp_path: Path) -> None:
    # The second request is about the same reading: it was sent again.
    again = [(S, 0, 3, 2, 1, 3, 40, 0, S), (2 * S, 0, 3, 4, 2, 3, 40, 0, S)]
    page = page_of(tmp_path, FULL | {"probes": again})
    words = page.words
    assert words[words.index("Heads probed per reading") + 1] == "6"
    assert "probe usefulness 50 %" in words


@pytest.mark.parametrize(
    ("table", "gone"),
    [
        ("truth", {"coverage"}),
        ("results", {"coverage", "delay"}),
        ("traffic", {"traffic"}),
        ("fates", {"fates"}),
        ("drops", {"drops"}),
        ("probes", {"probes"}),
        ("elections", {"heads", "clusters"}),
        ("energy", {"energy", "residual", "batteries"}),
        ("deaths", set()),
        ("faults", set()),
        ("motes", set()),
    ],
)
def test_what_a_missing_table_makes_impossible_is_left_out_with_a_note(
    tmp_path: Path, table: str, gone: set[str]
) -> None:
    rows = {name: content for name, content in FULL.items() if name != table}
    page = page_of(tmp_path, rows)
    assert CHARTS - page.charts() == gone
    assert any(f"“{table}”" in text for text in page.words)
    assert (page.data["replay"] is None) == (table == "motes")


def test_empty_tables_give_a_page_that_says_so(tmp_path: Path) -> None:
    page = page_of(tmp_path, {name: [] for name in FULL} | {"motes": mote_rows(4)})
    assert page.charts() == {"tracking"}
    assert [line["name"] for line in page.chart("tracking")["series"]] == ["in the answer"]
    assert any("no mote was ever inside" in text for text in page.words)
    assert any("there were none" in text for text in page.words)


def test_where_nothing_is_probed_there_is_no_plot_of_it(tmp_path: Path) -> None:
    page = page_of(tmp_path, FULL | {"probes": []})
    assert CHARTS - page.charts() == {"probes"}
    assert "Heads probed per reading" not in page.words
    assert not any("no probe request" in text for text in page.words)


def test_a_short_peak_does_not_flatten_the_bytes_on_air(tmp_path: Path) -> None:
    quiet = [(second, 0, "probe", 1, 100 + second, 1, 0, 0, 1) for second in range(40)]
    peak = [(7, 1, "head", 9, 50_000, 9, 0, 0, 9)]
    spec = page_of(tmp_path / "calm", FULL | {"traffic": quiet}, duration_s=40.0).chart("traffic")
    assert "cut" not in spec["y"]
    page = page_of(tmp_path / "peak", FULL | {"traffic": quiet + peak}, duration_s=40.0)
    spec = page.chart("traffic")
    assert spec["y"]["cut"] == pytest.approx(1.25 * 138, rel=0.01)
    assert spec["peaks"] == [{"at_s": 7.5, "height": 50_107.0}]
    assert any("at most 50,107 bytes per second at 7.5 s" in text for text in page.words)
    # The numbers stay whole: only the axis is cut.
    assert sum(sum(each["values"]) for each in spec["series"]) == sum(
        row[4] for row in quiet + peak
    )


def test_a_still_of_a_cut_plot_is_cut_too(tmp_path: Path) -> None:
    quiet = [(second, 0, "probe", 1, 100, 1, 0, 0, 1) for second in range(40)]
    write_run(
        tmp_path,
        FULL | {"traffic": [*quiet, (7, 1, "head", 9, 50_000, 9, 0, 0, 9)]},
        duration_s=40.0,
    )
    axes = run_figure(tmp_path, "traffic").axes[0]
    assert axes.get_ylim() == (0, 125.0)
    assert [text.get_text() for text in axes.texts] == ["↑"]


@pytest.mark.parametrize(("idle_j", "apart"), [(9.0, False), (11.0, True)])
def test_idle_radios_do_not_hide_all_other_energy(
    tmp_path: Path, idle_j: float, apart: bool
) -> None:
    spent = {"tx_j": 10.0, "idle_j": idle_j}
    columns = [column.name for column in TABLES["energy"]]
    rows = [
        tuple(
            {
                "at_us": at_s * S,
                "node": 0,
                "residual_j": 20.0,
                **{c: at_s * j for c, j in spent.items()},
            }.get(c, 0.0)
            for c in columns
        )
        for at_s in (0, 1)
    ]
    page = page_of(tmp_path, FULL | {"energy": rows})
    names = [each["name"] for each in page.chart("energy")["series"]]
    assert ("idle" in names) != apart
    assert (
        any("Not drawn: 11 J while radios were idle, 52.4 % of all." in text for text in page.words)
        == apart
    )


def test_energy_while_idle_is_not_the_strategys(tmp_path: Path) -> None:
    manifest = write_run(tmp_path, {"motes": FULL["motes"]})
    manifest.counts["energy_by_cause_j"] = {"tx": 2.0, "rx": 0.5, "idle": 10.0}
    manifest.write(tmp_path)
    run = open_run(tmp_path)
    words = Page(report_page(run)).words
    assert words[words.index("Energy to send") + 1] == "2 J"
    assert words[words.index("Energy") + 1 :][:2] == [
        "12.5 J",
        "80.0% of it idle: listening to silence, or asleep",
    ]
    assert not any("12.5" in sentence for sentence in verdict(run, None))


def test_results_without_partners_leave_the_answer_out(tmp_path: Path) -> None:
    rows = FULL | {"results": [(S, "join", "+", 3, 0, S, 2, None, 1, 2)]}
    page = page_of(tmp_path, rows, trace={"partners": False})
    assert CHARTS - page.charts() == {"coverage"}
    assert [line["name"] for line in page.chart("tracking")["series"]] == ["inside"]
    assert page.data["replay"]["answer"] is None
    assert page.data["replay"]["truth"] is not None
    assert any("trace.partners = false" in text for text in page.words)


def test_the_replay_holds_positions_sets_heads_deaths_and_batteries(tmp_path: Path) -> None:
    replay = page_of(tmp_path, FULL, values={"3": "level 3"}).data["replay"]
    assert unpack(replay["x_m"], "f") == unpack(replay["y_m"], "f") == [0.0, 1.0, 2.0, 3.0]
    assert replay["sink_m"] == [[5.0, -2.0]]
    assert sets_of(replay["truth"])[:5] == [set(), set(), {0, 1}, {0, 1, 2}, set()]
    assert sets_of(replay["answer"]) == [set(), set(), *[{0, 1}] * 8]
    assert [each["label"] for each in replay["answers"]] == ["level 3"]
    assert sets_of(replay["answers"][0]) == sets_of(replay["answer"])
    assert [(r["frame"], unpack(r["head"], "i")) for r in replay["rounds"]] == [(1, [0, 0, 2, -1])]
    assert unpack(replay["deaths"]["nodes"], "I") == [0]
    assert unpack(replay["deaths"]["frames"], "I") == [10]
    assert sets_of(replay["down"]) == [set()] * 3 + [{1}, {1}, set(), {2}, {2}, {2}, {2}]
    assert unpack(replay["energy"]["share"], "B") == [255] * 4 + [0, 64, 128, 192]


def test_the_map_holds_the_field_the_sink_and_motes_outside(tmp_path: Path) -> None:
    plain = page_of(tmp_path / "plain", FULL).data["replay"]
    assert plain["map_m"] == [0.0, -2.0, 10.0, 10.0]
    motes = [(0, -3.5, 4.0, 20.0), (1, 12.0, 4.0, 20.0), (2, 5.0, 11.0, 20.0), *mote_rows(4)[3:]]
    wide = page_of(tmp_path / "wide", FULL | {"motes": motes}).data["replay"]
    assert wide["map_m"] == [-3.5, -2.0, 12.0, 11.0]


def test_motes_that_are_to_be_added_are_down_until_they_come(tmp_path: Path) -> None:
    added = {"count": 2, "from_s": 1.0, "until_s": 20.0}
    replay = page_of(tmp_path, FULL, faults={"added": added}).data["replay"]
    # Mote 3 comes at 8 s; mote 2 would have come after the end.
    late = [{2, 3}] * 3 + [{1, 2, 3}] * 2 + [{2, 3}] * 3 + [{2}] * 2
    assert sets_of(replay["down"]) == late


def test_without_faults_no_mote_is_down(tmp_path: Path) -> None:
    replay = page_of(tmp_path, FULL | {"faults": [(S, -1, "sink down")]}).data["replay"]
    assert replay["down"] is None


def test_no_two_layers_of_a_plot_have_the_same_colour(tmp_path: Path) -> None:
    reasons = [(S, 0, reason, "reading") for reason in DropReason]
    fates: list[tuple[Any, ...]]
    fates = [(S, 0, S, "dropped", reason, 0) for reason in DropReason]
    fates += [(S, 0, S, fate, None, 0) for fate in (Fate.JOINED, Fate.IN_FLIGHT)]
    kinds = ("probe", "result", "reading", "unheard of", "new", "head")
    traffic = [(1, 0, kind, 1, 100, 1, 100, 0, 1) for kind in kinds]
    energy = [(at_s * S, n, 9.0, *[float(at_s)] * 8) for at_s in (0, 1) for n in range(4)]
    rows = FULL | {"drops": reasons, "fates": fates, "traffic": traffic, "energy": energy}
    page = page_of(tmp_path, rows)
    for name, count in {"drops": 10, "fates": 12, "traffic": 6, "energy": 7}.items():
        slots = [layer["slot"] for layer in page.chart(name)["series"]]
        assert len(slots) == len(set(slots)) == count, name
    for slot in range(1, 13):
        assert page.text.count(f"--s{slot}: #") == 2
        assert f".swatch.s{slot} {{" in page.text


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&${x}$title"


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    calm = page_of(tmp_path / "calm", FULL, values={"3": "calm"})
    page = page_of(
        tmp_path / "hostile",
        FULL,
        name=HOSTILE,
        description=HOSTILE,
        values={"3": HOSTILE},
        inputs={HOSTILE: HOSTILE},
    )
    assert len(page.scripts) == len(calm.scripts) == 2
    assert not any(name == "img" for name, _ in page.tags)
    assert not any(key.startswith("on") for _, attributes in page.tags for key in attributes)
    assert page.words.count(HOSTILE) >= 3
    assert page.data["replay"]["answers"][0]["label"] == HOSTILE


def test_tags_escape_text_and_attributes_but_not_each_other() -> None:
    inner = tag("b", "<&>")
    assert inner == "<b>&lt;&amp;&gt;</b>"
    assert tag("p", inner, "'", class_='"') == '<p class="&quot;"><b>&lt;&amp;&gt;</b>&#x27;</p>'
    assert tag("td", "x", aria_label="y", style=None) == '<td aria-label="y">x</td>'
    assert isinstance(join("a", inner), Html)


def test_the_page_goes_to_the_run_directory_unless_told_otherwise(tmp_path: Path) -> None:
    run = tmp_path / "run"
    write_run(run, FULL)
    assert write_report(run) == run / "report.html"
    elsewhere = tmp_path / "new/folder/page.html"
    assert write_report(run, elsewhere) == elsewhere
    assert elsewhere.read_text() == (run / "report.html").read_text()
    assert sorted(path.name for path in run.iterdir()) == ["manifest.json", "report.html", "trace"]


def test_a_page_that_cannot_be_written_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    write_run(tmp_path / "run", FULL)
    with pytest.raises(InputError, match="is a directory"):
        write_report(tmp_path / "run", tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_report(tmp_path / "run", tmp_path / "file/page.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "run"]


def test_an_unfinished_a_foreign_and_a_missing_directory_are_refused(tmp_path: Path) -> None:
    manifest = write_run(tmp_path / "run", FULL)
    manifest.status = Status.RUNNING
    manifest.write(tmp_path / "run")
    with pytest.raises(TraceError, match="status is 'running'"):
        write_report(tmp_path / "run")
    with pytest.raises(TraceError, match="not a run directory"):
        write_report(tmp_path)
    with pytest.raises(TraceError, match="no such run directory"):
        write_report(tmp_path / "none")


@pytest.mark.parametrize(
    ("tracking", "says"),
    [(5, "counts.tracking = 5"), ({"coverage": "x"}, "counts.tracking.coverage = 'x'")],
)
def test_figures_that_are_no_numbers_are_refused(
    tmp_path: Path, tracking: object, says: str
) -> None:
    manifest = write_run(tmp_path, FULL)
    manifest.counts["tracking"] = tracking
    manifest.write(tmp_path)
    with pytest.raises(TraceError, match=f"{says}, expected a number"):
        open_run(tmp_path)


def test_a_manifest_without_the_summary_is_refused_by_name(tmp_path: Path) -> None:
    manifest: Manifest = write_run(tmp_path, FULL)
    del manifest.counts["energy_j"]
    manifest.write(tmp_path)
    with pytest.raises(TraceError, match="lacks 'energy_j'"):
        write_report(tmp_path)
