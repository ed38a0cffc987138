"""Lossless strategies that probe every head deliver exactly the exact join of the readings."""

from pathlib import Path

import pytest

from tests.support.checkers.trace import Trace, check_trace
from tests.support.runs import run_here

EXACT = {
    "centralised": ["join.strategy=centralised"],
    "centralised, MJoin": ["join.strategy=centralised", "join.operator=mjoin"],
    "centralised, XJoin tree": ["join.strategy=centralised", "join.operator=xjoin-tree"],
    "centralised, SHJ tree": ["join.strategy=centralised", "join.operator=shj-tree"],
    "centralised, ripple, factorised": [
        "join.strategy=centralised",
        "join.operator=ripple",
        "join.form=factorised",
    ],
    "full probing": ["join.feedback=off"],
    "full probing, factorised": ["join.feedback=off", "join.form=factorised"],
    "full probing, all at once": ["join.feedback=off", "join.probing=fan-out"],
    "full probing, by position": ["join.feedback=off", "join.order=tour"],
    "oracle": ["join.strategy=oracle"],
    "distributed MJoin": ["join.strategy=distributed-mjoin"],
    "rendezvous by hash": ["join.strategy=rendezvous"],
    "perpendicular": ["join.strategy=perpendicular"],
    "perpendicular, factorised": ["join.strategy=perpendicular", "join.form=factorised"],
    "two-phase": ["join.strategy=two-phase"],
    "two-phase, packed": ["join.strategy=two-phase", "join.delay_s=0.5", "join.records=compact"],
    "two-phase, re-elections": ["join.strategy=two-phase", "clustering.round_s=10.0"],
    "placed": ["join.strategy=placed"],
    "readings that linger": ["join.feedback=off", "clustering.round_s=10.0"],
    "readings that move": [
        "join.feedback=off",
        "clustering.round_s=10.0",
        "clustering.handover=move",
    ],
}

PAIRS = """
WITH valued AS (SELECT node, at_us, value FROM readings WHERE value IS NOT NULL),
matching AS (
    SELECT one.node AS node, one.at_us AS at_us, other.node AS partner, other.at_us AS partner_at_us
    FROM valued AS one JOIN valued AS other ON one.value = other.value AND one.node <> other.node
    AND (other.at_us, other.node) < (one.at_us, one.node) AND one.at_us - other.at_us <= {window_us}),
owed AS (SELECT DISTINCT node, at_us, partner FROM matching),
listed AS (
    SELECT origin AS node, origin_at_us AS at_us, unnest(partners) AS member
    FROM results WHERE origin IS NOT NULL),
delivered AS (
    SELECT node, at_us, member.node AS partner FROM listed
    UNION  -- a reading that overtook an earlier one is listed with that one's result
    SELECT m.node, m.at_us, m.partner FROM matching AS m JOIN listed AS l
    ON l.node = m.partner AND l.at_us = m.partner_at_us
    AND l.member.node = m.node AND l.member.at_us = m.at_us)
SELECT (SELECT count(*) FROM owed), (SELECT count(*) FROM owed SEMI JOIN delivered USING (node, at_us, partner))
"""


def owed_and_delivered(trace: Trace) -> tuple[int, int]:
    """The number of pairs of reading and partner node, and how many of them reached the sink."""
    window_us = round(trace.manifest.scenario["join"]["window_s"] * 1e6)
    ((owed, delivered),) = trace.rows(PAIRS.format(window_us=window_us))
    assert isinstance(owed, int)
    assert isinstance(delivered, int)
    return owed, delivered


@pytest.mark.parametrize("settings", EXACT.values(), ids=EXACT)
def test_every_pair_is_delivered(tmp_path: Path, settings: list[str]) -> None:
    arguments = [word for setting in settings for word in ("--set", setting)]
    run_here(tmp_path / "run", *arguments)
    owed, delivered = owed_and_delivered(check_trace(tmp_path / "run"))
    assert owed > 1000
    assert delivered == owed


LOCAL = [
    "motes.count=60",
    "motes.interval_s=1.5",
    "join.window_s=4.0",
    "phenomenon.domain=60",
    "phenomenon.locality=0.5",
    "routing.heads=multi-hop",
    "routing.sink=multi-hop",
    "radio.range_m=60.0",
    "trace.messages=full",
    "trace.partners=true",
    "duration_s=18.0",
]
"""Over several hops, values that belong to places, and others."""


@pytest.mark.parametrize(
    "settings",
    [
        ["join.strategy=rendezvous", "join.home=scope"],
        ["join.strategy=perpendicular", "join.cell_m=30.0"],
        ["join.strategy=two-phase"],
        ["join.strategy=placed"],
    ],
    ids=["rendezvous by scope", "perpendicular", "two-phase", "placed"],
)
def test_every_pair_is_delivered_over_several_hops(tmp_path: Path, settings: list[str]) -> None:
    arguments = [word for setting in (*LOCAL, *settings) for word in ("--set", setting)]
    run_here(tmp_path / "run", *arguments, scenario="snjoin-zipf")
    owed, delivered = owed_and_delivered(check_trace(tmp_path / "run"))
    assert owed > 1000
    assert delivered == owed


def test_the_directory_delivers_nearly_all_at_little_more_than_the_oracles_cost(
    tmp_path: Path,
) -> None:
    run_here(tmp_path / "directory", "--set", "join.feedback=directory")
    run_here(tmp_path / "oracle", "--set", "join.strategy=oracle")
    run_here(tmp_path / "paper")
    bytes_sent = {}
    for name in ("directory", "oracle", "paper"):
        trace = Trace(tmp_path / name)
        bytes_sent[name] = trace.manifest.counts["bytes"]
        if name == "directory":
            owed, delivered = owed_and_delivered(trace)
            assert delivered >= 0.99 * owed
    assert bytes_sent["oracle"] < bytes_sent["directory"] < 1.1 * bytes_sent["oracle"]
    assert bytes_sent["directory"] < 0.5 * bytes_sent["paper"]


def test_no_request_outlives_a_crash_of_the_oracle_that_was_about_to_send_it(
    tmp_path: Path,
) -> None:
    run_here(
        tmp_path / "run",
        *("--set", "join.strategy=oracle"),
        *("--set", "faults.crashes={mean_up_s=3.0, mean_down_s=0.05}"),
        *("--set", "join.cpu_us.hash=500000.0"),
        *("--set", "motes.count=40", "--set", "motes.interval_s=5.0", "--set", "duration_s=20.0"),
        scenario="snjoin-zipf",
    )
    trace = Trace(tmp_path / "run")
    caught = trace.rows(
        "SELECT outcome, requests.reason, count(*) > 5 FROM requests JOIN faults ON faults.node = origin_head"
        " WHERE event = 'crash' AND faults.at_us BETWEEN stamp_us + 1 AND stamp_us + 499999 GROUP BY 1, 2"
    )
    assert caught == [("dropped", "state lost", True)]
