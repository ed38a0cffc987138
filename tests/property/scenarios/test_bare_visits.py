"""A visit in one function gives what the same visit gives when it is put together from MAC, ledger and CPU."""

import tempfile
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from network.mac.bare import BareAir
from scenarios.schema.load import load_scenario
from scenarios.simulation.run import run_scenario
from scenarios.wiring.simulation import build_simulation, build_world
from sim.trace.manifest import Manifest
from sim.trace.recorder import Recorder

BUSY = (
    "motes.count=30",
    "motes.interval_s=1.0",
    "radio.range_m=60.0",
    "clustering.range_m=25.0",
    "clustering.round_s=10.0",
    "join.window_s=4.0",
    "trace.messages=full",
    "trace.partners=true",
    "phenomenon.domain=20",
    "duration_s=14.0",
)
CRASHES = "faults.crashes={mean_up_s=20.0, mean_down_s=4.0}"
SLOW = "join.cpu_us={hash=5.0, insert=5.0, probe=40000.0, form=2.0}"


def run(chosen: list[str], seed: int, *, bare: bool) -> Manifest:
    """The manifest of a run with visits in one function, or put together."""
    loaded = load_scenario("snjoin-zipf", [*BUSY, *chosen])
    with tempfile.TemporaryDirectory() as folder:
        if bare:
            return run_scenario(loaded, Path(folder) / "run", seed=seed)
        with patch("network.mac.registry.is_bare", return_value=False):
            return run_scenario(loaded, Path(folder) / "run", seed=seed)


def assert_same(chosen: list[str], seed: int) -> Manifest:
    one, other = (run(chosen, seed, bare=bare) for bare in (True, False))
    assert one.counts == other.counts
    assert one.fingerprint == other.fingerprint
    return one


@settings(max_examples=15, deadline=None)
@given(
    strategy=st.sampled_from(["snjoin-star", "distributed-mjoin", "oracle"]),
    feedback=st.sampled_from(["off", "paper", "directory"]),
    probing=st.sampled_from(["chain", "fan-out"]),
    form=st.sampled_from(["latest", "factorised"]),
    battery_j=st.sampled_from([0.02, 0.05, 0.2, 2.0]),
    queue=st.integers(1, 4),
    faults=st.sets(st.sampled_from([CRASHES, SLOW, "faults.clock_offset_ms=50.0"])),
    seed=st.integers(1, 1000),
)
def test_any_run_is_the_same(
    strategy: str,
    feedback: str,
    probing: str,
    form: str,
    battery_j: float,
    queue: int,
    faults: set[str],
    seed: int,
) -> None:
    chosen = [
        f"join.strategy={strategy}",
        f"join.feedback={feedback}",
        f"join.probing={probing}",
        f"join.form={form}",
        f"motes.battery_j={battery_j}",
        f"join.queue={queue}",
        *sorted(faults),
    ]
    assert_same(chosen, seed)


@pytest.mark.parametrize(
    ("chosen", "reason"),
    [
        (["motes.battery_j=0.02", "clustering.round_s=0.0"], "dead"),
        ([SLOW, "join.queue=2"], "queue full"),
        ([CRASHES], "state lost"),
    ],
    ids=["deaths", "overflow", "crashes"],
)
def test_runs_where_visits_end_early_are_the_same(chosen: list[str], reason: str) -> None:
    manifest = assert_same(["join.feedback=off", *chosen], 1)
    assert manifest.counts["drops"][reason] > 0, manifest.counts["drops"]


@pytest.mark.parametrize(
    ("chosen", "bare"),
    [
        ([], True),
        (["radio.loss=0.1"], False),
        (["faults.jitter_ms=1.0"], False),
        (["radio.overhearing=true"], False),
        (["motes.profile=micaz", "motes.battery_j=100.0"], False),
        (["radio.mac=tdma"], False),
    ],
    ids=["bare", "loss", "jitter", "overhearing", "listening", "tdma"],
)
def test_the_air_is_bare_only_where_nothing_is_lost_or_paid_for_idling(
    tmp_path: Path, chosen: list[str], bare: bool
) -> None:
    world = build_world(load_scenario("snjoin-zipf", [*BUSY, *chosen]), 1)
    simulation = build_simulation(world, Recorder(tmp_path, []))
    assert isinstance(simulation.network.air, BareAir) is bare
