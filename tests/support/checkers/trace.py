"""Checks a run directory from scratch: messages, energy, readings, results, elections and trees add up.

Independent of the simulator: only DuckDB over the Parquet files, and the manifest. Run on every
end-to-end run.
"""

from pathlib import Path

import duckdb

from sim.trace.kinds import CONTROL_KINDS, DATA_KINDS
from sim.trace.manifest import Manifest, read_complete
from sim.trace.recorder import arrow_schema
from sim.trace.tables import TABLES

AIRTIME_US = {"first-order": 8.0, "mica2": 8e6 / 19_200, "micaz": 32.0, "telosb": 32.0}
"""Microseconds a byte is on air, by profile."""

CONTENDING = ("csma", "lpl")
"""MACs that repeat frames, and whose receivers pay for frames that collided."""


class Trace:
    """The tables of one run, ready for SQL."""

    def __init__(self, directory: Path) -> None:
        self.manifest: Manifest = read_complete(directory)
        self._database = duckdb.connect()
        for table in TABLES:
            files = directory / "trace" / table
            if files.is_dir():
                self._database.execute(
                    f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{files}/*.parquet')"
                )
            else:
                self._database.register(table, arrow_schema(table).empty_table())

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        return self._database.execute(sql).fetchall()

    def number(self, sql: str) -> float:
        ((value,),) = self.rows(sql)
        assert isinstance(value, int | float), (sql, value)
        return value

    def none(self, sql: str) -> None:
        """Assert that a query for violations finds none."""
        violations = self.rows(f"SELECT * FROM ({sql}) LIMIT 5")
        assert not violations, (sql, violations)


def check_trace(directory: Path) -> Trace:
    """Assert everything that must hold of any complete run with all tables."""
    trace = Trace(directory)
    check_traffic(trace)
    check_energy(trace)
    check_faults(trace)
    check_readings(trace)
    check_results(trace)
    check_probes(trace)
    check_elections(trace)
    return trace


def check_traffic(trace: Trace) -> None:
    counts = trace.manifest.counts
    assert trace.number("SELECT coalesce(sum(sent), 0)::BIGINT FROM traffic") == counts["messages"]
    assert (
        trace.number("SELECT coalesce(sum(sent_bytes), 0)::BIGINT FROM traffic") == counts["bytes"]
    )
    trace.none("SELECT at_s, node, kind FROM traffic GROUP BY ALL HAVING count(*) > 1")
    trace.none(f"SELECT * FROM traffic WHERE kind NOT IN {(*DATA_KINDS, *CONTROL_KINDS)}")
    # Copies addressed are received, lost or in flight; the message log agrees.
    trace.none(
        """SELECT * FROM
        (SELECT kind, sum(addressed) AS addressed, sum(received) AS received, sum(lost) AS lost,
                sum(sent) AS sent, sum(sent_bytes) AS bytes FROM traffic GROUP BY kind) AS t
        FULL JOIN
        (SELECT kind, sum(addressed) AS addressed, sum(received) AS received,
                sum(addressed - received) FILTER (outcome <> 'in flight') AS lost,
                count(*) AS sent, sum(bytes) AS bytes FROM messages GROUP BY kind) AS m
        USING (kind)
        WHERE t.addressed IS DISTINCT FROM m.addressed OR t.received IS DISTINCT FROM m.received
           OR t.lost IS DISTINCT FROM coalesce(m.lost, 0) OR t.sent IS DISTINCT FROM m.sent
           OR t.bytes IS DISTINCT FROM m.bytes"""
    )
    end_us = trace.manifest.simulated_s * 1_000_000
    trace.none(f"SELECT * FROM messages WHERE at_us >= {end_us} OR arrived_us >= {end_us}")
    for table in ("readings", "probes", "results"):
        trace.none(f"SELECT * FROM {table} WHERE at_us >= {end_us}")
    for table in ("fates", "requests"):
        trace.none(f"SELECT * FROM {table} WHERE at_us > {end_us}")
    trace.none("SELECT * FROM messages WHERE source = target")
    trace.none("SELECT * FROM messages WHERE addressed < received OR received < 0 OR bytes <= 0")
    trace.none(
        """SELECT * FROM messages
        WHERE (outcome IN ('delivered', 'duplicate', 'unheard')) <> (received = addressed)"""
    )
    # Nothing arrives before it was sent and its airtime has passed.
    byte_us = AIRTIME_US[trace.manifest.scenario["motes"]["profile"]]
    trace.none(
        f"SELECT * FROM messages WHERE arrived_us < at_us + floor({byte_us}::DOUBLE * bytes)"
    )
    trace.none(
        "SELECT * FROM messages JOIN deaths ON source = deaths.node WHERE messages.at_us > deaths.at_us"
    )
    trace.none(
        """SELECT * FROM messages JOIN deaths ON target = deaths.node
        WHERE outcome = 'delivered' AND arrived_us > deaths.at_us"""
    )


def check_energy(trace: Trace) -> None:
    counts = trace.manifest.counts
    last = "(SELECT * FROM energy QUALIFY row_number() OVER (PARTITION BY node ORDER BY at_us DESC) = 1)"
    spent = "tx_j + rx_j + idle_j + cpu_j + sense_j + overhear_j + sleep_j"
    total = trace.number(f"SELECT sum({spent}) FROM {last}")
    assert abs(total - counts["energy_j"]) <= 1e-9 * max(1.0, total), (total, counts["energy_j"])
    trace.none("SELECT * FROM energy WHERE residual_j < 0")
    trace.none(
        f"""SELECT * FROM energy JOIN motes USING (node)
        WHERE abs(battery_j - residual_j - ({spent})) > 1e-6 * greatest(1.0, battery_j / 1e5)"""
    )
    trace.none(
        """SELECT * FROM energy WINDOW w AS (PARTITION BY node ORDER BY at_us)
        QUALIFY residual_j > lag(residual_j) OVER w OR control_j > tx_j + rx_j + 1e-12"""
    )
    check_received_energy(trace, last)
    # Exactly the motes without energy left are dead.
    trace.none(
        f"SELECT * FROM {last} AS e FULL JOIN deaths USING (node) "
        "WHERE (e.residual_j = 0) IS DISTINCT FROM (deaths.node IS NOT NULL)"
    )


def check_received_energy(trace: Trace, last: str) -> None:
    """Every receiver pays, relays included: 50 nJ a bit on first-order radios without contention."""
    scenario = trace.manifest.scenario
    if scenario["motes"]["profile"] != "first-order" or scenario["radio"]["mac"] in CONTENDING:
        return
    trace.none(
        f"""SELECT * FROM {last} AS e LEFT JOIN
        (SELECT node, sum(received_bytes)::BIGINT AS bytes FROM traffic GROUP BY node) AS t USING (node)
        WHERE abs(rx_j - 8 * 50e-9 * coalesce(bytes, 0)) > 1e-9
        AND node NOT IN (SELECT node FROM deaths)"""
    )


def check_faults(trace: Trace) -> None:
    """A mote that is down neither sends, receives nor senses."""
    down = """(SELECT node, at_us AS from_us, event,
        lead(at_us, 1, 9e18) OVER (PARTITION BY node ORDER BY at_us) AS until_us
        FROM (SELECT * FROM faults UNION ALL
              SELECT 0, node, 'absent' FROM faults WHERE event = 'added'))"""
    off = f"(SELECT * FROM {down} WHERE event IN ('crash', 'removed', 'absent', 'sink down'))"
    within = "> off.from_us AND {0} < off.until_us"
    trace.none(
        f"""SELECT * FROM messages JOIN {off} AS off ON source = off.node
        WHERE source >= 0 AND messages.at_us {within.format("messages.at_us")}"""
    )
    trace.none(
        f"""SELECT * FROM messages JOIN {off} AS off ON target = off.node
        WHERE outcome = 'delivered' AND arrived_us {within.format("arrived_us")}"""
    )
    trace.none(
        f"""SELECT * FROM readings JOIN {off} AS off USING (node)
        WHERE readings.at_us {within.format("readings.at_us")}"""
    )
    # A mote that is not in the field is inside no cloud; a crashed mote can be.
    trace.none(
        f"""SELECT * FROM (SELECT at_us, unnest(nodes) AS node FROM truth) AS inside
        JOIN {off} AS off USING (node) WHERE off.event IN ('removed', 'absent')
        AND inside.at_us {within.format("inside.at_us")}"""
    )


def check_readings(trace: Trace) -> None:
    counts = trace.manifest.counts
    assert trace.number("SELECT count(*) FROM readings") == counts["readings"]
    trace.none("SELECT node, at_us FROM readings GROUP BY ALL HAVING count(*) > 1")
    # Every reading with a value has exactly one fate, and no fate is without its reading.
    trace.none(
        """SELECT * FROM (SELECT node, stamp_us AS at_us FROM readings WHERE value IS NOT NULL) AS r
        FULL JOIN (SELECT node, origin_at_us AS at_us, count(*) AS fates FROM fates GROUP BY ALL) AS f
        USING (node, at_us)
        WHERE f.fates IS DISTINCT FROM 1 OR r.node IS NULL"""
    )
    trace.none("SELECT * FROM fates WHERE (fate = 'dropped') <> (reason IS NOT NULL)")
    trace.none("SELECT * FROM fates WHERE reason = 'no head' AND head IS NOT NULL")
    faults = trace.manifest.scenario["faults"]
    if not faults["clock_offset_ms"] and not faults["clock_drift_ppm"]:
        trace.none("SELECT * FROM readings WHERE stamp_us <> at_us")
        trace.none("SELECT * FROM fates WHERE at_us < origin_at_us")
    dropped = trace.rows(
        "SELECT node, origin_at_us, reason FROM fates WHERE fate = 'dropped' ORDER BY ALL"
    )
    listed = trace.rows(
        "SELECT origin, origin_at_us, reason FROM drops WHERE kind = 'reading' ORDER BY ALL"
    )
    assert dropped == listed
    trace.none(
        "SELECT * FROM readings JOIN deaths USING (node) WHERE readings.at_us > deaths.at_us"
    )


def check_results(trace: Trace) -> None:
    window_us = round(trace.manifest.scenario["join"]["window_s"] * 1e6)
    trace.none(
        """SELECT origin, origin_at_us FROM results WHERE origin IS NOT NULL
        GROUP BY ALL HAVING count(*) FILTER (NOT amends) <> 1
        OR min(at_us) FILTER (NOT amends) > min(at_us)"""
    )
    trace.none(
        """SELECT * FROM results LEFT JOIN readings
        ON origin = readings.node AND origin_at_us = readings.stamp_us AND results.value = readings.value
        WHERE origin IS NOT NULL AND readings.node IS NULL"""
    )
    # With a drifting clock, the time of a reading is known only to the microsecond.
    trace.none(
        """SELECT * FROM results JOIN readings ON origin = node AND origin_at_us = stamp_us
        WHERE abs(delay_us - (results.at_us - readings.at_us)) > 1"""
    )
    members = """(SELECT origin, origin_at_us, value, arity, unnest(partners) AS partner
        FROM results WHERE origin IS NOT NULL)"""
    trace.none(
        f"""SELECT * FROM {members} AS m LEFT JOIN readings AS r
        ON partner.node = r.node AND partner.at_us = r.stamp_us AND m.value = r.value
        WHERE r.node IS NULL OR r.node = origin OR abs(r.stamp_us - origin_at_us) > {window_us}"""
    )
    trace.none(
        f"""SELECT origin, origin_at_us FROM {members} GROUP BY ALL
        HAVING count(DISTINCT partner.node) <> max(arity) - 1"""
    )
    # No pair of readings is reported twice, in either order.
    trace.none(
        f"""SELECT least((origin, origin_at_us), (partner.node, partner.at_us)) AS one,
        greatest((origin, origin_at_us), (partner.node, partner.at_us)) AS other
        FROM {members} GROUP BY ALL HAVING count(*) > 1"""
    )
    # The answer of a value appears, changes, dissolves, in this order.
    trace.none(
        """SELECT * FROM (SELECT change, lag(change) OVER (PARTITION BY value ORDER BY at_us, rowid)
        AS before FROM (SELECT *, row_number() OVER () AS rowid FROM results) WHERE selected IS NULL)
        WHERE (change = '+') <> (before IS NULL OR before = '-')"""
    )


def check_probes(trace: Trace) -> None:
    """Hops and bytes of probe requests match the messages sent; a MAC may repeat frames."""
    (recorded,) = trace.rows(
        "SELECT coalesce(sum(hops), 0)::BIGINT, coalesce(sum(bytes), 0)::BIGINT FROM probes"
    )
    (sent,) = trace.rows(
        """SELECT count(*), coalesce(sum(bytes), 0)::BIGINT FROM messages
        WHERE kind IN ('probe', 'result')"""
    )
    contends = trace.manifest.scenario["radio"]["mac"] in CONTENDING
    all_finished = set(trace.manifest.counts["requests"]) == {"finished"}
    if all_finished and not contends:
        assert recorded == sent
    for ours, theirs in zip(recorded, sent, strict=True):
        assert isinstance(ours, int)
        assert isinstance(theirs, int)
        assert ours <= theirs


def check_elections(trace: Trace) -> None:
    table = trace.manifest.scenario["clustering"]
    rounds = trace.number("SELECT count(DISTINCT round) FROM elections")
    assert rounds == trace.manifest.counts["rounds"]
    trace.none("SELECT round, node FROM elections GROUP BY ALL HAVING count(*) > 1")
    # The next hop is in range, and of the same cluster; a head needs none.
    trace.none(
        f"""SELECT * FROM elections AS e JOIN motes AS m USING (node) JOIN motes AS v ON e.via = v.node
        WHERE sqrt((m.x_m - v.x_m) ** 2 + (m.y_m - v.y_m) ** 2) > {table["range_m"]} + 1e-9"""
    )
    trace.none(
        """SELECT * FROM elections AS e LEFT JOIN elections AS v
        ON e.round = v.round AND e.via = v.node WHERE v.head IS DISTINCT FROM e.head"""
    )
    trace.none("SELECT * FROM elections WHERE (head = node) <> (via = node)")
    trace.none(
        """SELECT * FROM elections AS e LEFT JOIN elections AS h
        ON e.round = h.round AND e.head = h.node WHERE h.head IS DISTINCT FROM h.node"""
    )
    # At most this many hops lead every mote to its head, without loops.
    hops_max = table["hops_max"] if table["protocol"] == "max-min" else 1
    trace.none(
        f"""WITH RECURSIVE walk AS (
            SELECT round, node, head, node AS at_node, 0 AS hops FROM elections
            UNION ALL
            SELECT w.round, w.node, w.head, e.via, hops + 1 FROM walk AS w JOIN elections AS e
            ON w.round = e.round AND w.at_node = e.node WHERE w.at_node <> w.head AND hops < {hops_max})
        SELECT round, node FROM walk GROUP BY round, node HAVING NOT bool_or(at_node = head)"""
    )
    # No mote that is dead or down is elected, or is the head of another.
    down = """(SELECT node, at_us AS from_us,
        lead(at_us, 1, 9e18) OVER (PARTITION BY node ORDER BY at_us) AS until_us, event
        FROM (SELECT * FROM faults UNION ALL SELECT at_us, node, 'died' FROM deaths))"""
    trace.none(
        f"""SELECT * FROM elections AS e JOIN {down} AS d USING (node)
        WHERE event IN ('crash', 'removed', 'died') AND e.at_us > from_us AND e.at_us < until_us"""
    )
    check_trees(trace)


def check_trees(trace: Trace) -> None:
    """Messages of members go to their next hops; messages of heads of levels go up."""
    trace.none(
        """SELECT * FROM elections AS e LEFT JOIN elections AS u
        ON e.round = u.round AND e.up = u.node
        WHERE e.up IS NOT NULL AND (e.head <> e.node OR e.up >= 0 AND u.up IS NULL)"""
    )
    table, routing = trace.manifest.scenario["clustering"], trace.manifest.scenario["routing"]
    if routing["heads"] == "multi-hop" or not table["upper_ranges_m"]:
        return
    # No head with a head above it sends a result straight to the sink, unless that head is dead or the next
    # election is over and heads enrol.
    trace.none(
        """SELECT * FROM messages AS m
        ASOF JOIN elections AS e ON m.source = e.node AND m.at_us >= e.at_us
        WHERE m.kind = 'result' AND m.target = -1 AND e.up >= 0
        AND e.up NOT IN (SELECT node FROM deaths UNION ALL SELECT node FROM faults)
        AND NOT EXISTS (SELECT 1 FROM messages AS later WHERE later.kind = 'enrol'
            AND later.at_us > e.at_us AND later.at_us < m.at_us + 1000000)"""
    )
