import gc
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from shlex import quote

import pytest

from analysis.metrics import kept
from analysis.metrics.kept import keep_metrics
from scenarios.cli import main
from scenarios.schema.load import load_scenario
from scenarios.simulation.run import run_scenario
from sim.files import beside
from sim.kernel import Kernel
from sim.trace.manifest import MANIFEST, Manifest, Status, read_manifest
from sim.trace.tables import TABLES
from tests.support.checkers.trace import Trace, check_trace
from tests.support.runs import SMALL, fails, run_elsewhere, run_here

VARIANTS = {
    "paper feedback": [],
    "full probing": ["join.feedback=off"],
    "with initiator": ["join.feedback=with-initiator", "join.weights=size"],
    "proportional": ["join.selection=proportional"],
    "factorised": ["join.form=factorised"],
    "match rates": ["join.feedback=match-rate"],
    "directory": ["join.feedback=directory"],
    "directory with a target": ["join.feedback=directory", "join.target_recall=0.8"],
    "directory under loss": ["join.feedback=directory", "radio.loss=0.2"],
    "oracle": ["join.strategy=oracle"],
    "distributed MJoin": ["join.strategy=distributed-mjoin", "motes.battery_j=0.1"],
    "hasty time-outs": ["join.timeout_s=0.03", "join.feedback=off", "radio.loss=0.05"],
    "centralised": ["join.strategy=centralised"],
    "complete": ["join.strategy=centralised", "join.arity=complete"],
    "loss": ["radio.loss=0.2"],
    "dying motes": ["motes.battery_j=0.02"],
    "dying motes, centralised": ["motes.battery_j=0.004", "join.strategy=centralised"],
    "loss and death": ["radio.loss=0.1", "motes.battery_j=0.03", "join.feedback=off"],
    "slow CPUs": ["join.cpu_us.probe=20000.0", "join.queue=2", "join.feedback=off"],
    "slow sink": ["sink.cpu_speed=0.00001"],
    "slow sink, directory, all at once": [
        "sink.cpu_speed=0.00001",
        "join.feedback=directory",
        "join.probing=fan-out",
    ],
    "slow sink, centralised": ["sink.cpu_speed=0.00001", "join.strategy=centralised"],
    "slow sink and late readings": [
        "sink.cpu_speed=0.00001",
        "join.strategy=centralised",
        "join.late_s=100.0",
    ],
    "readings move": ["clustering.handover=move", "clustering.round_s=10.0"],
    "readings move under loss": [
        "clustering.handover=move",
        "radio.loss=0.2",
        "join.form=factorised",
    ],
    "one election": ["clustering.round_s=0.0"],
    "tired heads": [
        "clustering.round_s=0.0",
        "clustering.trigger_share=0.9",
        "motes.battery_j=0.3",
    ],
    "dead heads waited for": ["clustering.on_head_failure=wait", "motes.battery_j=0.02"],
    "periodic on a grid": ["motes.sampling=periodic", "motes.placement=grid"],
    "lone mote": ["motes.count=1"],
    "lossy control": ["radio.loss=0.5", "clustering.round_s=10.0"],
    "late readings": ["join.late_s=0.0"],
    "leach": ["clustering.protocol=leach", "clustering.lot=energy"],
    "dca": ["clustering.protocol=dca", "radio.loss=0.1"],
    "grid": ["clustering.protocol=grid"],
    "k-means": ["clustering.protocol=k-means"],
    "no clusters": ["clustering.protocol=none", "join.strategy=centralised"],
}


@pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS)
def test_every_run_accounts_for_every_message_and_reading(
    tmp_path: Path, settings: list[str]
) -> None:
    arguments = [word for setting in settings for word in ("--set", setting)]
    run_here(tmp_path / "run", "--set", "duration_s=70.0", *arguments)
    check_trace(tmp_path / "run")


def test_variants_have_their_intended_effect(tmp_path: Path) -> None:
    run_here(tmp_path / "dying", "--set", "motes.battery_j=0.02")
    trace = Trace(tmp_path / "dying")
    assert trace.number("SELECT count(*) FROM deaths") > 5
    reasons = {reason for (reason,) in trace.rows("SELECT DISTINCT reason FROM drops")}
    assert {"dead", "state lost"} <= reasons
    run_here(tmp_path / "slow", *_set("join.cpu_us.probe=20000.0", "join.queue=2"))
    slow = Trace(tmp_path / "slow")
    assert slow.number("SELECT count(*) FROM drops WHERE reason = 'queue full'") > 5
    run_here(tmp_path / "slow-sink", *_set("sink.cpu_speed=0.00001", "duration_s=40.0"))
    waiting = Trace(tmp_path / "slow-sink")
    assert waiting.number("SELECT count(*) FROM requests WHERE outcome = 'in flight'") > 5
    run_here(tmp_path / "lossy", *_set("radio.loss=0.2"))
    lossy = Trace(tmp_path / "lossy")
    sent, lost = lossy.rows("SELECT sum(addressed), sum(lost) FROM traffic")[0]
    assert isinstance(sent, int)
    assert isinstance(lost, int)
    assert 0.18 < lost / sent < 0.22


def _set(*settings: str) -> list[str]:
    return [word for setting in settings for word in ("--set", setting)]


def test_the_run_directory_is_the_last_line_and_progress_goes_to_stderr(tmp_path: Path) -> None:
    done = run_elsewhere("run", SMALL, "--out", str(tmp_path / "run"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(tmp_path / "run")
    assert "detection delay" in done.stdout
    assert "100%" in done.stderr
    manifest = json.loads((tmp_path / "run" / MANIFEST).read_text())
    assert manifest["status"] == "complete"
    assert sorted(path.name for path in (tmp_path / "run" / "trace").iterdir()) == sorted(TABLES)


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ([], r"[\d.]+ %: [\d,]+ of [\d,]+ pairs owed"),
        (["join.strategy=centralised"], r"100 %: ([\d,]+) of \1 pairs owed"),
        (["join.arity=complete"], None),
        (
            ["trace.partners=false"],
            r"not known: partners are not recorded \(trace.partners = false\)",
        ),
        (["trace.tables=['results']"], "not known: trace.tables leaves out readings"),
        (["trace.tables=['motes']"], "not known: trace.tables leaves out readings and results"),
        (["duration_s=7.0"], "not defined: no pairs were owed"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else None,
)
def test_the_summary_has_recall_or_says_why_not(
    tmp_path: Path, settings: list[str], shown: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    run_here(tmp_path / "run", *_set("duration_s=30.0", *settings))
    found = re.search(r"^  recall +(.*)$", capsys.readouterr().out, re.MULTILINE)
    if shown is None:
        assert found is None
    else:
        assert found is not None
        assert re.fullmatch(shown, found[1])


def test_errors_in_a_recording_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ["0,a,5", "0,b,5", "soon,a,6", "1,b,", "3,a,7", "2,a,6"]
    (tmp_path / "readings.csv").write_text("\n".join(["time,node,value", *rows]))
    scenario = tmp_path / "recorded.toml"
    scenario.write_text("""
name = "recorded"
duration_s = 10.0
field = { width_m = 10.0, height_m = 10.0 }
motes = { count = 2 }
sink = { x_m = 5.0, y_m = 5.0 }
radio = { range_m = 20.0 }
clustering = { protocol = "none", range_m = 20.0 }
join = { strategy = "centralised", window_s = 5.0 }
phenomenon = { kind = "replay" }
""")
    manifest = run_here(tmp_path / "run", scenario=str(scenario))
    assert manifest.counts["recording"] == {
        "readings": 4,
        "bad": 1,
        "missing": 1,
        "unknown": 0,
        "unordered": 1,
        "repeated": 0,
        "gaps": 0,
    }
    assert "4 readings, 1 bad, 1 missing, 1 out of order\n" in capsys.readouterr().out


def test_same_seed_same_fingerprint_here_and_in_another_process(tmp_path: Path) -> None:
    here = run_here(tmp_path / "a")
    assert run_here(tmp_path / "b").fingerprint == here.fingerprint
    done = run_elsewhere("run", SMALL, "--out", str(tmp_path / "c"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    elsewhere = read_manifest(tmp_path / "c")
    assert elsewhere.fingerprint == here.fingerprint
    assert elsewhere.counts == here.counts
    assert run_here(tmp_path / "d", "--seed", "2").fingerprint != here.fingerprint


def test_a_processor_with_fewer_instructions_gives_the_same_fingerprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # NumPy picks its loops by what the processor has, and they differ in the last bit of a power.
    plain = _set(
        "phenomenon.sensor={noise_share=0.0, noise_floor_share=0.0, rise_s=0.0, decay_s=0.0}"
    )
    here = run_here(tmp_path / "a", *plain)
    monkeypatch.setenv("NPY_DISABLE_CPU_FEATURES", "X86_V4 AVX512_ICL AVX512_SPR")
    done = run_elsewhere("run", SMALL, "--out", str(tmp_path / "b"), *plain, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert read_manifest(tmp_path / "b").fingerprint == here.fingerprint


def test_strategies_see_the_same_readings(tmp_path: Path) -> None:
    runs = [
        run_here(tmp_path / "a"),
        run_here(tmp_path / "b", *_set("join.strategy=centralised", "radio.loss=0.3")),
    ]
    first, second = (
        Trace(tmp_path / name).rows("SELECT * FROM readings ORDER BY at_us, node") for name in "ab"
    )
    assert first == second
    assert runs[0].counts["readings"] == runs[1].counts["readings"] > 10_000


def test_tables_left_out_are_not_written_and_change_no_number(tmp_path: Path) -> None:
    whole = run_here(tmp_path / "a")
    part = run_here(tmp_path / "b", *_set('trace.tables=["results"]', "trace.partners=false"))
    tables = sorted(path.name for path in (tmp_path / "b" / "trace").iterdir())
    assert tables == ["results", "traffic"]
    assert part.counts == whole.counts


def test_by_default_runs_go_to_a_fresh_directory(tmp_path: Path) -> None:
    arguments = ["run", SMALL, "--set", "duration_s=10.0"]
    first = run_elsewhere(*arguments, cwd=tmp_path).stdout.splitlines()[-1]
    second = run_elsewhere(*arguments, cwd=tmp_path).stdout.splitlines()[-1]
    assert [first, second] == ["runs/gas-cloud-small-1", "runs/gas-cloud-small-1-2"]


def test_a_run_is_replaced_only_when_forced_and_nothing_else_ever(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    arguments = ["run", SMALL, "--set", "duration_s=10.0", "--out", str(out)]
    run_here(out, "--set", "duration_s=10.0")
    capsys.readouterr()
    assert "already there" in fails(capsys, *arguments)
    before = (out / "manifest.json").read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scenarios.simulation.course.finish", _interrupted)
        assert main([*arguments, "--force"]) == 130
    assert (out / "manifest.json").read_bytes() == before, "the old run is lost"
    assert list(tmp_path.iterdir()) == [out]
    run_here(out, "--set", "duration_s=11.0", "--force")
    assert read_manifest(out).simulated_s == 11.0
    assert list(tmp_path.iterdir()) == [out]
    capsys.readouterr()
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("years of work")
    message = fails(capsys, *arguments[:-1], str(precious), "--force")
    assert "not a run directory" in message
    assert (precious / "thesis.txt").is_file()


def _interrupted(simulation: object) -> None:
    raise KeyboardInterrupt


def test_a_killed_run_is_recognisable_and_an_interrupted_one_is_marked(tmp_path: Path) -> None:
    codes = {signal.SIGKILL: -9, signal.SIGINT: 130, signal.SIGTERM: 143}
    for signum, code in codes.items():
        name = signum.name
        out = tmp_path / name
        process = subprocess.Popen(
            [sys.executable, "-m", "scenarios", "run", "gas-cloud", "--out", str(out)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        while not (out / "trace" / "truth").is_dir():
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        os.kill(process.pid, signum)
        process.communicate(timeout=60)
        status = read_manifest(out).status
        assert process.returncode == code
        assert status is (Status.RUNNING if signum is signal.SIGKILL else Status.FAILED)


@pytest.mark.parametrize("bytes_most", [100, 30_000, 100_000])
def test_a_run_that_cannot_be_written_to_its_end_says_so_and_is_marked(
    tmp_path: Path, bytes_most: int
) -> None:
    # A limit on the size of files fails like a full disk, without one.
    limited = f"ulimit -f {max(1, bytes_most // 1024)}; exec {quote(sys.executable)} -m scenarios"
    run = f"{limited} run {SMALL} --out run --set duration_s=60.0"
    done = subprocess.run(
        ["bash", "-c", run], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1] == "run: cannot be written: File too large"
    if bytes_most > 10_000:  # less than a manifest cannot be written at all
        manifest = read_manifest(tmp_path / "run")
        assert manifest.status is Status.FAILED
        assert "File too large" in manifest.error
    assert {path.name for path in tmp_path.iterdir()} == {"run"}
    assert not list((tmp_path / "run").glob(".*"))


def test_output_that_cannot_be_printed_is_one_message(tmp_path: Path) -> None:
    command = f"{quote(sys.executable)} -m scenarios scenarios > /dev/full"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "motejoin: No space left on device\n"


def test_what_a_killed_forced_run_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    out = tmp_path / "run"
    run_here(out, "--set", "duration_s=10.0")
    finished = read_manifest(out)
    command = [sys.executable, "-m", "scenarios", "run", "gas-cloud", "--out", str(out), "--force"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while len(list(tmp_path.iterdir())) == 1:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.kill()
    process.communicate(timeout=60)
    assert read_manifest(out) == finished
    run_here(out, "--set", "duration_s=10.0", "--force")
    assert list(tmp_path.iterdir()) == [out]


def test_a_directory_that_a_killed_run_had_only_begun_is_free(tmp_path: Path) -> None:
    out = tmp_path / "run"
    out.mkdir()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    part = beside(out / MANIFEST, "part")
    part.with_name(part.name.replace(f".{os.getpid()}-", f".{ended.pid}-")).touch()
    run_here(out, "--set", "duration_s=10.0")


def test_a_run_without_descriptors_left_says_so_and_is_marked(tmp_path: Path) -> None:
    run = f"ulimit -n 14; exec {quote(sys.executable)} -m scenarios run {SMALL} --out run"
    done = subprocess.run(
        ["bash", "-c", run], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1] == "run: cannot be written: Too many open files"
    assert read_manifest(tmp_path / "run").status is Status.FAILED


def test_nothing_simulated_is_held_while_metrics_are_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kernels() -> set[int]:
        return {id(each) for each in gc.get_objects() if isinstance(each, Kernel)}

    measured: list[Path] = []

    def measure(directory: Path, manifest: Manifest) -> None:
        measured.append(directory)
        held.update(kernels())
        keep_metrics(directory, manifest)

    others, held = kernels(), set[int]()
    monkeypatch.setattr(kept, "keep_metrics", measure)
    run_scenario(load_scenario(SMALL, ["duration_s=20.0"]), tmp_path / "run")
    assert held <= others
    assert measured == [tmp_path / "run"]
    assert read_manifest(tmp_path / "run").metrics
