"""What a report says in words: verdicts, baselines, two runs side by side, and scenery that contradicts the trace."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.report.map.mote_history import events, pulses, readings, traffic_by_mote
from analysis.report.map.scenery import Leak, Scenery, Snapshot, agrees
from analysis.report.page import replay_of, report_page, write_report
from analysis.report.side_by_side import side_by_side_page, write_side_by_side
from analysis.report.verdict import baseline_of, compared, radio, times, verdict
from analysis.report.view import RunView, open_run
from sim.errors import InputError, TraceError
from tests.support.checkers.report_page import Page, sets_of, unpack
from tests.support.report_runs import S, mote_rows, write_run

RESULT = (2 * S, "join", "+", 3, 0, 2 * S, 2, [(1, 2 * S)], 31_250, 2)
ROWS: dict[str, list[tuple[Any, ...]]] = {
    "motes": mote_rows(4),
    "truth": [(2 * S, "ammonia", [0, 1]), (3 * S, "ammonia", [0, 1, 2])],
    "results": [RESULT],
    "messages": [(S, "probe", 0, 1, 9, "delivered", S + 1, 1, 1), (S + S // 2, "head", 2, None, 5, "lost", None, 3, 0)],
    "readings": [(S, 0, 3, 1.0), (2 * S, 1, None, 0.1), (3 * S, 1, 4, 2.0)],
    "traffic": [(1, 0, "probe", 5, 100, 4, 0, 1, 5), (1, -1, "probe", 9, 100, 4, 0, 1, 5), (7, 0, "head", 2, 5, 8, 0, 0, 10)],
    "deaths": [(5 * S + 10_000, 0), (5 * S + 20_000, 1), (9 * S, 2)],
    "faults": [(3 * S, 1, "crash"), (4 * S, 1, "recovery")],
    "elections": [(S, 0, 0, 0, 1), (S, 0, 1, 0, 1), (6 * S, 1, 2, 2, 1)],
}  # fmt: skip
IDEAL = {"mac": "ideal", "loss": 0.0, "channel": "unit-disk"}
ONE_HOP = {"heads": "one-hop", "sink": "one-hop"}


def run_of(directory: Path, tracking: dict[str, Any] | None = None, **changes: Any) -> RunView:  # noqa: ANN401
    manifest = write_run(directory, changes.pop("rows", ROWS), **changes)
    if tracking is not None:
        manifest.counts["tracking"] = manifest.counts["tracking"] | tracking
        manifest.write(directory)
    return open_run(directory)


def test_the_verdict_says_found_tracked_cost_and_radio(tmp_path: Path) -> None:
    run = run_of(tmp_path, radio=IDEAL, routing=ONE_HOP)
    found, tracked, cost, air = verdict(run, None)
    assert found.startswith(
        "Found: the gas cloud reached the first of 4 motes (sensors) at 2 s, and the sink (base station) knew 0 s later."
    )
    assert tracked == (
        "Tracked: the sink's answer matched the motes truly inside by 83.3 % (coverage)."
    )
    assert cost.startswith("Cost with “snjoin-star”: ")
    assert cost.endswith("No baseline was given to compare it with.")
    assert air.startswith(
        "Idealised radio: one hop, no collisions, no random losses; bytes on air may exceed"
    )


@pytest.mark.parametrize(
    ("settings", "hops", "says"),
    [
        ({"mac": "csma", "loss": 0.1}, {"heads": "one-hop", "sink": "multi-hop"}, "Radio: csma, several hops, frames collide, 10 % of messages lost at random; "),
        ({"mac": "csma", "loss": 0.0}, {"heads": "multi-hop", "sink": "multi-hop"}, "Radio: csma, several hops, frames collide; "),
        ({"mac": "tdma", "channel": "shadowing"}, ONE_HOP, "Radio: tdma, one hop, no collisions, losses by shadowing; "),
    ],
)  # fmt: skip
def test_a_radio_that_is_not_ideal_is_not_called_so(
    tmp_path: Path, settings: dict[str, Any], hops: dict[str, str], says: str
) -> None:
    # Without the table of readings, the manifest's counts say how many were dropped.
    rows = {name: content for name, content in ROWS.items() if name != "readings"}
    run = run_of(tmp_path, rows=rows, radio=settings, routing=hops)
    if settings["mac"] == "tdma":
        run.manifest.idealised = ["no collisions"]
    assert radio(run) == f"{says}30 % of the readings with a value were lost or dropped."


def test_what_was_never_found_out_of_reach_or_without_result_is_said(tmp_path: Path) -> None:
    lost = {"results": [], "truth": ROWS["truth"]}
    missed = run_of(tmp_path / "missed", rows=ROWS | lost, tracking={"detected_s": None})
    assert verdict(missed, None)[0].endswith(
        "was never found: no result reached the sink after that."
    )
    away = run_of(tmp_path / "away", rows=ROWS | {"truth": []}, tracking={"inside_most": 0})
    assert verdict(away, None)[0].startswith("The gas cloud never reached a mote")
    other = {"rows": ROWS | lost | {"truth": []}, "phenomenon": {"kind": "zipf"}}
    silent = run_of(tmp_path / "silent", tracking={"inside_most": 0}, **other)
    assert verdict(silent, None)[0].startswith("No result reached the sink")


@pytest.mark.parametrize(("last_s", "ends"), [(3, True), (10, False)])
def test_a_recording_that_ends_early_is_said(tmp_path: Path, last_s: int, ends: bool) -> None:
    rows = ROWS | {"readings": [(S, 0, 3, 1.0), (last_s * S, 1, 4, 2.0)]}
    said = verdict(run_of(tmp_path, rows=rows, phenomenon={"kind": "replay"}), None)
    assert ("The recording ends at 3 s of 10 s: nothing is sensed after that." in said) == ends


def test_a_baseline_stands_beside_every_cost(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", radio=IDEAL, routing=ONE_HOP)
    cheap = ROWS | {"traffic": [(1, 0, "reading", 1, 50, 1, 0, 0, 1)]}
    other = run_of(
        tmp_path / "other", rows=cheap, join={"strategy": "centralised", "window_s": 5.0}
    )
    run.manifest.strategy, other.manifest.strategy = "heads ask", "everything is sent"
    baseline = baseline_of(run, other)
    assert baseline.name == "centralised"
    assert verdict(run, baseline)[2] == (
        "Cost with “snjoin-star”: 20.5 bytes/s on air, 4.1 times that with “centralised”."
        " Here heads ask; with “centralised” everything is sent."
    )
    page = Page(report_page(run, baseline=baseline))
    assert ["bytes/s on air", "20.5", "5", "4.1 times as much"] in page.rows
    words = page.words
    assert not any("motejoin run" in each for each in words)
    note = words[words.index("Bytes/s on air") + 2]
    assert note.endswith("centralised: 5 bytes/s (4.1 times that)")
    assert any("--baseline" in each for each in Page(report_page(run)).words)
    assert compared(1.0, 8.0, "x") == "8 times less than with x"
    assert compared(2.0, 2.0, "x") == "the same as with x"
    assert times(1.0, 1.0) == "the same"
    assert times(1.0, 8.0) == "8 times less"
    assert times(0.97, 1.0) == "0.97 times that"
    assert times(0.0, 1.0) == "0 times that"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"field": {"width_m": 9.0, "height_m": 10.0}}, "field differs"),
        ({"phenomenon": {"kind": "zipf"}}, "phenomenon differs"),
        ({"motes": 5}, "motes.count differs"),
        ({"join": {"strategy": "lease", "window_s": 5.0, "answer": "sets"}}, "join.answer differs"),
    ],
)
def test_a_baseline_with_other_readings_is_refused(
    tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    run = run_of(tmp_path / "run")
    rows = ROWS | {"motes": mote_rows(5)} if "motes" in changes else ROWS
    other = run_of(tmp_path / "other", rows=rows, **changes)
    with pytest.raises(InputError, match=says):
        baseline_of(run, other)
    other = run_of(tmp_path / "seed")
    other.manifest.seed = 8
    with pytest.raises(InputError, match="seed = 8, expected 7"):
        baseline_of(run, other)


def test_two_runs_have_their_differences_and_one_clock(tmp_path: Path) -> None:
    first = run_of(tmp_path / "a")
    cheap = ROWS | {"traffic": [(1, 0, "reading", 1, 50, 1, 0, 0, 1)]}
    second = run_of(tmp_path / "b", rows=cheap, join={"strategy": "centralised", "window_s": 5.0})
    page = Page(side_by_side_page(first, second, scenery_of=lambda _: None))
    assert ["strategy", "snjoin-star", "centralised", ""] in page.rows
    assert ["bytes/s on air", "20.5", "5", "-75.6 %"] in page.rows
    assert page.data["beside"]["chart_prefix"] == "b-"
    assert {"a-traffic", "b-traffic"} <= page.charts()
    run_of(tmp_path / "long", duration_s=20.0)
    with pytest.raises(InputError, match="simulated_s = 20, expected 10"):
        write_side_by_side(tmp_path / "a", tmp_path / "long", tmp_path / "page.html")


def scenery(*snapshots: tuple[int, list[int]]) -> Scenery:
    ring = np.array([[0.0, 0.0], [10.0, 10.0], [5.0, 0.0]])
    taken = [
        Snapshot(f, [(0, ring)] if who else [], np.array(who, np.int64)) for f, who in snapshots
    ]
    wind = np.tile([1.0, 0.5], (10, 1))
    return Scenery(
        [Leak(-5.0, 3.0, "ammonia", [(1.0, 4.0)])],
        np.array([[1.0, 2.0, 3.0, 4.0]]),
        wind,
        ["threshold"],
        taken,
    )


def test_scenery_is_shown_only_where_it_agrees_with_the_trace(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    right, wrong = (
        scenery((0, []), (2, [0, 1]), (3, [0, 1, 2]), (5, [])),
        scenery((2, [0]), (5, [])),
    )
    assert agrees(right, run.truth, motes=4)
    assert not agrees(wrong, run.truth, motes=4)
    assert not agrees(scenery((3, [])), run.truth, motes=4)
    assert agrees(scenery((3, [])), None, motes=4)
    assert not agrees(right, None, motes=4)
    shown, notes = replay_of(run, right)
    assert shown is not None
    assert not any("contours" in note for note in notes)
    # The map grows to hold the leak, and contours are kept in steps of it.
    assert shown["map_m"] == [-5.0, -2.0, 10.0, 10.0]
    contours = shown["scenery"]["contours"]
    assert unpack(contours["frames"], "I") == [2, 3]
    steps = np.array(unpack(contours["points"], "H")).reshape(-1, 2)
    back = steps / 65_535 * [15.0, 12.0] + [-5.0, -2.0]
    assert back[:3] == pytest.approx(np.array([[0.0, 0.0], [10.0, 10.0], [5.0, 0.0]]), abs=1e-3)
    hidden, notes = replay_of(run, wrong)
    assert hidden is not None
    assert hidden["scenery"] is None
    assert any("another cloud" in note for note in notes)


def test_messages_readings_traffic_and_events_are_those_of_the_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(tmp_path)
    shown = pulses(run.trace, run.manifest, run.frames)
    assert shown is not None
    assert [kind["name"] for kind in shown["kinds"]] == ["probe", "elections"]
    assert unpack(shown["starts"], "I") == [0, 0, 2, *[2] * 8]
    assert unpack(shown["kind"], "B") == [0, 1 | 0x80]
    assert unpack(shown["phase"], "B") == [0, 127]
    assert unpack(shown["source"], "h") == [0, 2]
    assert unpack(shown["target"], "h") == [1, -2]
    valued = readings(run.trace, run.manifest)
    assert valued is not None
    assert unpack(valued["starts"], "I") == [0, 1, 2, 2, 2]
    assert unpack(valued["at_s"], "f") == [1.0, 3.0]
    counted = traffic_by_mote(run.trace, run.manifest)
    assert counted is not None
    assert (counted["width_s"], counted["bins"]) == (1, 10)
    assert sum(unpack(counted["sent"], "H")) == 7
    assert unpack(counted["sent"], "H")[1] == 5
    most = run.sizes.most_inside(run.frames)
    found = events(run.trace, run.manifest, most=most)
    marks = [(mark["at_s"], mark["kind"], mark["text"]) for mark in found]
    assert marks == [
        (1.0, "election", "election of heads"),
        (2.0, "appeared", "first mote inside"),
        (3.0, "most", "most motes inside, 3"),
        (3.0, "crash", "1 mote crashed"),
        (5.0, "found", "found: first result at the sink"),
        (5.01, "death", "2 motes died"),
        (6.0, "election", "election of heads"),
        (9.0, "death", "1 mote died"),
    ]
    # Of more messages than there is room for, every k-th is kept, whatever the batches.
    monkeypatch.setattr("analysis.report.map.mote_history.PULSES_MOST", 1)
    few = pulses(run.trace, run.manifest, run.frames)
    assert few is not None
    assert (few["every"], unpack(few["source"], "h")) == (2, [0])


def test_the_baseline_of_a_page_must_be_a_run(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run")
    assert run.motes == 4
    with pytest.raises(TraceError, match="no such run directory"):
        write_report(tmp_path / "run", baseline=tmp_path / "none")


def test_sets_that_come_and_go_are_the_answer(tmp_path: Path) -> None:
    """Where sets are asked for, rows have no origin: they list who came and who left."""

    def row(at_s: int, change: str, *, came: list[int], left: list[int]) -> tuple[Any, ...]:
        members = [[(node, at_s * S) for node in nodes] for nodes in (left, came)]
        left_rows, came_rows = members
        return (
            at_s * S,
            "join",
            change,
            3,
            None,
            None,
            None,
            left_rows,
            None,
            2,
            False,
            False,
            None,
            came_rows,
            None,
            "sets",
        )

    changes = [
        row(1, "+", came=[0, 1], left=[]),
        row(3, "u", came=[2], left=[0]),
        row(6, "-", came=[], left=[1, 2]),
    ]
    join = {"strategy": "lease", "window_s": 5.0, "answer": "sets"}
    run = run_of(tmp_path, rows=ROWS | {"results": changes}, join=join)
    replay, _ = replay_of(run, None)
    assert replay is not None
    assert sets_of(replay["answer"]) == [set(), {0, 1}, {0, 1}, *[{1, 2}] * 3, *[set()] * 4]
    counting = run_of(tmp_path / "count", join=join | {"answer": "count"})
    assert counting.answer is None
    assert "the sink only counts" in counting.missing
