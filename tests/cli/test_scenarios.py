"""`motejoin scenarios`: shipped scenarios are listed, printed and drawn; errors are reported."""

from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from scenarios.cli import main
from scenarios.files.shipped import shipped_scenarios, shipped_sweeps
from scenarios.phenomena.gas.cloud import GasCloud
from scenarios.phenomena.gas.pictures import cloud_times_s
from scenarios.schema.load import load_scenario
from scenarios.sweep.file import load_sweep
from scenarios.wiring.simulation import build_world
from sim.errors import ScenarioError
from tests.support.places import ROOT

GAS_SCENARIOS = [
    name
    for name in shipped_scenarios()
    if load_scenario(name).scenario.phenomenon.kind == "gas-cloud"
]


def fails(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command that must fail with exit code 2; returns its error message."""
    assert main(words) == 2
    return capsys.readouterr().err


def test_shipped_scenarios_load_under_their_names() -> None:
    assert {"gas-cloud", "wind-shift", "barrier", "churn", "replay-gas"} <= set(shipped_scenarios())
    for name in shipped_scenarios():
        scenario = load_scenario(name).scenario
        assert scenario.name == name
        assert scenario.description, name


@pytest.mark.parametrize("name", GAS_SCENARIOS)
def test_every_shipped_gas_scenario_has_its_picture_in_the_documents(name: str) -> None:
    picture = f"images/clouds/{name}.png"
    assert (ROOT / "docs" / picture).is_file()
    assert f"({picture})" in (ROOT / "docs" / "LIBRARY.md").read_text()


def test_a_picture_shows_the_requested_times(tmp_path: Path) -> None:
    one, two = tmp_path / "one.png", tmp_path / "two.png"
    assert main(["scenarios", "gas-cloud-small", "--picture", str(one), "--times", "60"]) == 0
    assert main(["scenarios", "gas-cloud-small", "--picture", str(two), "--times", "90,30,60"]) == 0
    # Two panels a row: three times need a second row.
    height_one, height_two = (matplotlib.image.imread(path).shape[0] for path in (one, two))
    assert height_two > 1.5 * height_one


def test_a_picture_depends_on_the_seed(tmp_path: Path) -> None:
    pictures = []
    for number, seed in enumerate(["1", "1", "2"]):
        path = tmp_path / f"{number}.png"
        words = ["--picture", str(path), "--times", "60", "--seed", seed]
        assert main(["scenarios", "gas-cloud-small", *words]) == 0
        pictures.append(path.read_bytes())
    assert pictures[0] == pictures[1] != pictures[2]


def test_times_are_chosen_while_motes_are_inside() -> None:
    loaded = load_scenario("gas-cloud-small")
    phenomenon = build_world(loaded, 1).phenomenon
    assert isinstance(phenomenon, GasCloud)
    times_s = cloud_times_s(phenomenon, loaded.scenario.duration_s)
    assert times_s == sorted(set(times_s))
    fresh = build_world(loaded, 1).phenomenon
    inside = [sum(map(np.size, fresh.truth(round(at_s * 1e6)).values())) for at_s in times_s]
    assert min(inside) > 0, inside


def test_scenarios_that_cannot_be_drawn_are_reported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    picture = str(tmp_path / "a.png")
    wrong_kind = fails(capsys, "scenarios", "tracking", "--picture", picture)
    assert "phenomenon.kind = 'moving-objects': expected 'gas-cloud'" in wrong_kind
    assert ".png" in fails(capsys, "scenarios", "barrier", "--picture", "barrier.pdf")
    assert "name or path" in fails(capsys, "scenarios", "--picture", picture)
    assert "--picture" in fails(capsys, "scenarios", "barrier", "--times", "5")
    nowhere = str(tmp_path / "none" / "a.png")
    written = fails(capsys, "scenarios", "gas-cloud-small", "--picture", nowhere, "--times", "9")
    assert "cannot be written" in written
    times = fails(capsys, "scenarios", "barrier", "--picture", picture, "--times", "5,soon")
    assert "expected seconds, such as" in times
    seed = fails(capsys, "scenarios", "barrier", "--picture", picture, "--seed", "-1")
    assert seed == "barrier: seed = -1: expected a number of at least 0\n"


def test_the_number_of_motes_follows_from_their_positions(tmp_path: Path) -> None:
    text = "\n".join(
        line
        for line in shipped_scenarios()["gas-cloud-small"].splitlines()
        if "count =" not in line
    )
    text = text.replace('placement = "uniform"', 'placement = "file"\npositions = "places.csv"')
    (tmp_path / "mine.toml").write_text(text)
    (tmp_path / "places.csv").write_text("id,x_m,y_m\n1,10,10\n2,20,10\n5,30,90\n")
    assert load_scenario(str(tmp_path / "mine.toml")).scenario.motes.count == 3


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot be read: No such file"),
        ("", "has no positions, expected `id x y`"),
        ("id,x_m,y_m\nattic,10,10\n", "line 2 is 'attic,10,10', expected `id x y`"),
    ],
    ids=["missing", "empty", "names as ids"],
)
def test_what_is_wrong_with_positions_is_not_blamed_on_the_number_of_motes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, says: str
) -> None:
    text = shipped_scenarios()["gas-cloud-small"].replace("count = 200\n", "")
    text = text.replace('placement = "uniform"', 'placement = "file"\npositions = "places.csv"')
    (tmp_path / "mine.toml").write_text(text)
    if content is not None:
        (tmp_path / "places.csv").write_text(content)
    said = fails(capsys, "run", str(tmp_path / "mine.toml"), "--out", str(tmp_path / "run"))
    assert f"motes.positions = 'places.csv': {says}" in said
    assert "motes.count" not in said
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("place", ["shipped", "file"])
def test_a_sweep_is_no_scenario_and_said_to_be_one(tmp_path: Path, place: str) -> None:
    name = "feedback-small"
    if place == "file":
        (tmp_path / "mine.toml").write_text(shipped_sweeps()[name])
        name = str(tmp_path / "mine.toml")
    with pytest.raises(ScenarioError, match="this is a sweep, which `motejoin sweep` runs"):
        load_scenario(name)


@pytest.mark.parametrize("place", ["shipped", "file"])
def test_a_scenario_is_no_sweep_and_said_to_be_one(tmp_path: Path, place: str) -> None:
    name = "gas-cloud-small"
    if place == "file":
        (tmp_path / "mine.toml").write_text(shipped_scenarios()[name])
        name = str(tmp_path / "mine.toml")
    with pytest.raises(ScenarioError, match="this is a scenario, which `motejoin run` runs"):
        load_sweep(name)
