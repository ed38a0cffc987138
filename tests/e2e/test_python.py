"""The Python interface: its documented examples, its types as a user's script sees them, and its errors."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

import motejoin as mj
from tests.support.places import ROOT

READINGS = "stream,value,at_us\na,warm,0\nb,warm,1000\n"

SCRIPT = '''\
"""A user's script."""

from pathlib import Path

import motejoin as mj


def cost(seed: int) -> float:
    run: mj.Run = mj.run("gas-cloud-small", seed=seed, set={"motes.count": 100})
    page: Path = run.report(baseline="other")
    assert page
    return float(run.metrics["bytes_per_s"])


def widest(folder: str) -> int:
    rows: int = mj.join(folder, window="60s", arity="variable").num_rows
    answers: int = mj.query({"q": "SELECT 1"}, streams={"S": folder}).num_rows
    swept: mj.Sweep = mj.sweep("feedback-small", out=folder)
    picture: mj.Picture = swept.plot("recall")
    assert picture._repr_png_()
    compared: mj.Comparison = mj.compare(swept.runs, by=["strategy"])
    return rows + answers + len(compared.files)
'''


def test_the_documented_examples_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("readings.csv").write_text(READINGS)
    failed, tried = doctest.testmod(mj)
    assert tried > 5
    assert not failed, capsys.readouterr().out


def test_importing_it_loads_nothing_heavy() -> None:
    heavy = {"numpy", "pyarrow", "simpy", "pyspark", "matplotlib", "pydantic", "pandas", "rich"}
    code = f"import motejoin, sys; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[]"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("", ""), "Success"),
        (("seed=seed", 'seed="one"'), 'Argument "seed" to "run" has incompatible type "str"'),
        (("-> float:", "-> str:"), "Incompatible return value type"),
        (("-> int:", "-> list[str]:"), "Incompatible return value type"),
    ],
    ids=["right", "an argument", "a metric", "a result"],
)
def test_a_users_script_is_checked_strictly(
    tmp_path: Path, change: tuple[str, str], says: str
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT.replace(*change, 1))
    # As if installed: the module's own text is its stub, and its packages are marked as typed.
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--python-executable"]
        + [
            sys.executable,
            "--cache-dir",
            str(ROOT / ".mypy_cache/script"),
            str(tmp_path / "script.py"),
        ],
        env={"MYPYPATH": str(ROOT), "PATH": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert says in done.stdout, done.stdout + done.stderr
    assert done.stdout.count("error:") == (says != "Success")


def test_settings_are_python_values_and_mistakes_are_named(tmp_path: Path) -> None:
    run = mj.run(
        "gas-cloud-small",
        set={"duration_s": 10.0, "trace.tables": ["motes", "readings"]},
        seed=7,
        out=tmp_path / "run",
    )
    assert run.manifest["seed"] == 7
    assert run.tables == ["motes", "readings", "traffic"]
    assert str(run).startswith("gas-cloud-small, seed 7: 10 s simulated")
    assert repr(run) == f"Run({str(tmp_path / 'run')!r})"
    with pytest.raises(mj.InputError, match=r"no table 'reading' \(did you mean 'readings'\?\)"):
        run.table("reading")
    with pytest.raises(mj.ScenarioError, match="motes.count = 'many': expected"):
        mj.run("gas-cloud-small", set={"motes.count": "many"}, out=tmp_path / "other")
    with pytest.raises(mj.ScenarioError, match="'name' is not a table"):
        mj.run("gas-cloud-small", set={"name.x": 1}, out=tmp_path / "other")
    with pytest.raises(mj.ScenarioError, match="already there"):
        mj.run("gas-cloud-small", out=tmp_path / "run")
    with pytest.raises(mj.TraceError, match="no such run directory"):
        mj.Run(tmp_path / "other")
    with pytest.raises(mj.InputError, match="expected the --out of motejoin sweep"):
        mj.Sweep(tmp_path)


def test_a_run_without_a_place_goes_to_a_free_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = (mj.run("gas-cloud-small", set={"duration_s": 8.0}) for _ in range(2))
    assert first.directory == Path("runs/gas-cloud-small-1")
    assert second.directory == Path("runs/gas-cloud-small-1-2")


def test_every_plot_of_the_report_can_be_had_as_a_picture(tmp_path: Path) -> None:
    run = mj.run("gas-cloud-small", set={"duration_s": 40.0}, out=tmp_path / "run")
    for name in ("tracking", "coverage", "traffic", "energy", "residual", "batteries", "delay"):
        picture = run.plot(name)
        assert picture._repr_png_().startswith(b"\x89PNG")
        assert picture.figure.axes[0].get_title(loc="left")
    assert run.plot("clusters").save(tmp_path / "clusters.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(mj.InputError, match=r"no such plot \(did you mean 'traffic'\?\)"):
        run.plot("trafic")
    with pytest.raises(mj.InputError, match="there were none"):
        run.plot("drops")


def test_options_of_join_and_query_are_those_of_the_commands(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text(READINGS)
    kept = mj.join(source, tmp_path / "out.csv", window="60s", form="factorised", operator="snjoin")
    assert kept.column_names == ["value", "origin", "origin_at_us", "partners", "count"]
    assert (tmp_path / "out.csv").is_file()
    with pytest.raises(mj.InputError, match="no window"):
        mj.join(source)
    with pytest.raises(mj.InputError, match="unrecognized arguments: --windw=60s"):
        mj.join(source, windw="60s")
    counts = {"all": "SELECT COUNT(*) AS n FROM S [RANGE 60 s]", "one": "SELECT value FROM S"}
    answers = mj.query(counts, streams={"S": source}, until="90s", old=True)
    assert set(answers.column("query").to_pylist()) == {"all", "one"}
    assert "old_n" in answers.column_names
