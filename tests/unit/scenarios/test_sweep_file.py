"""Sweep files: their points, distinct names, and all errors reported at once."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from scenarios.files.shipped import shipped_sweeps
from scenarios.schema.load import LoadedScenario, put_key
from scenarios.sweep.file import Point, Sweep, load_sweep, point_scenario
from scenarios.wiring.simulation import build_world
from sim.errors import ScenarioError


def sweep_of(tmp_path: Path, text: str) -> Sweep:
    file = tmp_path / "mine.toml"
    file.write_text(f'scenario = "gas-cloud-small"\nseeds = [1, 2]\n{text}')
    return load_sweep(str(file))


def test_grid_has_every_combination_in_order(tmp_path: Path) -> None:
    sweep = sweep_of(
        tmp_path, '[grid]\njoin.window_s = [3.0, 6.0]\n"clustering.protocol" = ["heed", "leach"]'
    )
    assert [point.name for point in sweep.points] == [
        "window_s=3.0,protocol=heed",
        "window_s=3.0,protocol=leach",
        "window_s=6.0,protocol=heed",
        "window_s=6.0,protocol=leach",
    ]
    assert sweep.axes == ["join.window_s", "clustering.protocol"]
    assert sweep.points[1].settings == {"join.window_s": 3.0, "clustering.protocol": "leach"}
    assert sweep.name == "mine"


def test_points_stand_side_by_side_with_what_all_share(tmp_path: Path) -> None:
    sweep = sweep_of(
        tmp_path,
        """
        [set]
        trace.messages = "off"
        [[point]]
        name = "heed-20m"
        set = { "clustering.range_m" = 20.0 }
        [[point]]
        [point.set]
        clustering.protocol = "leach"
        """,
    )
    assert [point.name for point in sweep.points] == ["heed-20m", "protocol=leach"]
    assert sweep.axes == ["point"]
    assert sweep.points[0].place == {"point": "heed-20m"}
    assert sweep.points[1].settings == {
        "trace.messages": "off",
        "clustering.protocol": "leach",
    }


def test_points_are_taken_to_every_place_of_a_grid(tmp_path: Path) -> None:
    sweep = sweep_of(
        tmp_path,
        """
        [grid]
        join.window_s = [3.0, 6.0]
        [[point]]
        name = "central"
        set = { "join.strategy" = "centralised" }
        [[point]]
        name = "star"
        """,
    )
    assert [point.name for point in sweep.points] == [
        "central,window_s=3.0",
        "central,window_s=6.0",
        "star,window_s=3.0",
        "star,window_s=6.0",
    ]
    assert sweep.points[3].place == {"variant": "star", "join.window_s": 6.0}


def test_a_point_may_set_what_only_begins_like_a_key_of_the_grid(tmp_path: Path) -> None:
    text = "[grid]\njoin.window = [3.0]\n[[point]]\nset = { 'join.window_s' = 1.0 }"
    (point,) = sweep_of(tmp_path, text).points
    assert point.settings == {"join.window_s": 1.0, "join.window": 3.0}


def test_keys_with_one_ending_are_told_apart_in_names(tmp_path: Path) -> None:
    sweep = sweep_of(
        tmp_path, "[grid]\nradio.range_m = [40.0]\nclustering.range_m = [20.0]\nmotes.count = [9]"
    )
    assert sweep.points[0].name == "radio.range_m=40.0,clustering.range_m=20.0,count=9"


def test_long_and_odd_values_make_short_names_that_differ(tmp_path: Path) -> None:
    values = ", ".join(f'"{"x" * 150} /{i}"' for i in range(3))
    sweep = sweep_of(tmp_path, f"[grid]\nphenomenon.file = [{values}]")
    names = {point.name for point in sweep.points}
    assert len(names) == 3
    assert all(len(name) <= 100 and "/" not in name and " " not in name for name in names)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[grid]\njoin.window_s = 3.0", ['grid."join.window_s"', "expected an array"]),
        ("[grid]\njoin.window_s = []", ['grid."join.window_s"', "at least one"]),
        ("[grid]\njoin.window_s = [3.0, 3.0]", ["each value once"]),
        ("[grid]\nseed = [1, 2]", ["grid.seed", "`seeds`"]),
        ("[[point]]\nname = 'a'\n[[point]]\nname = 'a'", ["'a'", "each point once"]),
        ("[[point]]\nname = 'a/b'", ["point[0].name"]),
        (
            "[grid]\njoin.window_s = [3.0, 6.0]\n[[point]]\nset = { join.window_s = 1.0 }",
            ['point[0].set."join.window_s" = 1.0', 'grid."join.window_s"'],
        ),
        (
            "[grid]\nphenomenon.source = [[], []]\n[[point]]\n[[point]]\nset = { 'phenomenon.source.0.x_m' = 1.0 }",
            ['point[1].set."phenomenon.source.0.x_m"', 'grid."phenomenon.source"'],
        ),
        (
            "[grid]\njoin.window_s = [3.0]\n[[point]]\nset = { join = 'x' }",
            ['point[0].set."join"', 'grid."join.window_s"'],
        ),
        ("sedes = [1]", ["sedes", "did you mean 'seeds'"]),
        ("timeout_s = 0", ["timeout_s", "above 0"]),
        ("[grid", ["not valid TOML"]),
    ],
)
def test_a_file_of_the_wrong_form_is_refused(tmp_path: Path, text: str, parts: list[str]) -> None:
    with pytest.raises(ScenarioError) as error:
        sweep_of(tmp_path, text)
    assert all(part in str(error.value) for part in parts), error.value


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('scenario = 5\nseeds = ["x"]\ntypo = 1')
    with pytest.raises(ScenarioError) as error:
        load_sweep(str(file))
    assert len(error.value.faults) == 3


def test_the_scenario_is_found_beside_the_sweep_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('scenario = "field.toml"\nseeds = [1]')
    with pytest.raises(ScenarioError, match="scenario = 'field.toml': no such file"):
        load_sweep(str(tmp_path / "mine.toml"))
    (tmp_path / "field.toml").write_text("duration_s = 5.0")
    sweep = load_sweep(str(tmp_path / "mine.toml"))
    assert sweep.content == {"duration_s": 5.0}
    assert sweep.base_dir == tmp_path
    assert [point.name for point in sweep.points] == ["base"]


@pytest.mark.parametrize("name", shipped_sweeps())
def test_every_shipped_sweep_has_only_valid_points(name: str) -> None:
    sweep = load_sweep(name)
    assert sweep.description
    for point in sweep.points:
        invalid = sweep.omit_invalid and not delivers(point)
        refusal = "which does not bring more to the sink"
        with pytest.raises(ScenarioError, match=refusal) if invalid else nullcontext():
            scenario = point_scenario(sweep.content, point.settings, seed=7, source=name)
            assert scenario.seed == 7


def delivers(point: Point) -> bool:
    """Whether the strategy of a point delivers what is asked for."""
    asked = point.settings.get("join.answer")
    return asked != "results" or point.settings["join.strategy"] not in ("lease", "change")


@pytest.mark.parametrize("name", shipped_sweeps())
def test_every_shipped_sweep_has_the_inputs_of_its_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sweep = load_sweep(name)
    seed, settings = sweep.seeds[0], sweep.points[0].settings
    scenario = point_scenario(sweep.content, settings, seed=seed, source=name)
    world = build_world(LoadedScenario(scenario, name, sweep.base_dir), seed)
    assert len(world.placement.motes_m) == scenario.motes.count


def test_a_recording_that_ships_is_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (load_sweep("joins-perimeter").base_dir / "perimeter.csv").is_file()
    own = tmp_path / "own.toml"
    own.write_text(
        'scenario = "perimeter"\nseeds = [1]\n[grid]\n"phenomenon.file" = ["mine.csv", "perimeter.csv"]\n'
    )
    assert load_sweep(str(own)).base_dir == tmp_path


def test_a_point_that_the_scenario_does_not_allow_has_its_own_faults(tmp_path: Path) -> None:
    sweep = sweep_of(tmp_path, "[grid]\nmotes.count = [10, -1]")
    good, bad = sweep.points
    assert point_scenario(sweep.content, good.settings, seed=1, source="x").motes.count == 10
    with pytest.raises(ScenarioError, match=r"motes.count = -1"):
        point_scenario(sweep.content, bad.settings, seed=1, source="x")
    assert sweep.content["motes"]["count"] == 200, "a point must leave the scenario as it is"


@pytest.mark.parametrize(
    ("key", "after"),
    [
        ("a.b", {"a": {"b": 9}, "list": [{"x": 1}, {"x": 2}]}),
        ("new.table.key", {"new": {"table": {"key": 9}}}),
        ("list.1.x", {"list": [{"x": 1}, {"x": 9}]}),
    ],
)
def test_a_dotted_key_reaches_into_tables_and_arrays(key: str, after: dict[str, Any]) -> None:
    content: dict[str, Any] = {"a": {"b": 0}, "list": [{"x": 1}, {"x": 2}]}
    assert put_key(content, key, 9) == ""
    assert content | after == content


@pytest.mark.parametrize(
    ("key", "why"),
    [("list.2.x", "entries 0 to 1"), ("list.x", "entries"), ("a.b.c", "not a table")],
)
def test_a_dotted_key_that_leads_nowhere_is_refused(key: str, why: str) -> None:
    content: dict[str, Any] = {"a": {"b": 0}, "list": [{"x": 1}, {"x": 2}]}
    assert why in put_key(content, key, 9)


WINNERS = """
[winners]
metric = "bytes"
among = "join.strategy"
cells = "(?P<row>.+)-(?P<column>[0-9]+)"
{more}
[grid]
"join.strategy" = ["centralised", "snjoin-star"]
[[point]]
name = "{name}"
"""


def test_winners_are_asked_for_by_name(tmp_path: Path) -> None:
    found = sweep_of(tmp_path, WINNERS.format(more="", name="few-1")).winners
    assert found is not None
    assert (found.metric, found.model, found.panels) == ("bytes", None, [])


@pytest.mark.parametrize(
    ("more", "name", "said"),
    [
        ('model = "lease"', "few-1", "winners.model"),
        ("", "few", "match the name of each point"),
        ("columns = 3", "few-1", "winners.columns"),
    ],
)
def test_winners_that_cannot_be_drawn_are_refused(
    tmp_path: Path, more: str, name: str, said: str
) -> None:
    with pytest.raises(ScenarioError, match=said):
        sweep_of(tmp_path, WINNERS.format(more=more, name=name))


def test_every_fault_of_winners_is_said_at_once(tmp_path: Path) -> None:
    text = '[winners]\nmetric = "lengths"\namong = "a.b"\ncells = "("\n'
    with pytest.raises(ScenarioError) as refused:
        sweep_of(tmp_path, text)
    places = [fault.place for fault in refused.value.faults]
    assert places == ["winners", "winners.metric", "winners.among", "winners.cells"]
