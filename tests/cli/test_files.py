"""Errors for unusable paths: they give the name as typed and what was expected there."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.runs import fails

STREAM = "stream,value,at_us\nA,1,1\nB,1,2\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a recorded stream, directories named like files, and a file named like a run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text(STREAM)
    (tmp_path / "run").write_text("")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    texts = pa.array([b"\xa8", b"x"], pa.binary()).view(pa.string())
    table = pa.table({"stream": ["A", "B"], "value": texts, "at_us": [1, 2]})
    pq.write_table(table, tmp_path / "bytes.parquet")
    table = pa.table({"stream": texts, "value": ["A", "B"], "at_us": [1, 2]})
    pq.write_table(table, tmp_path / "names.parquet")
    (tmp_path / "field").mkdir()
    for name in ("dir.csv", "dir.parquet", "dir.toml", "dir.json", "dir.png"):
        (tmp_path / name).mkdir()
    return tmp_path


JOIN = ["join", "--window", "1s"]
QUERY = ["query", "SELECT value FROM S"]
CLUSTER = ["cluster", "--nodes", "20"]

INPUTS = {
    "scenario": (["run", "dir.toml"], "dir.toml: is a directory, expected a scenario file"),
    "bare name": (["run", "field"], "field: is a directory, expected a scenario file"),
    "missing scenario": (["run", "none.toml"], "none.toml: no such file"),
    "sweep": (["sweep", "dir.toml"], "dir.toml: is a directory, expected a sweep file"),
    "join": (
        [*JOIN, "dir.csv", "out.csv"],
        "dir.csv: is a directory, expected a .csv or .parquet file",
    ),
    "device": (
        [*JOIN, "zero.csv", "out.csv"],
        "zero.csv: is a device or a pipe, expected a .csv or .parquet file",
    ),
    "no UTF-8": (
        [*JOIN, "bytes.parquet", "out.csv", "--arity=variable"],
        "bytes.parquet: cannot be read: 'utf-8' codec can't decode byte 0xa8 in position 0: invalid start byte",
    ),
    "no UTF-8 in names": (
        [*JOIN, "names.parquet", "out.csv"],
        "names.parquet: cannot be read: 'utf-8' codec can't decode byte 0xa8 in position 0: invalid start byte",
    ),
    "missing stream": ([*JOIN, "none.csv", "out.csv"], "none.csv: no such file"),
    "missing Parquet": ([*JOIN, "none.parquet", "out.csv"], "none.parquet: no such file"),
    "query": (
        [*QUERY, "--stream=S=dir.parquet", "--out=out.csv"],
        "dir.parquet: is a directory, expected a .csv or .parquet file",
    ),
    "missing query stream": (
        [*QUERY, "--stream=S=none.csv", "--out=out.csv"],
        "none.csv: no such file",
    ),
    "table": (
        [*QUERY, "--stream=S=in.csv", "--table=T=dir.csv", "--out=out.csv"],
        "dir.csv: is a directory, expected a .csv or .parquet file",
    ),
    "run": (["report", "run"], "run: is a file, expected a run directory"),
    "missing run": (["report", "none"], "none: no such run directory"),
}

NOWHERE = "cannot be written: the folder nosuch does not exist"
TAKEN = "cannot be written: is a directory, expected a file"

OUTPUTS = {
    "join": ([*JOIN, "in.csv", "nosuch/x.csv"], f"nosuch/x.csv: {NOWHERE}"),
    "join Parquet": ([*JOIN, "in.csv", "nosuch/x.parquet"], f"nosuch/x.parquet: {NOWHERE}"),
    "join directory": ([*JOIN, "in.csv", "dir.csv"], f"dir.csv: {TAKEN}"),
    "quarantine": (
        [*JOIN, "in.csv", "out.csv", "--quarantine=nosuch/q.csv"],
        f"nosuch/q.csv: {NOWHERE}",
    ),
    "stats": ([*JOIN, "in.csv", "out.csv", "--stats=nosuch/s.json"], f"nosuch/s.json: {NOWHERE}"),
    "stats directory": ([*JOIN, "in.csv", "out.csv", "--stats=dir.json"], f"dir.json: {TAKEN}"),
    "query": ([*QUERY, "--stream=S=in.csv", "--out=nosuch/x.csv"], f"nosuch/x.csv: {NOWHERE}"),
    "query Parquet": (
        [*QUERY, "--stream=S=in.csv", "--out=nosuch/x.parquet"],
        f"nosuch/x.parquet: {NOWHERE}",
    ),
    "query directory": ([*QUERY, "--stream=S=in.csv", "--out=dir.parquet"], f"dir.parquet: {TAKEN}"),
    "plot": ([*CLUSTER, "--plot=nosuch/c.png"], f"--plot = nosuch/c.png: {NOWHERE}"),
    "picture": (
        ["scenarios", "gas-cloud-small", "--times=9", "--picture=dir.png"],
        f"--picture dir.png: {TAKEN}",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "says"), INPUTS.values(), ids=INPUTS)
def test_unreadable_inputs_are_reported(
    folder: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.iterdir())
    assert fails(capsys, *arguments) == f"{says}\n"
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(("arguments", "says"), OUTPUTS.values(), ids=OUTPUTS)
def test_unwritable_outputs_are_reported_by_their_own_name(
    folder: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.iterdir())
    errors = fails(capsys, *arguments).splitlines()
    assert errors[-1] == says
    assert not any("Errno" in line or "part" in line for line in errors)
    assert sorted(folder.iterdir()) == before
