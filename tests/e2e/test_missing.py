"""With loss, crashes and full queues: nothing is reported twice, and every missing partner has a reason."""

from pathlib import Path

import pytest

from analysis.compare.compare_runs import compare
from tests.support.checkers.missing import find_missing
from tests.support.checkers.trace import check_trace
from tests.support.runs import run_here

FAULTS = [
    "radio.loss=0.05",
    "faults.crashes.mean_up_s=200.0",
    "faults.crashes.mean_down_s=10.0",
    "join.queue=2",
    "join.cpu_us.probe=20000.0",
]

VARIANTS = {
    "paper feedback": [],
    "full probing, sent again": ["join.feedback=off", "join.retries=1"],
    "all at once, sent again": ["join.probing=fan-out", "join.retries=1"],
    "directory": ["join.feedback=directory"],
    "directory, all at once": ["join.feedback=directory", "join.probing=fan-out"],
    "distributed MJoin": ["join.strategy=distributed-mjoin"],
    "readings that move": ["clustering.handover=move", "clustering.round_s=10.0"],
    "wrong clocks": ["faults.clock_offset_ms=300.0", "join.feedback=off"],
    "late readings": ["faults.jitter_ms=50.0", "join.late_s=0.03"],
}


def run_with_faults(out: Path, settings: list[str]) -> None:
    run_here(out, *(word for setting in [*FAULTS, *settings] for word in ("--set", setting)))


@pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS)
def test_every_missing_partner_has_a_reason(tmp_path: Path, settings: list[str]) -> None:
    run_with_faults(tmp_path / "run", settings)
    missing = find_missing(check_trace(tmp_path / "run"))
    assert missing.owed > 1000
    assert 0 < missing.delivered < missing.owed
    assert not missing.unexplained, missing.unexplained[:5]
    assert missing.reasons.total() == missing.owed - missing.delivered
    assert {"reading lost", "request lost"} <= missing.reasons.keys()
    assert {"reading queue full", "request queue full"} & missing.reasons.keys()
    assert {"reading dead", "request dead", "head dead"} & missing.reasons.keys()


@pytest.mark.spark
def test_spark_counts_the_same_pairs(tmp_path: Path) -> None:
    chosen = ["paper feedback", "all at once, sent again", "directory", "wrong clocks"]
    counted = []
    for number, name in enumerate(chosen):
        run_with_faults(tmp_path / str(number), VARIANTS[name])
        missing = find_missing(check_trace(tmp_path / str(number)))
        counted.append((missing.owed, missing.delivered, 0, 0))
    rows = compare([tmp_path / str(number) for number in range(len(chosen))]).rows
    columns = ("owed", "delivered", "duplicates", "spurious")
    assert [tuple(row[column] for column in columns) for row in rows] == counted
    assert [row["recall"] for row in rows] == [
        delivered / owed for owed, delivered, _, _ in counted
    ]


@pytest.mark.parametrize("probing", ["chain", "fan-out"])
def test_the_sink_passes_over_dead_heads_without_sending_to_itself(
    tmp_path: Path, probing: str
) -> None:
    settings = [
        "join.feedback=directory",
        f"join.probing={probing}",
        "faults.crashes={mean_up_s=40.0, mean_down_s=10.0}",
        "clustering.on_head_failure=wait",
    ]
    run_here(tmp_path / "run", *(word for setting in settings for word in ("--set", setting)))
    trace = check_trace(tmp_path / "run")
    from_sink = "kind = 'probe' AND source = -1 AND outcome = 'dead'"
    assert trace.number(f"SELECT count(*) FROM messages WHERE {from_sink}") > 0
    assert set(trace.manifest.counts["requests"]) == {"finished"}
