"""Rules that two runs must keep, whatever the right numbers are."""

import contextlib
import io
import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from analysis.audit.checks.missing import find_pairs
from analysis.audit.run_trace import RunTrace
from scenarios.cli import main
from tests.fuzz.relabelling import renamed_motes_measure_alike, renamed_streams_join_alike

BASE: Final = (
    "motes.count=40",
    "motes.interval_s=1.0",
    "radio.range_m=60.0",
    "clustering.range_m=40.0",
    "clustering.round_s=10.0",
    "trace.messages=full",
    "trace.partners=true",
    "phenomenon.domain=40",
    "duration_s=16.0",
)
Rule = Callable[[int, Path], str]


def _run(folder: Path, seed: int, settings: Sequence[str], base: str = "snjoin-zipf") -> RunTrace:
    out = folder / "rule"
    shutil.rmtree(out, ignore_errors=True)
    words = [word for setting in (*BASE, *settings) for word in ("--set", setting)]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert main(["run", base, "--seed", str(seed), "--out", str(out), *words]) == 0
    return RunTrace(out)


def more_loss_delivers_less(number: int, folder: Path) -> str:
    """With the ideal MAC and no retries, a greater share of loss never raises deliveries in the mean."""
    rng = random.Random(f"loss {number}")
    little = rng.uniform(0.0, 0.4)
    much = little + rng.uniform(0.1, 0.4)
    shares = []
    for loss in (little, much):
        received = addressed = 0
        for seed in range(number, number + 3):
            trace = _run(folder, seed, [f"radio.loss={loss:.4f}", "join.strategy=centralised"])
            received += int(trace.column("traffic", "received").sum())
            addressed += int(trace.column("traffic", "addressed").sum())
        shares.append(received / addressed)
    return "" if shares[1] <= shares[0] else f"loss {little} to {much}: delivered {shares}"


def no_jitter_is_jitter_0(number: int, folder: Path) -> str:
    """Jitter too small for the clock is the same as none, which takes a shorter way through the program."""
    rng = random.Random(f"jitter {number}")
    settings = [f"join.feedback={rng.choice(['off', 'paper', 'directory'])}"]
    if rng.random() < 0.5:
        settings.append("radio.loss=0.05")
    plain = _run(folder, number, settings).manifest
    zero = _run(folder, number, [*settings, "faults.jitter_ms=0.0004"]).manifest
    return "" if plain["fingerprint"] == zero["fingerprint"] else "the fingerprints differ"


def longer_window_loses_nothing(number: int, folder: Path) -> str:
    """Where nothing is dropped, a longer window delivers every pair that a shorter one delivers."""
    rng = random.Random(f"window {number}")
    strategy = rng.choice(["join.strategy=centralised", "join.feedback=off"])
    short = rng.uniform(0.2, 3.0)
    pairs = []
    for window_s in (short, short + rng.uniform(0.1, 3.0)):
        form = [
            strategy,
            f"join.window_s={window_s:.6f}",
            "join.form=factorised",
            "join.queue=10000",
        ]
        trace = _run(folder, number, form)
        if trace.counts["drops"]:
            return ""
        lists = trace.lists("results", "partners")
        origins = trace.column("results", "origin")[lists.rows]
        columns = (origins, trace.column("results", "origin_at_us")[lists.rows], *lists[1:3])
        listed = zip(*(column.tolist() for column in columns), strict=True)
        ended_us = trace.end_us - 2_000_000  # what was under way at the end does not count
        pairs.append(
            {
                frozenset([(origin, at_us), (node, us)])
                for origin, at_us, node, us in listed
                if origin >= 0 and max(at_us, us) < ended_us
            }
        )
    lost = pairs[0] - pairs[1]
    return (
        f"{len(lost)} of {len(pairs[0])} pairs are lost: {sorted(map(sorted, lost))[:2]}"
        if lost
        else ""
    )


def same_seed_same_fingerprint(number: int, folder: Path) -> str:
    """A run is a function of its scenario and seed."""
    rng = random.Random(f"again {number}")
    settings = [f"radio.mac={rng.choice(['ideal', 'tdma', 'csma'])}", "radio.loss=0.1"]
    settings += ["motes.start_s=8.0", "faults.crashes={mean_up_s=20.0, mean_down_s=4.0}"]
    one, other = (_run(folder, number, settings).manifest for _ in range(2))
    return "" if one["fingerprint"] == other["fingerprint"] else "the fingerprints differ"


def exact_strategies_agree(number: int, folder: Path) -> str:
    """Where nothing is lost, the strategies that probe all heads deliver what the centralised join delivers: all."""
    for settings in (
        ["join.strategy=centralised"],
        ["join.feedback=off"],
        ["join.strategy=oracle"],
    ):
        trace = _run(folder, number, [*settings, "join.queue=10000"])
        if trace.counts["drops"]:
            return ""
        reasons = find_pairs(trace).reasons
        known = {"request in flight", "reading in flight", "result not formed yet"}
        if set(reasons) - known:
            return f"{settings}: {dict(reasons)}"
    return ""


def renamed_motes_count_alike(number: int, folder: Path) -> str:
    """Metrics do not depend on how motes are numbered."""
    rng = random.Random(f"numbers {number}")
    strategy = rng.choice(["centralised", "snjoin-star", "rendezvous"])
    _run(folder, number, [f"join.strategy={strategy}", "motes.battery_j=0.02", "radio.loss=0.02"])
    return renamed_motes_measure_alike(folder / "rule", number, folder)


RULES: Final[tuple[Rule, ...]] = (
    more_loss_delivers_less,
    no_jitter_is_jitter_0,
    longer_window_loses_nothing,
    same_seed_same_fingerprint,
    exact_strategies_agree,
    renamed_streams_join_alike,
    renamed_motes_count_alike,
)
