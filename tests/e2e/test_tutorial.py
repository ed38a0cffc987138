"""The tutorial of docs/TUTORIAL.md, followed step by step: its files and its commands, in order."""

import re
import shlex
from pathlib import Path

import pytest

from tests.support.checkers.trace import check_trace
from tests.support.places import DOCS
from tests.support.runs import run_elsewhere, run_here

TEXT = (DOCS / "TUTORIAL.md").read_text()
FILES = re.findall(r"```toml\n(.*?)```", TEXT, flags=re.DOTALL)
COMMANDS = [
    line
    for block in re.findall(r"```sh\n(.*?)```", TEXT, flags=re.DOTALL)
    for line in block.splitlines()
]


@pytest.mark.slow
@pytest.mark.spark
def test_the_commands_of_the_tutorial_work_one_after_another(tmp_path: Path) -> None:
    (tmp_path / "yard.toml").write_text(FILES[0])
    assert len(COMMANDS) > 5
    for command in COMMANDS:
        program, *words = shlex.split(command)
        assert program == "motejoin", command
        done = run_elsewhere(*words, cwd=tmp_path)
        assert done.returncode == 0, (command, done.stderr)
    assert (tmp_path / "yard.png").is_file()
    assert (tmp_path / "runs" / "yard" / "report.html").is_file()


def test_the_tutorial_s_cloud_is_found_and_its_wall_can_be_added(tmp_path: Path) -> None:
    open_yard, wall = tmp_path / "yard.toml", tmp_path / "wall.toml"
    open_yard.write_text(FILES[0])
    wall.write_text(FILES[0] + FILES[1])
    free = run_here(tmp_path / "free", scenario=str(open_yard))
    walled = run_here(tmp_path / "walled", scenario=str(wall))
    check_trace(tmp_path / "free")
    assert free.counts["tracking"]["detected_s"] is not None
    assert free.counts["tracking"]["coverage"] > 0.7
    assert walled.counts["tracking"]["inside_most"] < free.counts["tracking"]["inside_most"]


def test_the_tutorial_s_real_radios_have_room_on_the_channel(tmp_path: Path) -> None:
    (tmp_path / "yard.toml").write_text(FILES[0])
    (command,) = [line for line in COMMANDS if line.startswith("motejoin run") and "csma" in line]
    settings = [word for word in shlex.split(command) if "." in word and "=" in word]
    words = [word for setting in settings for word in ("--set", setting)]
    counts = run_here(tmp_path / "run", *words, scenario=str(tmp_path / "yard.toml")).counts
    assert counts["traffic"].keys() >= {"probe", "result", "mac-ack"}
    assert counts["fates"]["joined"] > 0.95 * counts["readings_with_value"] > 0
    finished, requests = counts["requests"]["finished"], sum(counts["requests"].values())
    assert finished > 0.9 * requests
    assert f"of {counts['readings_with_value']} readings with a value" in TEXT
    assert f"{finished} of {requests} requests finish" in TEXT
    assert f"come {counts['mean_delay_ms']:.0f} ms after" in TEXT


def test_the_tutorial_s_recording_can_be_replayed(tmp_path: Path) -> None:
    before = FILES[0].split("[phenomenon]")[0]
    motes = before.replace("count = 300", 'count = 3\nplacement = "recorded"')
    (tmp_path / "mine.toml").write_text(motes + FILES[2])
    rows = [
        f"{second},{node},{5 + second},{x},{y}"
        for second in range(60)
        for node, x, y in (("a", 30, 30), ("b", 35, 30), ("c", 40, 30))
    ]
    (tmp_path / "readings.csv").write_text("\n".join(["time,node,value,x,y", *rows]))
    manifest = run_here(tmp_path / "run", scenario=str(tmp_path / "mine.toml"))
    check_trace(tmp_path / "run")
    assert manifest.counts["results"] > 0
