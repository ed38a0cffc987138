"""Bad input: exit code 2, one message with file, key, value and expectation, no files left."""

from pathlib import Path

import pytest

from scenarios.files.shipped import shipped_scenarios
from tests.support.runs import SMALL, fails

SETTINGS = {
    "unknown key": ("motes.cuont=3", ["motes.cuont = 3", "unknown key", "did you mean 'count'?"]),
    "unknown table": ("feild.width_m=3", ["feild", "unknown key", "did you mean 'field'?"]),
    "wrong type": ('motes.count="many"', ["motes.count = 'many'", "expected a whole number"]),
    "fraction for a count": ("motes.count=2.5", ["motes.count = 2.5", "expected a whole number"]),
    "boolean for a number": ("join.window_s=true", ["join.window_s = true", "expected a number"]),
    "negative count": ("motes.count=-5", ["motes.count = -5", "at least 1"]),
    "zero motes": ("motes.count=0", ["motes.count = 0", "at least 1"]),
    "not a number": ("field.width_m=nan", ["field.width_m = nan", "finite number"]),
    "infinite": ("duration_s=inf", ["duration_s = inf", "finite number"]),
    "near-miss of a name": (
        "clustering.protocol=hed",
        ["clustering.protocol = 'hed'", "did you mean 'heed'?"],
    ),
    "unknown phenomenon": (
        "phenomenon.kind=gascloud",
        ["phenomenon.kind = 'gascloud'", "did you mean 'gas-cloud'?"],
    ),
    "unknown profile": (
        "motes.profile=firstorder",
        ["motes.profile", "did you mean 'first-order'?"],
    ),
    "unknown trace table": (
        'trace.tables=["reading"]',
        ["trace.tables", "did you mean 'readings'?"],
    ),
    "probability above one": ("join.exploration=1.5", ["join.exploration = 1.5", "at most 1"]),
    "groups that fill the memory": (
        "motes.groups=1000000000",
        ["motes.groups = 1000000000", "at most 1000000"],
    ),
    "cells smaller than motes": ("join.cell_m=1e-9", ["join.cell_m = 1e-09", "at least 1"]),
    "no time between refreshes": ("join.refresh_s=1e-9", ["join.refresh_s", "at least 0.001"]),
    "no window": ("join.window_s=1e-9", ["join.window_s = 1e-09", "at least 0.001"]),
    "no time to crash": ("faults.crashes={mean_up_s=1e-9}", ["mean_up_s", "at least 0.1"]),
    "no period": ("radio.wake_period_s=1e-9", ["radio.wake_period_s", "at least 0.001"]),
    "never awake": ("radio.duty_cycle=1e-9", ["radio.duty_cycle", "at least 0.001"]),
    "shadows beyond all measure": (
        "radio.shadowing.sigma_db=1e9",
        ["radio.shadowing.sigma_db", "at most 100"],
    ),
    "noise of a star": (
        "radio.shadowing.noise_dbm=1e9",
        ["radio.shadowing.noise_dbm", "at most 300"],
    ),
    "motes all over the world": (
        "motes={count=9, placement='clustered', spread_m=1e9, interval_s=1.0}",
        ["motes.spread_m = 1000000000.0", "at most 10 times the field's shorter side"],
    ),
    "text for a table": ("field=3", ["field = 3", "expected a table"]),
    "short round": ("clustering.round_s=2.0", ["clustering.round_s = 2.0", "at least 10 s"]),
    "range beyond the radio": (
        "clustering.range_m=99.0",
        ["clustering.range_m = 99.0", "radio.range_m"],
    ),
    "nothing sensed": ("duration_s=5.0", ["duration_s = 5.0", "nothing would be sensed"]),
    "not key=value": ("motes.count", ["'motes.count'", "expected key=value"]),
    "missing positions": ("motes.placement=file", ["positions", "exactly when"]),
    "bad query": (
        'query=[{name="q", sql="SELECT * FROM SENSOR JOIN ON gas WINDOW 10 s"}]',
        ["query[0].sql", "line 1, column 15", "SELECT * FROM SENSORS JOIN ON"],
    ),
    "query window": (
        'query=[{name="q", sql="SELECT * FROM SENSORS JOIN ON gas WINDOW 1 min"}]',
        ["WINDOW is 60.0 s", "join.window_s = 6.0"],
    ),
}


@pytest.mark.parametrize(("setting", "said"), SETTINGS.values(), ids=SETTINGS)
def test_an_error_gives_key_value_and_expectation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], setting: str, said: list[str]
) -> None:
    out = tmp_path / "run"
    message = fails(capsys, "run", SMALL, "--out", str(out), "--set", setting)
    assert all(words in message for words in said), message
    assert message.startswith(SMALL)
    assert len(message.splitlines()) == 1, message
    assert not out.exists()


@pytest.mark.parametrize(
    "table", ["field", "motes", "sink", "radio", "clustering", "join", "phenomenon"]
)
def test_a_missing_table_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str
) -> None:
    lines, kept = [], True
    for line in shipped_scenarios()[SMALL].splitlines():
        if line.startswith("["):
            kept = not line.strip("[]").startswith(table)
        if kept:
            lines.append(line)
    path = tmp_path / "mine.toml"
    path.write_text("\n".join(lines))
    message = fails(capsys, "run", str(path), "--out", str(tmp_path / "run"))
    assert f"{path}: {table}: missing, expected a table [{table}]" in message
    assert not (tmp_path / "run").exists()


def test_all_errors_are_reported_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = ["motes.count=-1", "join.strategy=centralized", "sink.z_m=1", "field.width_m=nan"]
    arguments = [word for setting in settings for word in ("--set", setting)]
    message = fails(capsys, "run", SMALL, "--out", str(tmp_path / "run"), *arguments)
    assert len(message.splitlines()) == 4
    assert all(setting.split("=")[0] in message for setting in settings)


def test_files_that_are_not_scenarios_are_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no such scenario (did you mean 'gas-cloud'?)" in fails(capsys, "run", "gas-clod")
    assert "no such file" in fails(capsys, "run", str(tmp_path / "none.toml"))
    broken = tmp_path / "broken.toml"
    broken.write_text("name = [")
    assert "not valid TOML" in fails(capsys, "run", str(broken))
    broken.write_bytes(b"\xff\xfe")
    assert "cannot be read" in fails(capsys, "run", str(broken))
    assert "is a directory, expected a scenario file" in fails(capsys, "run", str(tmp_path))


def test_bad_positions_are_named_by_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    positions = tmp_path / "positions.txt"
    positions.write_text("1 0 0\n2 here there\n")
    arguments = ["run", SMALL, "--out", str(tmp_path / "run"), "--set", "motes.placement=file"]
    arguments += ["--set", f'motes.positions="{positions}"']
    assert "line 2 is '2 here there', expected `id x y`" in fails(capsys, *arguments)
    positions.write_text("1 0 0\n2 5 5\n")
    assert "motes.count = 200: expected as many positions" in fails(capsys, *arguments)
    positions.unlink()
    assert "cannot be read" in fails(capsys, *arguments)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("motes", [1, 3])
def test_a_recording_with_positions_has_as_many_nodes_as_the_scenario_has_motes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], motes: int
) -> None:
    (tmp_path / "room.csv").write_text("time,node,value\n0,a,1.0\n0,b,2.0\n5,a,3.0\n")
    (tmp_path / "places.csv").write_text("node,x_m,y_m\na,1.0,1.0\nb,2.0,2.0\n")
    phenomenon = f"phenomenon={{kind='replay', file='{tmp_path}/room.csv', places_file='{tmp_path}/places.csv'}}"
    settings = ["motes.placement=recorded", f"motes.count={motes}", phenomenon]
    words = [word for setting in settings for word in ("--set", setting)]
    message = fails(capsys, "run", SMALL, "--out", str(tmp_path / "run"), *words)
    assert f"motes.count = {motes}: expected as many motes as the recording has: 2" in message
    assert not (tmp_path / "run").exists()


def test_a_directory_that_cannot_be_created_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    message = fails(capsys, "run", SMALL, "--out", str(tmp_path / "file" / "run"))
    assert "--out" in message
    assert "cannot be made" in message


def test_a_query_on_an_unknown_attribute_is_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    setting = 'query=[{name="q", sql="SELECT * FROM SENSORS JOIN ON smoke WINDOW 6 s"}]'
    message = fails(capsys, "run", SMALL, "--out", str(tmp_path / "run"), "--set", setting)
    assert "query[0].sql = JOIN ON smoke: expected JOIN ON gas" in message
    assert not (tmp_path / "run").exists()


def test_a_missing_recording_is_named_with_scenario_and_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    setting = "phenomenon.file=nowhere.csv"
    message = fails(capsys, "run", "replay-gas", "--out", str(tmp_path / "run"), "--set", setting)
    assert "replay-gas: phenomenon: nowhere.csv: cannot be read: No such file" in message


def test_toml_nested_too_deeply_is_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deep = "[" * 3000 + "]" * 3000
    path = tmp_path / "deep.toml"
    path.write_text(f"name = {deep}\n")
    assert "nested too deeply" in fails(capsys, "run", str(path), "--out", str(tmp_path / "run"))
    message = fails(capsys, "run", SMALL, "--out", str(tmp_path / "run"), "--set", f"seed={deep}")
    assert "seed" in message
    keys = ".".join("a" * 3000)
    fails(capsys, "run", SMALL, "--out", str(tmp_path / "run"), "--set", f"{keys}=1")
    assert not (tmp_path / "run").exists()


def test_a_nul_in_an_argument_is_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["run", SMALL, "--out", "a\0b"], ["query", "SELECT", "--out", "\0"]):
        assert "expected no NUL character" in fails(capsys, *arguments)


def test_a_nul_in_the_name_of_an_input_file_is_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    setting = 'motes.positions="a\\u0000b"'
    settings = ["--set", "motes.placement=file", "--set", setting]
    assert "embedded null byte" in fails(
        capsys, "run", SMALL, "--out", str(tmp_path / "run"), *settings
    )


def test_a_name_that_no_directory_can_have_is_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "x" * 300
    message = fails(capsys, "run", SMALL, "--out", str(tmp_path / name))
    assert "--out" in message
    assert "cannot be made" in message
    fails(capsys, "run", f"{tmp_path}/{name}.toml")
    fails(capsys, "report", str(tmp_path / name))
    fails(capsys, "join", str(tmp_path / f"{name}.csv"), str(tmp_path / "out.csv"), "--window=1s")


@pytest.mark.parametrize(
    ("scenario", "settings"),
    [
        (SMALL, ["motes.placement=file", "motes.positions=/dev/zero"]),
        ("replay-gas", ["phenomenon.file=/dev/zero"]),
        ("/dev/zero", []),
    ],
    ids=["positions", "recording", "scenario"],
)
def test_a_device_is_no_input_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], scenario: str, settings: list[str]
) -> None:
    arguments = [word for setting in settings for word in ("--set", setting)]
    message = fails(capsys, "run", scenario, "--out", str(tmp_path / "run"), *arguments)
    assert "found a device or a pipe" in message or "is a device or a pipe" in message
