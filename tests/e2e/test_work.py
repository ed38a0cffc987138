"""The work that a simulation does, counted: calls per visit and events per sample. Never its time."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import FrameType

from scenarios.schema.load import load_scenario
from scenarios.wiring.simulation import Simulation, build_simulation, build_world
from sim.compiled import INTERPRETED, SWITCH, is_compiled
from sim.trace.recorder import Recorder
from sim.units import US_PER_S
from tests.support.places import ROOT
from tests.support.requirements import needs_compiled_core

PACKAGES = ("sim", "network", "join", "scenarios")
AVOIDED = (
    "BaseAir._receive",
    "BaseAir._transmit",
    "Cpus.admit",
    "Cpus.occupy",
    "IdealAir._arrive",
    "IdealAir.unicast",
    "EventQueue.call_at",
    "Message.__init__",
    "true_time",
)
"""What a visit would call that is put together from MAC, ledger and CPU."""


def begun(folder: Path, *settings: str) -> Simulation:
    """A run of gas-cloud-small after 60 s, when the cloud has been found."""
    loaded = load_scenario("gas-cloud-small", settings)
    recorder = Recorder(folder, loaded.scenario.trace.chosen())
    simulation = build_simulation(build_world(loaded, 1), recorder)
    simulation.kernel.process(simulation.rounds.run())
    simulation.sensing.start()
    simulation.kernel.advance(60 * US_PER_S)
    return simulation


def visited(folder: Path) -> tuple[Counter[str], int]:
    """Calls of our functions during ten seconds in which every head is probed, and how many visits there were."""
    simulation = begun(folder, "join.feedback=off")
    air, before = simulation.network.air, simulation.sensing.with_value
    air.log.clear()
    calls = calls_until(simulation, 70 * US_PER_S)
    visits = sum(row[1] == "probe" for row in air.log)
    assert visits > 1_000
    assert visits > 20 * (simulation.sensing.with_value - before) > 0
    return calls, visits


def calls_until(simulation: Simulation, until_us: int) -> Counter[str]:
    """How often each function of ours was called."""
    calls: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if event == "call" and package in PACKAGES:
            calls[frame.f_code.co_qualname] += 1

    sys.setprofile(count)
    try:
        simulation.kernel.advance(until_us)
    finally:
        sys.setprofile(None)
    return calls


def check_interpreted_visits(folder: Path) -> None:
    """Assert that an interpreted visit without a match is few calls."""
    assert not is_compiled()
    calls, visits = visited(folder)
    names = ("BareVisits.visit", "InNetworkJoin.serve", "ClusterHead.answer")
    assert [calls[name] for name in names] == [visits] * 3
    assert calls["Forwarding.onward"] < 1.1 * visits
    # These are for readings, results and last visits, which are few.
    for name in AVOIDED:
        assert calls[name] < 0.5 * visits, (name, calls[name], visits)


def test_an_interpreted_visit_without_a_match_is_few_calls(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from tests.e2e.test_work import check_interpreted_visits as check;"
        "check(pathlib.Path(sys.argv[1]))"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    environment = os.environ | {SWITCH: INTERPRETED}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()


@needs_compiled_core
def test_a_compiled_visit_without_a_match_calls_nothing_that_is_interpreted(tmp_path: Path) -> None:
    calls, visits = visited(tmp_path)
    assert max(calls.values()) < 0.5 * visits, calls.most_common(5)


def test_samples_without_a_value_share_events(tmp_path: Path) -> None:
    simulation = begun(tmp_path, "join.strategy=centralised")
    taken, processed = simulation.sensing.taken, simulation.kernel.processed
    calls = calls_until(simulation, 70 * US_PER_S)
    taken = simulation.sensing.taken - taken
    assert taken > 1_000
    assert simulation.kernel.processed - processed >= taken, "each sample counts as an event"
    assert calls["Sensing._sample"] < 0.6 * taken
    assert calls["Sensing._sample"] > 0 or is_compiled()
