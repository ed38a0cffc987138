"""Every clustering protocol in a run with loss, deaths and newcomers, checked from its trace."""

from pathlib import Path

import pytest

from tests.support.checkers.missing import find_missing
from tests.support.checkers.trace import Trace, check_trace
from tests.support.runs import SMALL, fails, run_here

PROTOCOLS = {
    "heed": ["clustering.protocol=heed"],
    "heed, costs when changed": ["clustering.protocol=heed", "clustering.tell_costs=changed"],
    "heed, levels": ["clustering.protocol=heed", "clustering.upper_ranges_m=[80.0, 200.0]"],
    "leach": ["clustering.protocol=leach", "clustering.expected_heads=20"],
    "dca": ["clustering.protocol=dca"],
    "max-min": ["clustering.protocol=max-min", "clustering.hops_max=3"],
    "grid": ["clustering.protocol=grid", "clustering.cell_head=rotation"],
    "k-means": ["clustering.protocol=k-means", "clustering.expected_heads=20"],
    "none": ["clustering.protocol=none"],
}
TROUBLE = [
    "duration_s=70.0",
    "clustering.round_s=15.0",
    "radio.loss=0.3",
    "faults.crashes={mean_up_s=120.0, mean_down_s=20.0}",
    "faults.added={count=30, from_s=10.0, until_s=50.0}",
    "motes.battery_j=0.15",
]


def _set(*settings: str) -> list[str]:
    return [word for setting in settings for word in ("--set", setting)]


@pytest.mark.parametrize("strategy", ["snjoin-star", "centralised"])
@pytest.mark.parametrize("settings", PROTOCOLS.values(), ids=PROTOCOLS)
def test_every_reading_is_accounted_for_under_churn_and_loss(
    tmp_path: Path, settings: list[str], strategy: str
) -> None:
    run_here(tmp_path / "run", *_set(*TROUBLE, *settings, f"join.strategy={strategy}"))
    trace = check_trace(tmp_path / "run")
    counts = trace.manifest.counts
    assert counts["readings_with_value"] == sum(counts["fates"].values()) > 300
    # The run was as harsh as intended: heads crashed while they led, newcomers got heads.
    down_heads = """SELECT count(DISTINCT f.node) FROM faults AS f
        ASOF JOIN elections AS e ON f.node = e.node AND f.at_us >= e.at_us
        WHERE f.event = 'crash' AND e.head = e.node"""
    assert trace.number(down_heads) > 0
    newcomers = """SELECT count(DISTINCT e.node) FROM elections AS e JOIN faults AS f
        ON e.node = f.node WHERE f.event = 'added'"""
    assert trace.number(newcomers) > 20
    assert 0.25 < trace.number("SELECT sum(lost) / sum(addressed) FROM traffic") < 0.5
    assert trace.number("SELECT count(*) FROM fates WHERE fate = 'joined'") > 30


@pytest.mark.parametrize("settings", PROTOCOLS.values(), ids=PROTOCOLS)
def test_motes_that_die_during_an_election_lead_no_cluster(
    tmp_path: Path, settings: list[str]
) -> None:
    """The checker tests this for every run; here so many die that each election sees some."""
    dying = ["faults.crashes={mean_up_s=8.0, mean_down_s=4.0}", "clustering.round_s=10.0"]
    run_here(tmp_path / "run", *_set("duration_s=50.0", *dying, *settings))
    trace = check_trace(tmp_path / "run")
    during = """SELECT count(*) FROM faults AS f
        JOIN (SELECT round, min(at_us) AS at_us FROM elections GROUP BY round) AS e
        ON f.at_us BETWEEN e.at_us - 1500000 AND e.at_us WHERE f.event = 'crash'"""
    assert trace.number(during) > 10


MAX_MIN, LEVELS = PROTOCOLS["max-min"], PROTOCOLS["heed, levels"]
COMBINATIONS = {
    "several hops, readings move": [*MAX_MIN, "clustering.handover=move"],
    "several hops, tdma": [
        *MAX_MIN,
        "radio.mac=tdma",
        "motes.profile=telosb",
        "radio.range_m=400.0",
    ],
    "several hops, csma": [*MAX_MIN, "radio.mac=csma"],
    "several hops, routes": [*MAX_MIN, "routing.heads=multi-hop", "routing.sink=multi-hop"],
    "several hops, short radios, dying": [*MAX_MIN, "motes.profile=micaz", "motes.battery_j=0.9"],
    "levels, readings move": [*LEVELS, "clustering.handover=move"],
    "levels, data-sheet radios": [*LEVELS, "motes.profile=micaz", "radio.range_m=400.0"],
    "levels, csma": [*LEVELS, "radio.mac=csma"],
    "levels, dying": [*LEVELS, "motes.battery_j=0.03", "join.feedback=off"],
}


@pytest.mark.parametrize("settings", COMBINATIONS.values(), ids=COMBINATIONS)
def test_trees_and_levels_work_on_every_network(tmp_path: Path, settings: list[str]) -> None:
    run_here(tmp_path / "run", *_set("duration_s=50.0", "clustering.round_s=10.0", *settings))
    trace = check_trace(tmp_path / "run")
    assert trace.number("SELECT count(*) FROM elections WHERE via <> head OR up >= 0") > 10


CONTENDED = {
    "short range": [],
    "everybody a head": ["clustering.protocol=none", "motes.count=60"],
    "data-sheet radios": ["motes.profile=micaz", "radio.range_m=400.0"],
    "several hops": ["routing.heads=multi-hop", "routing.sink=multi-hop"],
}


@pytest.mark.parametrize("settings", CONTENDED.values(), ids=CONTENDED)
def test_heads_that_contend_for_the_channel_enrol_and_get_their_rosters(
    tmp_path: Path, settings: list[str]
) -> None:
    run_here(tmp_path / "run", *_set("duration_s=30.0", "radio.mac=csma", *settings))
    trace = check_trace(tmp_path / "run")
    counts = trace.manifest.counts
    heads = trace.number("SELECT count(*) FROM elections WHERE head = node")
    reached = """SELECT count(DISTINCT m.target) FROM messages AS m JOIN elections AS e
        ON e.node = m.target AND e.head = e.node
        WHERE m.kind = 'roster' AND m.outcome = 'delivered' AND m.arrived_us < e.at_us"""
    assert counts["rounds"] == 1
    assert counts["mean_enrolled"] >= 0.95 * heads
    assert trace.number(reached) >= 0.95 * heads


@pytest.mark.parametrize("window_s", [3.0, 14.0])
def test_a_head_that_steps_down_hands_its_readings_over_once(
    tmp_path: Path, window_s: float
) -> None:
    settings = ["clustering.handover=move", "clustering.round_s=10.0", f"join.window_s={window_s}"]
    settings += ["motes.count=40", "join.late_s=1.0", "join.feedback=off", "duration_s=70.0"]
    settings += ["trace.messages=full", "trace.partners=true", "motes.interval_s=2.0"]
    run_here(tmp_path / "run", *_set(*settings), scenario="snjoin-zipf")
    trace = check_trace(tmp_path / "run")
    # What is sent as motes switch comes from those that were heads until then.
    handed = """SELECT m.source, e.round FROM messages AS m
        JOIN (SELECT DISTINCT round, at_us FROM elections) AS e ON e.at_us = m.at_us
        WHERE m.kind = 'handover'"""
    assert trace.number(f"SELECT count(*) FROM ({handed})") > 20
    trace.none(
        f"""SELECT * FROM ({handed}) AS h WHERE NOT EXISTS (FROM elections AS e
        WHERE e.node = h.source AND e.head = e.node AND e.round = h.round - 1)"""
    )


def test_members_several_hops_away_reach_their_heads_via_relays(tmp_path: Path) -> None:
    settings = [*PROTOCOLS["max-min"], "duration_s=60.0", "clustering.range_m=20.0"]
    run_here(tmp_path / "run", *_set(*settings))
    trace = check_trace(tmp_path / "run")
    assert trace.number("SELECT count(*) FROM elections WHERE via <> head") > 50
    # Every transmission of a reading is one hop up a tree, and all that were sent arrived.
    trace.none(
        """SELECT * FROM messages AS m WHERE kind = 'reading' AND NOT EXISTS (
            SELECT 1 FROM elections AS e
            WHERE e.node = m.source AND e.via = m.target AND e.at_us <= m.at_us)"""
    )
    hops = trace.number("SELECT count(*) FROM messages WHERE kind = 'reading'")
    by_members = """SELECT count(*) FROM fates JOIN readings
        ON fates.node = readings.node AND origin_at_us = readings.stamp_us
        WHERE fate = 'joined' AND fates.head <> fates.node"""
    assert hops > 1.2 * trace.number(by_members)
    assert set(trace.manifest.counts["fates"]) == {"joined"}
    relayed = """SELECT count(*) FROM messages AS m ASOF JOIN elections AS e
        ON m.source = e.node AND m.at_us >= e.at_us
        WHERE m.kind = 'reading' AND m.target <> e.head"""
    assert trace.number(relayed) > 50


def test_messages_to_the_sink_climb_the_levels(tmp_path: Path) -> None:
    levels = ["duration_s=60.0", "clustering.upper_ranges_m=[100.0]", "join.feedback=off"]
    run_here(tmp_path / "flat", *_set("duration_s=60.0", "join.feedback=off"))
    run_here(tmp_path / "run", *_set(*levels))
    flat, trace = Trace(tmp_path / "flat"), check_trace(tmp_path / "run")
    heads = trace.number("SELECT count(*) FROM elections WHERE head = node")
    tops = trace.number("SELECT count(*) FROM elections WHERE up = -1")
    assert 0 < tops < heads / 2
    for kind in ("result", "enrol", "roster"):
        end = "source" if kind == "roster" else "target"
        sent = f"SELECT count(*) FROM messages WHERE kind = '{kind}'"
        assert trace.number(f"{sent} AND {end} <> -1") > 0, kind
        assert trace.number(f"{sent} AND {end} = -1") > 0, kind
    # The same results as without levels: only the route differs.
    answer = "SELECT origin, origin_at_us, arity FROM results WHERE origin IS NOT NULL ORDER BY ALL"
    assert flat.number("SELECT count(*) FROM results") > 100
    assert len(trace.rows(answer)) == pytest.approx(len(flat.rows(answer)), rel=0.02)


def test_costs_sent_only_when_changed_save_messages_and_change_no_election(tmp_path: Path) -> None:
    settings = ["duration_s=100.0", "clustering.round_s=20.0"]
    always = run_here(tmp_path / "a", *_set(*settings)).counts
    changed = run_here(tmp_path / "b", *_set(*settings, "clustering.tell_costs=changed")).counts
    assert always["rounds"] == changed["rounds"] == 5
    assert always["traffic"]["cost"]["sent"] == 5 * 200
    assert changed["traffic"]["cost"]["sent"] == 200


def test_a_call_to_elect_is_relayed_where_the_sink_does_not_reach_all(tmp_path: Path) -> None:
    tired = ["duration_s=60.0", "clustering.round_s=0.0", "clustering.trigger_share=0.999"]
    reaching = run_here(tmp_path / "a", *_set(*tired, "motes.battery_j=1.0")).counts
    calls = reaching["traffic"]["call"]
    assert calls["sent"] == reaching["rounds"] - 1 > 0
    short = ["motes.profile=micaz", "motes.battery_j=100.0", "radio.range_m=60.0"]
    multi_hop = ["routing.heads=multi-hop", "routing.sink=multi-hop"]
    run_here(tmp_path / "b", *_set(*tired, *short, *multi_hop))
    trace = check_trace(tmp_path / "b")
    callers = trace.rows("SELECT DISTINCT source FROM messages WHERE kind = 'call'")
    assert len(callers) > 150
    trace.none(
        """SELECT m.source FROM messages AS m JOIN motes AS s ON m.source = s.node JOIN motes AS t
        ON t.node >= 0 AND t.node <> s.node AND sqrt((s.x_m - t.x_m) ** 2 + (s.y_m - t.y_m) ** 2) <= 60.0
        WHERE m.kind = 'call' GROUP BY m.at_us, m.source, m.addressed HAVING count(*) <> m.addressed"""
    )


FAULTS = {
    "levels of another protocol": (
        ["clustering.protocol=dca", "clustering.upper_ranges_m=[100.0]"],
        ["upper_ranges_m", "protocol = 'heed'", "'dca'"],
    ),
    "levels that descend": (
        ["clustering.upper_ranges_m=[20.0]"],
        ["upper_ranges_m = [20.0]", "ascend from range_m = 30.0"],
    ),
    "levels and routes": (
        ["clustering.upper_ranges_m=[100.0]", "routing.sink=multi-hop"],
        ["routing.sink = 'multi-hop'", "upper_ranges_m"],
    ),
    "no hops": (["clustering.hops_max=0"], ["clustering.hops_max = 0", "at least 1"]),
}


@pytest.mark.parametrize(("settings", "said"), FAULTS.values(), ids=FAULTS)
def test_unusable_settings_are_rejected_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], settings: list[str], said: list[str]
) -> None:
    message = fails(capsys, "run", SMALL, "--out", str(tmp_path / "run"), *_set(*settings))
    assert all(words in message for words in said), message
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("mac", ["ideal", "tdma", "csma"])
def test_messages_that_are_late_cut_no_head_off(tmp_path: Path, mac: str) -> None:
    settings = ["motes.count=40", "duration_s=80.0", "motes.start_s=15.0", "motes.drain_s=5.0"]
    settings += ["faults.jitter_ms=200.0", "join.feedback=off", f"radio.mac={mac}"]
    settings += ["trace.messages=full", "trace.partners=true"]
    settings += ["field.width_m=100.0", "field.height_m=100.0", "radio.range_m=60.0"]
    settings += ["clustering.range_m=40.0", "clustering.round_s=30.0", "phenomenon.domain=20"]
    run_here(tmp_path / "run", *_set(*settings), scenario="snjoin-zipf")
    trace = check_trace(tmp_path / "run")
    counts = trace.manifest.counts
    assert counts["mean_enrolled"] == counts["mean_heads"]
    missing = find_missing(trace)
    assert missing.owed > 1000
    assert "head not known" not in missing.reasons, missing.reasons
    # A member whose join message is late is no head of its own.
    assert counts["mean_heads"] < 30
