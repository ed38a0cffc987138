"""The smallest scenarios that showed a bug, found by random ones."""

from pathlib import Path

import pytest

from tests.fuzz.generator import Fuzzed
from tests.fuzz.judge import judge

FOUND = {
    "a mote that leads the cell of the dead leader that it probed": (
        "snjoin-zipf",
        579,
        (
            "trace.messages=full",
            "motes.battery_j=0.02",
            "faults.jitter_ms=343.611179",
            "motes.interval_s=0.208974",
            "motes.jitter=0.4",
            "faults.clock_drift_ppm=5000.0",
            "join.late_s=1.210004",
            "join.strategy=perpendicular",
            "radio.mac=csma",
        ),
    ),
    "a mote that recovers during an election and hears of heads": (
        "churn",
        96,
        (
            "faults.crashes={mean_up_s=12.71, mean_down_s=1.58}",
            "clustering.weight=degree",
            "clustering.protocol=max-min",
            "duration_s=40.0",
        ),
    ),
    "a head that dies of its report": (
        "snjoin-zipf",
        625,
        ("join.strategy=change", "join.answer=sets", "motes.battery_j=0.002999"),
    ),
    "a head that dies of sending its candidates": (
        "snjoin-zipf",
        868,
        (
            "motes.battery_j=0.003077",
            "join.strategy=two-phase",
            "motes.count=30",
            "motes.interval_s=0.3",
            "duration_s=12.0",
        ),
    ),
    "bytes of frames that are repeated": (
        "snjoin-zipf",
        85,
        ("trace.messages=full", "radio.mac=lpl", "motes.count=12", "duration_s=8.0"),
    ),
    "a mote that was reported before": (
        "snjoin-zipf",
        906,
        (
            "motes.count=60",
            "motes.interval_s=1.5",
            "radio.range_m=60.0",
            "clustering.range_m=40.0",
            "clustering.round_s=10.0",
            "join.window_s=4.0",
            "trace.messages=full",
            "trace.partners=true",
            "phenomenon.domain=60",
            "phenomenon.locality=0.5",
            "duration_s=18.0",
            "join.probing=fan-out",
            "radio.loss=0.1",
            "join.retries=2",
            "join.timeout_s=0.6",
            "radio.duty_cycle=0.1",
            "sink.cpu_speed=0.01",
        ),
    ),
    "an initiator's own part that waits at the sink": (
        "snjoin-zipf",
        71,
        (
            "trace.partners=true",
            "clustering.protocol=max-min",
            "clustering.cost=degree",
            "join.probing=fan-out",
            "radio.mac=csma",
            "motes.count=64",
            "duration_s=18.0",
        ),
    ),
    "clocks that disagree under a centralised join": (
        "snjoin-zipf",
        107,
        (
            "trace.partners=true",
            "join.strategy=centralised",
            "faults.clock_offset_ms=800.0",
            "motes.count=80",
            "duration_s=12.0",
        ),
    ),
    "a mote whose clock is ahead of that of the sink, which estimates costs": (
        "tracking",
        1,
        (
            "join.strategy=automatic",
            "faults.clock_offset_ms=300.0",
            "motes.count=80",
            "duration_s=24.0",
        ),
    ),
    "an oracle that had chosen heads before all readings were there": (
        "snjoin-zipf",
        363,
        (
            "join.strategy=oracle",
            "join.window_s=0.096126",
            "join.late_s=4.165599",
            "join.order=tour",
            "radio.range_m=60.0",
            "radio.mac=tdma",
            "radio.tdma.guard_ms=0.433656",
            "routing.sink=multi-hop",
            "clustering.cost=degree",
            "clustering.round_s=23.408601",
            "motes.interval_s=4.0",
            "trace.partners=true",
        ),
    ),
    "a mote that dies of sending a reading under a plan that it had switched to": (
        "dwelling",
        479,
        ("join.window_s=0.180451", "phenomenon.domain=16", "motes.battery_j=0.003104"),
    ),
    "an enrolment that waited in a mote until after the switch": (
        "snjoin-zipf",
        276,
        (
            "clustering.round_s=10.0",
            "trace.messages=full",
            "join.window_s=0.050566",
            "motes.count=3",
            "faults.crashes={mean_up_s=59.10, mean_down_s=7.99}",
            "faults.sink_outages=[{from_s=6.09, until_s=7.59}, {from_s=7.59, until_s=9.09}]",
            "radio.mac=lpl",
        ),
    ),
}


@pytest.mark.parametrize(("base", "seed", "settings"), FOUND.values(), ids=FOUND)
def test_what_was_found_stays_mended(
    tmp_path: Path, base: str, seed: int, settings: tuple[str, ...]
) -> None:
    assert not judge(Fuzzed(0, base, settings, seed), tmp_path)
