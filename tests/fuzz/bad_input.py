"""Mutated inputs: scenario and sweep files, CSV, Parquet, SQL and command lines; each must end in a message or in success.

`python -m tests.fuzz.bad_input --count 1000` does many in this process, with `--commands` each in a process of its own; each
number fixes the input.
"""

import argparse
import contextlib
import io
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Final

from scenarios.cli import COMMANDS, main
from scenarios.files.shipped import shipped_scenarios
from tests.fuzz.judge import ASLEEP_FACTOR, HangError, within

SECONDS_MOST: Final = 10
SHORT: Final = (
    "--set",
    "duration_s=7.0",
    "--set",
    "motes.count=5",
    "--set",
    "motes.interval_s=2.0",
)
SQL: Final = (
    "SELECT COUNT(*) FROM T [RANGE 10 s]",
    "SELECT A.place, B.value FROM T A, T B WHERE A.place = B.place AND A.value > 3 WINDOW 1 min",
    "SELECT place, MAX(value) FROM T [ROWS 5] GROUP BY place",
    "SELECT T.place FROM T [PWINDOW T.value > 3 ON T.place]",
    "EXPLAIN SELECT DISTINCT place FROM T [RANGE 1 s]",
)
STREAM: Final = "stream,value,at_us\n" + "".join(
    f"{'ABC'[i % 3]},v{i % 4},{i * 1000}\n" for i in range(40)
)
TABLE: Final = "place,value,at_us\n" + "".join(f"{i % 3},{i % 7},{i * 1000}\n" for i in range(40))
ODD: Final = (
    "", "0", "-1", "1e400", "nan", "inf", "9" * 30, "\0", "\ufeff", "é" * 50, "[[", "]]", "{", "}", '"',
    "'", "=", "\n", ",", ";", "\\", "../..", "/dev/zero", "/dev/null", "true", "[" * 2000, "(" * 2000, "%s", "$(id)",
)  # fmt: skip


def mutate(text: str, rng: random.Random) -> str:
    """The text with some of it removed, repeated, swapped or replaced."""
    for _ in range(rng.randrange(1, 5)):
        place = rng.randrange(len(text) + 1)
        length = min(int(rng.expovariate(0.1)), len(text) - place)
        piece = text[place : place + length]
        other = rng.choice(
            [rng.choice(ODD), piece * 2, piece[::-1], "", chr(rng.randrange(1, 0x3000))]
        )
        text = text[:place] + other + text[place + length :]
    return text


def _scenario(rng: random.Random, folder: Path) -> list[str]:
    name = rng.choice(sorted(shipped_scenarios()))
    path = folder / "mutated.toml"
    path.write_text(mutate(shipped_scenarios()[name], rng), "utf-8", "surrogatepass")
    return ["run", str(path), "--out", str(folder / "run"), *SHORT]


def _setting(rng: random.Random, folder: Path) -> list[str]:
    lines = [line for line in shipped_scenarios()["gas-cloud-small"].splitlines() if " = " in line]
    key, _, value = rng.choice(lines).partition(" = ")
    table = rng.choice(["", "motes.", "radio.", "join.", "clustering.", "faults.", "phenomenon."])
    setting = f"{table}{key.strip()}={mutate(value, rng)}"
    return ["run", "gas-cloud-small", "--out", str(folder / "run"), "--set", setting, *SHORT]


def _join(rng: random.Random, folder: Path) -> list[str]:
    path = folder / "in.csv"
    path.write_text(mutate(STREAM, rng), "utf-8", "surrogatepass")
    window = rng.choice(["1s", "5ms", mutate("10s", rng)])
    operator = rng.choice(["snjoin", "mjoin", "few", "bew-hash", "xjoin-tree", mutate("nlw", rng)])
    options = ["--operator", operator, f"--window={window}"]
    return ["join", str(path), str(folder / "out.csv"), *options]


def _parquet(rng: random.Random, folder: Path) -> list[str]:
    path = folder / "in.parquet"
    content = bytearray((folder / "sound.parquet").read_bytes())
    for _ in range(rng.randrange(1, 8)):
        content[rng.randrange(len(content))] = rng.randrange(256)
    path.write_bytes(bytes(content[: rng.randrange(len(content)) if rng.random() < 0.2 else None]))
    return ["join", str(path), str(folder / "out.csv"), "--window=1s"]


def _query(rng: random.Random, folder: Path) -> list[str]:
    path = folder / "t.csv"
    path.write_text(mutate(TABLE, rng) if rng.random() < 0.3 else TABLE, "utf-8", "surrogatepass")
    sql = mutate(rng.choice(SQL), rng)
    return ["query", sql, "--stream", f"T={path}", "--out", str(folder / "answer.csv")]


def _sweep(rng: random.Random, folder: Path) -> list[str]:
    from scenarios.sweep.file import load_sweep

    path = folder / "sweep.toml"
    text = (
        'scenario = "gas-cloud-small"\nseeds = [1, 2]\n[grid]\n"join.feedback" = ["off", "paper"]\n'
    )
    path.write_text(mutate(text, rng), "utf-8", "surrogatepass")
    load_sweep(str(path))  # the rest needs Spark
    return ["scenarios"]


def _command(rng: random.Random, folder: Path) -> list[str]:
    command = rng.choice(
        [
            name
            for name in COMMANDS
            if name not in {"compare", "sweep", "reproduce", "fidelity", "doctor"}
        ]
    )
    words = [
        "--help",
        "--seed",
        "--out",
        str(folder),
        "x",
        "--set",
        "a=b",
        "--json",
        "--nodes",
        "3",
        "--window",
    ]
    given = [
        rng.choice([*words, *ODD[:28], mutate("gas-cloud-small", rng)])
        for _ in range(rng.randrange(6))
    ]
    return [command, *given] if rng.random() < 0.9 else [mutate(command, rng), *given]


KINDS: Final[dict[str, Callable[[random.Random, Path], list[str]]]] = {
    "scenario": _scenario,
    "setting": _setting,
    "join": _join,
    "parquet": _parquet,
    "query": _query,
    "sweep": _sweep,
    "command": _command,
}


def prepare(folder: Path) -> None:
    """Write the sound files that some inputs are made from."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [line.split(",") for line in STREAM.splitlines()[1:]]
    streams, values, times = zip(*rows, strict=True)
    table = pa.table({"stream": streams, "value": values, "at_us": [int(us) for us in times]})
    pq.write_table(table, folder / "sound.parquet")


def judge_input(number: int, folder: Path) -> str:
    """What is wrong with how the input of this number ended; empty if nothing is."""
    from sim.errors import MoteJoinError

    rng = random.Random(f"input {number}")
    kind = sorted(KINDS)[number % len(KINDS)]
    printed = io.StringIO()
    outputs = _cleared(folder)
    arguments: list[str] = []
    try:
        with (
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
            within(SECONDS_MOST),
        ):
            arguments = KINDS[kind](rng, folder)
            code = main(arguments)
    except MoteJoinError:
        return ""
    except SystemExit as end:
        return "" if end.code in {0, None} else f"{kind} {arguments}: exit {end.code}"
    except HangError:
        return f"{kind} {arguments}: took longer than {SECONDS_MOST} s of CPU"
    except BaseException:  # noqa: BLE001 - whatever it is, it is what is wrong
        return f"{kind} {arguments}: {traceback.format_exc(limit=-5)}"
    wrong = _judged(code, printed.getvalue(), outputs, folder)
    return f"{kind} {arguments}: {wrong}" if wrong else ""


def judge_command(number: int, folder: Path) -> str:
    """As `judge_input`, the input given to a command."""
    from sim.errors import MoteJoinError

    rng = random.Random(f"input {number}")
    kind = sorted(KINDS)[number % len(KINDS)]
    outputs = _cleared(folder)
    try:
        arguments = KINDS[kind](rng, folder)
    except MoteJoinError:
        return ""  # a sweep, which is judged without Spark
    if any("\0" in word for word in arguments):
        return ""  # no command line can have one
    command = [sys.executable, "-m", "scenarios", *arguments]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=ASLEEP_FACTOR * SECONDS_MOST,
            check=False,
            preexec_fn=_limit_cpu,
        )
    except subprocess.TimeoutExpired:
        return f"{kind} {arguments}: took longer than {ASLEEP_FACTOR * SECONDS_MOST} s"
    if done.returncode == -signal.SIGXCPU:
        return f"{kind} {arguments}: took longer than {SECONDS_MOST} s of CPU"
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    wrong = _judged(done.returncode, said, outputs, folder)
    return f"{kind} {arguments}: {wrong}" if wrong else ""


def _limit_cpu() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MOST, SECONDS_MOST + 5))


def _cleared(folder: Path) -> list[Path]:
    """The outputs that inputs may have, with none of them there."""
    outputs = [folder / name for name in ("run", "out.csv", "answer.csv")]
    for path in outputs:
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    return outputs


def _judged(code: int, said: str, outputs: list[Path], folder: Path) -> str:
    if "Traceback" in said:
        return "a traceback was printed"
    if code not in {0, 1, 2}:
        return f"exit code {code}"
    if code == 2 and any(path.exists() for path in outputs):
        return "refused, but something was written"
    if any(path.name.startswith(".") for path in folder.iterdir()):
        return "something half-written is left"
    return ""


def run_campaign() -> int:
    """Try many inputs; exit code 1 if one failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.bad_input", description=__doc__)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=3600.0, help="time budget")
    parser.add_argument("--commands", action="store_true", help="each in a process of its own")
    args = parser.parse_args()
    judged = judge_command if args.commands else judge_input
    started_s, failures, done = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        if not args.commands:
            os.chdir(folder)
        for number in range(args.first, args.first + args.count):
            if time.monotonic() - started_s > args.seconds:
                break
            done += 1
            if wrong := judged(number, folder):
                failures += 1
                sys.stdout.write(f"FAILED input {number}: {wrong}\n")
            if wrong or (args.commands and done % 50 == 0):
                sys.stdout.write(f"{done} inputs, {failures} failures\n")
                sys.stdout.flush()
    spent_s = time.monotonic() - started_s
    last = args.first + done - 1
    sys.stdout.write(f"inputs {args.first} to {last} in {spent_s:.0f} s: {failures} failures\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(run_campaign())
