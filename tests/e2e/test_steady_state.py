"""A network in a steady state holds no more after a long time than after a short one; objects are counted, not bytes."""

from collections import Counter
from pathlib import Path

import pytest

from scenarios.schema.load import load_scenario
from scenarios.simulation.run import run_scenario
from scenarios.wiring.simulation import Simulation
from sim.units import US_PER_S
from tests.support.census import census

WARM_S, EARLY_S, LATE_S = 800, 1600, 2400
"""Former heads are forgotten after 600 s, and a mote looks for lapsed leases once it has 32: until then what is held grows."""
EVERY_S = 20
GROWTH_MOST = 0.05
"""Of the mean over 800 s on that over the 800 s before: it goes up and down by 3 % in a network this small."""
STEADY = (
    "motes.count=20",
    "motes.interval_s=1.0",
    "motes.battery_j=1000.0",
    "radio.range_m=60.0",
    "clustering.range_m=40.0",
    "clustering.round_s=10.0",  # so that all motes have soon been heads
    "join.window_s=3.0",
    "join.buckets=4",
    "phenomenon.domain=4000",  # values go on changing
    "phenomenon.locality=0.5",
    'trace.tables=["traffic"]',
    "trace.messages=off",
)
SETS = "join.answer=sets"
RUNS = {
    "snjoin-star, directory": ["join.feedback=directory"],
    "snjoin-star, paper": ["join.feedback=paper"],
    "snjoin-star, losses": ["join.probing=fan-out", "radio.loss=0.05", "join.retries=1"],
    "oracle": ["join.strategy=oracle"],
    "distributed-mjoin": ["join.strategy=distributed-mjoin"],
    "centralised": ["join.strategy=centralised"],
    "perpendicular": ["join.strategy=perpendicular"],
    "two-phase": ["join.strategy=two-phase"],
    "lease": ["join.strategy=lease", SETS],
    "change": ["join.strategy=change", SETS],
    "change, by motes": ["join.strategy=change", SETS, "join.reporters=motes"],
}
"""Left out: `rendezvous` and `placed`, whose values each have a place that is remembered."""


@pytest.mark.parametrize("settings", RUNS.values(), ids=RUNS)
def test_a_steady_state_holds_no_more_as_time_goes_on(tmp_path: Path, settings: list[str]) -> None:
    held: dict[int, Counter[str]] = {}

    def look(simulation: Simulation) -> None:
        second = simulation.kernel.now_us // US_PER_S
        if second > WARM_S and second % EVERY_S == 0:
            held[second] = census(simulation)

    loaded = load_scenario("snjoin-zipf", (*STEADY, f"duration_s={LATE_S}.0", *settings))
    run_scenario(loaded, tmp_path / "run", progress=look)
    early = sum((held[second] for second in held if second <= EARLY_S), Counter())
    late = sum((held[second] for second in held if second > EARLY_S), Counter())
    looks = (EARLY_S - WARM_S) // EVERY_S
    assert len(held) == 2 * looks
    more = {kind: n / looks for kind, n in (late - early).most_common(5)}
    assert late.total() < (1 + GROWTH_MOST) * early.total(), more
