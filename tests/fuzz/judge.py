"""Runs a generated scenario and says what is wrong with it, if anything."""

import contextlib
import io
import shutil
import signal
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Final

from analysis.audit.audit import audit_run
from analysis.audit.checks.missing import find_pairs, is_judged
from analysis.audit.run_trace import RunTrace
from scenarios.cli import main
from tests.fuzz.generator import Fuzzed

SECONDS_MOST: Final = 120
"""CPU seconds: a run that takes longer hangs."""
ASLEEP_FACTOR: Final = 60
"""How many times as long a run may wait for the CPU, or for anything else."""
HARMLESS: Final = {
    "newer reading delivered instead",
    "expired before the request came",
    "result not formed yet",
}
"""Reasons for which a pair can be missing although nothing was lost."""
REFUSED: Final = 2


class HangError(Exception):
    """A run took too long."""


def judge(scenario: Fuzzed, folder: Path) -> str:
    """What is wrong with a run of the scenario and its trace; empty if nothing is."""
    out = folder / "run"
    shutil.rmtree(out, ignore_errors=True)
    printed = io.StringIO()
    try:
        with (
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
            within(SECONDS_MOST),
        ):
            code = main(scenario.arguments(out))
        if code == REFUSED:
            return ""  # only known once its files have been read, such as too many motes for them
        if code:
            return f"exit code {code}: {printed.getvalue()[-500:]}"
        return judge_trace(out)
    except HangError:
        return f"took longer than {SECONDS_MOST} s of CPU"
    except Exception:  # noqa: BLE001 - whatever it is, it is what is wrong
        return traceback.format_exc(limit=-6)


def judge_trace(out: Path) -> str:
    """What is wrong with a trace: violations, or pairs that are missing where nothing was lost."""
    audit = audit_run(out)
    found = [f"{name}: {each.text}" for name, many in audit.violations.items() for each in many]
    if found:
        return "\n".join(found[:5])
    trace = RunTrace(out)
    if not must_be_exact(trace):
        return ""
    missing = {
        reason: n for reason, n in find_pairs(trace).reasons.items() if reason not in HARMLESS
    }
    return f"nothing was lost, yet pairs are missing: {missing}" if missing else ""


def must_be_exact(trace: RunTrace) -> bool:
    """Whether every pair must be delivered: all heads are probed, and nothing was lost or is under way."""
    needed = {"readings", "results", "fates", "requests", "drops", "faults", "deaths"}
    if not needed <= trace.manifest["rows"].keys() or not is_judged(trace):
        return False
    join, counts = trace.scenario["join"], trace.counts
    probes_all = join["strategy"] in {"centralised", "distributed-mjoin", "oracle"}
    probes_all |= join["feedback"] == "off"
    lossless = not counts["drops"] and set(counts["fates"]) <= {"joined"}
    lossless &= set(counts["requests"]) <= {"finished"}
    steady = not trace.rows("faults") and not trace.rows("deaths") and trace.has_exact_clocks
    listed = join["strategy"] == "centralised" or counts["mean_enrolled"] >= counts["mean_heads"]
    return bool(probes_all and lossless and steady and listed)


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raise `HangError` when so much CPU time is spent, or much more time has passed: others may have the CPU."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise HangError

    before = {each: signal.signal(each, ring) for each in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(ASLEEP_FACTOR * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        for each, handler in before.items():
            signal.signal(each, handler)
