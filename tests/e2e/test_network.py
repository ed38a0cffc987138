"""Every kind of network, run from a scenario file and checked from its trace."""

from pathlib import Path

import pytest

from network.topology import read_links
from scenarios.files.shipped import shipped_scenarios
from tests.support.checkers.trace import Trace, check_trace
from tests.support.places import ROOT
from tests.support.requirements import recorded_file
from tests.support.runs import SMALL, fails, run_here

MULTI_HOP = ["routing.heads=multi-hop", "routing.sink=multi-hop"]
REACHING = "radio.range_m=400.0"

VARIANTS = {
    "data-sheet radios": ["motes.profile=micaz", REACHING, "radio.overhearing=true"],
    "least power": ["motes.profile=telosb", REACHING, "radio.power_control=true"],
    "mica2, several hops": ["motes.profile=mica2", *MULTI_HOP],
    "csma": ["radio.mac=csma"],
    "csma, no acknowledgements": ["radio.mac=csma", "radio.csma.acknowledge=false"],
    "csma, impatient": [
        "radio.mac=csma",
        "radio.csma={min_be=1, max_be=2, max_backoffs=1, retries=0}",
        "radio.queue=2",
    ],
    "csma, dying": ["radio.mac=csma", "motes.battery_j=0.01"],
    "csma, idle death": ["radio.mac=csma", "motes.profile=telosb", "motes.battery_j=2.5", REACHING],
    "low-power listening, several hops": [
        "radio.mac=lpl",
        "radio.wake_up_s=0.03",
        "motes.profile=telosb",
        "motes.count=60",
        *MULTI_HOP,
        "clustering.round_s=30.0",
    ],
    "low-power listening, dying and crashing": [
        "radio.mac=lpl",
        "radio.wake_up_s=0.03",
        "motes.profile=micaz",
        "motes.count=60",
        "motes.battery_j=0.7",
        *MULTI_HOP,
        "faults.crashes={mean_up_s=40.0, mean_down_s=10.0}",
        "faults.sink_outages=[{from_s=20.0, until_s=30.0}]",
    ],
    "tdma": ["radio.mac=tdma", "motes.profile=telosb", REACHING],
    "tdma, narrow": [
        "radio.mac=tdma",
        "radio.tdma={slot_bytes=8, guard_ms=2.0}",
        "radio.loss=0.1",
        "radio.queue=1",
    ],
    "duty cycle": ["motes.profile=telosb", "radio.duty_cycle=0.1", REACHING],
    "duty cycle, csma": [
        "motes.profile=telosb",
        "radio.mac=csma",
        "radio.duty_cycle=0.2",
        "radio.wake_period_s=0.5",
        REACHING,
    ],
    "shadowing": [
        "motes.profile=micaz",
        "radio.channel=shadowing",
        "radio.shadowing={hardware='low', modulation='o-qpsk-ns3', sigma_db=3.0, cca_dbm=-80.0}",
        "radio.tx_dbm=-3.0",
        *MULTI_HOP,
        "routing.metric=etx",
    ],
    "shadowing, csma": [
        "motes.profile=telosb",
        "radio.mac=csma",
        "radio.channel=shadowing",
        *MULTI_HOP,
        "routing.metric=etx",
        "routing.rate_least=0.5",
    ],
    "several hops, data-sheet radios in slots": [
        "radio.mac=tdma",
        "motes.profile=micaz",
        *MULTI_HOP,
        "radio.overhearing=true",
    ],
    "several hops by energy, dying": [*MULTI_HOP, "routing.metric=energy", "motes.battery_j=0.01"],
    "several hops by distance to the sink only": [
        "routing.sink=multi-hop",
        "routing.metric=distance",
        "join.strategy=centralised",
    ],
    "all faults": [
        "faults.crashes={mean_up_s=40.0, mean_down_s=10.0}",
        "faults.added={count=20, from_s=10.0, until_s=50.0}",
        "faults.removed={count=20, from_s=10.0, until_s=50.0}",
        "faults.bursts={good_to_bad=0.05, bad_to_good=0.2}",
        "faults.jitter_ms=50.0",
        "faults.sink_outages=[{from_s=20.0, until_s=30.0}, {from_s=40.0, until_s=41.0}]",
    ],
    "faults under csma and several hops": [
        "radio.mac=csma",
        *MULTI_HOP,
        "faults.crashes={mean_up_s=40.0}",
        "faults.jitter_ms=5.0",
        "faults.sink_outages=[{from_s=20.0, until_s=30.0}]",
    ],
    "added under several hops": [
        *MULTI_HOP,
        "faults.added={count=60, from_s=10.0, until_s=50.0}",
    ],
    "idle death and crashes": [
        "motes.profile=telosb",
        "motes.battery_j=2.5",
        "faults.crashes={mean_up_s=40.0, mean_down_s=10.0}",
        REACHING,
    ],
    "wrong clocks": ["faults.clock_offset_ms=200.0", "faults.clock_drift_ppm=50.0"],
    "grid with jitter": ["motes.placement=grid", "motes.jitter=0.4"],
    "groups": ["motes.placement=clustered", "motes.groups=4", "motes.spread_m=15.0"],
    "apart": ["motes.placement=poisson-disk", "motes.apart_m=6.0"],
}


def _set(*settings: str) -> list[str]:
    return [word for setting in settings for word in ("--set", setting)]


@pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS)
def test_every_network_accounts_for_every_message_and_joule(
    tmp_path: Path, settings: list[str]
) -> None:
    run_here(tmp_path / "run", *_set("duration_s=60.0", *settings))
    check_trace(tmp_path / "run")


def test_a_head_found_dead_over_several_hops_is_skipped(tmp_path: Path) -> None:
    crashes = "faults.crashes={mean_up_s=60.0, mean_down_s=10.0}"
    run_here(tmp_path / "run", *_set("duration_s=75.0", crashes, "join.feedback=off", *MULTI_HOP))
    trace = check_trace(tmp_path / "run")
    assert trace.number("SELECT count(*) FROM requests WHERE len(passed_over) > 0") > 20
    finished = trace.number("SELECT count(*) FROM requests WHERE outcome = 'finished'")
    assert finished > 0.8 * trace.number("SELECT count(*) FROM requests")


def test_no_election_takes_place_without_live_motes(tmp_path: Path) -> None:
    run_here(
        tmp_path / "run",
        *_set("duration_s=60.0", "motes.profile=micaz", "motes.battery_j=2.5", REACHING),
        *_set("clustering.round_s=20.0"),
    )
    trace = check_trace(tmp_path / "run")
    counts = trace.manifest.counts
    assert counts["deaths"] == trace.manifest.scenario["motes"]["count"]
    heads = trace.number("SELECT count(*) FROM elections WHERE node = head")
    assert counts["mean_heads"] == heads / counts["rounds"]


def test_the_same_seed_gives_the_same_run_on_every_network(tmp_path: Path) -> None:
    for name in (
        "shadowing, csma",
        "all faults",
        "tdma",
        "low-power listening, dying and crashing",
    ):
        settings = _set("duration_s=30.0", *VARIANTS[name])
        first = run_here(tmp_path / "a", *settings, "--force")
        assert run_here(tmp_path / "b", *settings, "--force").fingerprint == first.fingerprint
        other = run_here(tmp_path / "b", *settings, "--seed", "2", "--force")
        assert other.fingerprint != first.fingerprint


def test_each_fault_shows_in_the_trace(tmp_path: Path) -> None:
    # All readings are sent to the sink, so that some are whenever it is down.
    settings = ("duration_s=60.0", *VARIANTS["all faults"], "join.strategy=centralised")
    run_here(tmp_path / "run", *_set(*settings))
    trace = Trace(tmp_path / "run")
    rows = trace.rows("SELECT event, count(*) FROM faults GROUP BY event")
    events = {str(event): int(str(count)) for event, count in rows}
    assert events["added"] == 20
    assert 10 <= events["removed"] <= 20
    assert events["crash"] > 50
    assert events["sink down"] == events["sink up"] == 2
    assert trace.number("SELECT count(*) FROM drops WHERE reason = 'sink down'") > 0
    # With jitter, messages of one mote overtake each other.
    overtaken = """SELECT count(*) FROM (SELECT arrived_us,
        max(arrived_us) OVER (PARTITION BY source ORDER BY at_us
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
        FROM messages WHERE arrived_us IS NOT NULL AND target IS NOT NULL) WHERE arrived_us < before"""
    assert trace.number(overtaken) > 0


def test_motes_due_after_the_end_are_never_added(tmp_path: Path) -> None:
    late = "faults.added={count=40, from_s=20.0, until_s=200.0}"
    run_here(tmp_path / "run", *_set("duration_s=40.0", late))
    trace = check_trace(tmp_path / "run")
    came = {node for (node,) in trace.rows("SELECT node FROM faults WHERE event = 'added'")}
    sensed = {node for (node,) in trace.rows("SELECT node FROM readings WHERE node >= 160")}
    assert 0 < len(came) < 20
    assert 0 < len(sensed) < 20
    assert sensed <= came


def test_readings_are_stamped_by_their_motes_clocks(tmp_path: Path) -> None:
    run_here(tmp_path / "run", *_set("duration_s=60.0", *VARIANTS["wrong clocks"]))
    trace = Trace(tmp_path / "run")
    spread_us = trace.number("SELECT stddev(stamp_us - at_us) FROM readings")
    assert 150_000 < spread_us < 250_000


def test_csma_costs_time_collisions_and_acknowledgements(tmp_path: Path) -> None:
    ideal = run_here(tmp_path / "ideal", *_set("duration_s=60.0"))
    csma = run_here(tmp_path / "csma", *_set("duration_s=60.0", "radio.mac=csma"))
    trace = Trace(tmp_path / "csma")
    assert csma.counts["mean_delay_ms"] > ideal.counts["mean_delay_ms"]
    assert trace.number("SELECT count(*) FROM messages WHERE kind = 'mac-ack'") > 100
    assert trace.number("SELECT count(*) FROM messages WHERE outcome = 'collided'") > 0


def test_sleep_saves_energy_and_costs_delay(tmp_path: Path) -> None:
    def run(*settings: str) -> dict[str, float]:
        base = ["duration_s=60.0", "motes.profile=telosb", REACHING]
        counts = run_here(tmp_path / "run", *_set(*base, *settings), "--force").counts
        return {"j": counts["energy_j"], "ms": counts["mean_delay_ms"]}

    awake, tdma, cycled = run(), run("radio.mac=tdma"), run("radio.duty_cycle=0.1")
    assert tdma["j"] < 0.4 * awake["j"]
    assert cycled["j"] < 0.4 * awake["j"]
    assert tdma["ms"] > awake["ms"]
    assert cycled["ms"] > awake["ms"]


def test_motes_out_of_reach_are_counted(tmp_path: Path) -> None:
    far = ["radio.range_m=31.0", "sink.y_m=-200.0", *MULTI_HOP]
    counts = run_here(tmp_path / "run", *_set("duration_s=60.0", *far)).counts
    assert counts["cut_off"] == 200
    assert counts["drops"]["unreachable"] > 0
    assert counts["lifetime"]["partition_s"] == 0.0
    dying = ["duration_s=60.0", "radio.range_m=31.0", "motes.battery_j=0.0015", *MULTI_HOP]
    life = run_here(tmp_path / "dying", *_set(*dying)).counts["lifetime"]
    assert 0 < life["first_dead_s"] <= life["half_dead_s"]
    assert life["partition_s"] is not None
    assert life["partition_s"] >= life["first_dead_s"]


def test_removed_motes_cut_others_off(tmp_path: Path) -> None:
    sparse = ["radio.range_m=31.0", "faults.removed={count=170, from_s=10.0, until_s=20.0}"]
    counts = run_here(tmp_path / "run", *_set("duration_s=30.0", *sparse, *MULTI_HOP)).counts
    assert counts["deaths"] == 0
    assert 10.0 <= counts["lifetime"]["partition_s"] < 20.0


def test_a_user_profile_is_used(tmp_path: Path) -> None:
    shipped = ROOT / "network" / "radio" / "profiles" / "telosb.toml"
    mine = tmp_path / "mine.toml"
    mine.write_text(shipped.read_text().replace("sample_uj = 10.5", "sample_uj = 1000.0"))
    settings = _set("duration_s=20.0", f'motes.profile="{mine}"', REACHING)
    counts = run_here(tmp_path / "run", *settings).counts
    assert counts["energy_by_cause_j"]["sense"] == pytest.approx(1e-3 * counts["readings"])


def test_a_battery_is_given_in_joules_or_milliampere_hours_or_by_the_profile(
    tmp_path: Path,
) -> None:
    text = shipped_scenarios()[SMALL].replace("battery_j = 100.0\n", "")
    scenario = tmp_path / "mine.toml"
    for line, expected_j in (
        ("", 21_600.0),
        ("battery_mah = 1.5", 1.5 * 3.6 * 3.0),
        ("battery_j = 7.5", 7.5),
    ):
        scenario.write_text(text.replace("[motes]\n", f"[motes]\n{line}\n"))
        settings = _set("duration_s=10.0", "motes.profile=telosb", REACHING)
        run_here(tmp_path / "run", *settings, "--force", scenario=str(scenario))
        trace = check_trace(tmp_path / "run")
        assert trace.number("SELECT max(battery_j) FROM motes") == pytest.approx(expected_j)


def test_milliampere_hours_use_the_profiles_voltage(tmp_path: Path) -> None:
    shipped = ROOT / "network" / "radio" / "profiles" / "first-order.toml"
    mine = tmp_path / "mine.toml"
    mine.write_text(shipped.read_text().replace("voltage_v = 3.0", "voltage_v = 1.5"))
    text = shipped_scenarios()[SMALL].replace("battery_j = 100.0\n", "battery_mah = 10.0\n")
    scenario = tmp_path / "mine-too.toml"
    scenario.write_text(text)
    settings = _set("duration_s=10.0", f'motes.profile="{mine}"')
    run_here(tmp_path / "run", *settings, scenario=str(scenario))
    battery_j = Trace(tmp_path / "run").number("SELECT max(battery_j) FROM motes")
    assert battery_j == pytest.approx(10.0 * 3.6 * 1.5)


def test_sensing_starts_and_stops_at_the_configured_times(tmp_path: Path) -> None:
    settings = _set("duration_s=20.0", "motes.start_s=8.0", "motes.drain_s=4.0")
    run_here(tmp_path / "run", *settings, "--set", "trace.energy_every_s=2.5")
    trace = check_trace(tmp_path / "run")
    assert trace.number("SELECT min(at_us) FROM readings") >= 8_000_000
    assert 15_000_000 < trace.number("SELECT max(at_us) FROM readings") < 16_000_000
    times = trace.rows("SELECT DISTINCT at_us FROM energy ORDER BY at_us")
    assert times == [(step * 2_500_000,) for step in range(9)]


def test_the_energy_sampling_interval_changes_no_other_table(tmp_path: Path) -> None:
    settings = ["duration_s=50.5", *VARIANTS["csma, idle death"], "motes.battery_j=2.0"]
    traces = []
    for every_s in ("10.0", "0.7"):
        run_here(tmp_path / every_s, *_set(*settings, f"trace.energy_every_s={every_s}"))
        traces.append(check_trace(tmp_path / every_s))
    rarely, often = traces
    assert rarely.manifest.counts == often.manifest.counts
    assert rarely.number("SELECT count(*) FROM deaths") > 10
    for table in set(rarely.manifest.rows) - {"energy"}:
        every = f"SELECT * FROM {table}"
        assert rarely.rows(every) == often.rows(every), table


def test_energy_between_whole_seconds_is_cumulative_and_only_the_dead_have_none(
    tmp_path: Path,
) -> None:
    settings = ["duration_s=50.5", *VARIANTS["csma, idle death"], "motes.battery_j=2.0"]
    run_here(tmp_path / "run", *_set(*settings, "trace.energy_every_s=0.7"))
    trace = check_trace(tmp_path / "run")
    causes = ("tx_j", "rx_j", "idle_j", "cpu_j", "sense_j", "control_j", "overhear_j", "sleep_j")
    shrinks = " OR ".join(f"{cause} < lag({cause}) OVER w" for cause in causes)
    trace.none(
        f"SELECT * FROM energy WINDOW w AS (PARTITION BY node ORDER BY at_us) QUALIFY {shrinks}"
    )
    # A mote without energy takes no more samples.
    trace.none(
        """SELECT * FROM energy JOIN readings USING (node)
        WHERE residual_j = 0 AND readings.at_us > energy.at_us"""
    )
    assert trace.number("SELECT count(*) FROM deaths") > 10


def test_a_slow_sink_delays_a_centralised_join(tmp_path: Path) -> None:
    def delay_ms(speed: float) -> float:
        settings = _set("duration_s=60.0", "join.strategy=centralised", f"sink.cpu_speed={speed}")
        counts = run_here(tmp_path / "run", *settings, "--force").counts
        delay: float = counts["mean_delay_ms"]
        return delay

    assert delay_ms(0.05) > delay_ms(100.0) + 0.3


def test_a_higher_noise_floor_loses_more(tmp_path: Path) -> None:
    def delivered(noise_dbm: float) -> float:
        base = ["duration_s=30.0", "motes.profile=micaz", "radio.channel=shadowing", REACHING]
        settings = _set(*base, f"radio.shadowing.noise_dbm={noise_dbm}")
        run_here(tmp_path / "run", *settings, "--force")
        return Trace(tmp_path / "run").number(
            "SELECT sum(received) / sum(addressed) FROM messages WHERE kind = 'cost'"
        )

    quiet, loud = delivered(-105.0), delivered(-80.0)
    assert quiet > loud + 0.1


FAULTS = {
    "shadowing without levels": (["radio.channel=shadowing"], ["motes.profile = 'first-order'"]),
    "links without file": (["radio.channel=links"], ["expected `links` exactly when"]),
    "two batteries": (["motes.battery_mah=5.0"], ["battery_j or battery_mah, found both"]),
    "crowded": (
        ["motes.placement=poisson-disk", "motes.apart_m=50.0"],
        ["motes.apart_m = 50.0", "do not fit"],
    ),
    "duty cycle under tdma": (["radio.mac=tdma", "radio.duty_cycle=0.5"], ["duty_cycle"]),
    "duty cycle under lpl": (
        ["radio.mac=lpl", "radio.duty_cycle=0.5"],
        ["duty_cycle", "own sleep"],
    ),
    "repeating for ever": (
        ["radio.mac=lpl", "radio.csma.acknowledge=false"],
        ["csma.acknowledge = false", "expected true with mac = 'lpl'"],
    ),
    "awake all the time": (["radio.mac=lpl", "radio.wake_up_s=0.001"], ["radio.wake_up_s", "0.02"]),
    "outages overlap": (
        ["faults.sink_outages=[{from_s=1.0, until_s=5.0}, {from_s=4.0, until_s=6.0}]"],
        ["faults.sink_outages", "none overlapping"],
    ),
    "outage backwards": (
        ["faults.sink_outages=[{from_s=5.0, until_s=1.0}]"],
        ["from_s = 5.0", "less than until_s"],
    ),
    "all removed": (
        ["faults.removed={count=200, from_s=1.0, until_s=5.0}"],
        ["faults.removed.count = 200", "fewer than motes.count"],
    ),
    "no such profile file": (['motes.profile="none.toml"'], ["motes.profile", "cannot be read"]),
}


@pytest.mark.parametrize(("settings", "said"), FAULTS.values(), ids=FAULTS)
def test_unusable_settings_are_rejected_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], settings: list[str], said: list[str]
) -> None:
    message = fails(capsys, "run", SMALL, "--out", str(tmp_path / "run"), *_set(*settings))
    assert all(words in message for words in said), message
    assert not (tmp_path / "run").exists()


INTEL = "intel-lab"


def _files(data: Path, *more: str) -> list[str]:
    positions, links = data / "mote_locs.txt", data / "connectivity.txt"
    return _set(f'motes.positions="{positions}"', f'radio.links="{links}"', *more)


def test_intel_lab_links_deliver_as_measured(tmp_path: Path) -> None:
    data = recorded_file("intel_lab")
    run_here(tmp_path / "run", *_files(data), scenario=INTEL)
    trace = check_trace(tmp_path / "run")
    measured, bad = read_links((data / "connectivity.txt").read_text())
    assert len(bad) == 1
    # One frame each, at most 114 + 19 bytes; ids count from 1, the sink is 0.
    tried = trace.rows(
        """SELECT source + 1, target + 1, count(*), sum(received)::BIGINT FROM messages
        WHERE target IS NOT NULL AND bytes <= 133 AND outcome <> 'in flight' GROUP BY ALL"""
    )
    chi_square, links = 0.0, 0
    for source, target, sent, arrived in tried:
        assert isinstance(source, int)
        assert isinstance(target, int)
        assert isinstance(sent, int)
        assert isinstance(arrived, int)
        pair = (source, target)
        rate = measured.get(pair, measured.get((target, source), 0.0))
        if rate == 0.0:
            assert arrived == 0, pair
        elif sent * rate * (1 - rate) > 5:
            chi_square += (arrived - sent * rate) ** 2 / (sent * rate * (1 - rate))
            links += 1
    assert links > 100
    # A chi-square over so many links is near normal: mean links, variance twice that.
    assert abs(chi_square - links) < 4 * (2 * links) ** 0.5, (chi_square, links)


def test_the_sink_may_have_any_id_in_the_file_of_links(tmp_path: Path) -> None:
    (tmp_path / "mote_locs.txt").write_text("".join(f"{n} {n % 7} {n % 5}\n" for n in range(1, 55)))
    pairs = [(a, b) for a in range(1, 55) for b in range(1, 55) if a != b]
    to_sink = [(n, 777) for n in range(1, 55)]
    lines = "".join(f"{a} {b} 1.0\n" for a, b in pairs + to_sink)
    (tmp_path / "connectivity.txt").write_text(lines)
    settings = _files(tmp_path, "radio.links_sink=777", "duration_s=20.0")
    assert run_here(tmp_path / "run", *settings, scenario=INTEL).counts["results"] > 0
    (tmp_path / "connectivity.txt").write_text("".join(f"{a} {b} 1.0\n" for a, b in pairs))
    cut_off = run_here(tmp_path / "off", *settings, scenario=INTEL)
    assert cut_off.counts["results"] == 0


def test_a_malformed_line_of_links_is_reported_unless_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mote_locs.txt").write_text("".join(f"{n} {n % 7} {n % 5}\n" for n in range(1, 55)))
    (tmp_path / "connectivity.txt").write_text("1 2 0.5\n0 31\n2 99 0.1\n")
    out = ["--out", str(tmp_path / "run")]
    strict = _files(tmp_path, "radio.links_bad_lines=0")
    message = fails(capsys, "run", INTEL, *out, *strict)
    assert "line 2 is '0 31', expected `sender receiver probability`" in message
    assert "ids without position: 99" in message
    message = fails(capsys, "run", INTEL, *out, *_files(tmp_path))
    assert "line 2" not in message
    assert "ids without position: 99" in message
