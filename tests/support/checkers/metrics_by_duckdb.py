"""Every metric of a run by DuckDB: an independent judge of those that we compute."""

from pathlib import Path
from typing import Any

import duckdb

from tests.support.checkers.errors_by_duckdb import error_metrics
from tests.support.run_directories import US_PER_S, RandomRun

Metrics = dict[str, Any]

# Independent of our steps: written from the definitions, naive where that is clearer.
REFERENCE = """
with
traffic as (select
    coalesce(sum(sent), 0) as messages,
    coalesce(sum(sent_bytes), 0) as bytes,
    coalesce(sum(sent) filter (kind in ('cost', 'weight', 'winner', 'head', 'join', 'status', 'appoint', 'alarm', 'call', 'enrol', 'roster')), 0) as control_messages,
    coalesce(sum(sent_bytes) filter (kind in ('cost', 'weight', 'winner', 'head', 'join', 'status', 'appoint', 'alarm', 'call', 'enrol', 'roster')), 0) as control_bytes,
    coalesce(sum(lost), 0) as copies_lost
  from {traffic}),
last_energy as (
  select node, max(tx_j) tx_j, max(rx_j) rx_j, max(idle_j) idle_j, max(cpu_j) cpu_j, max(sense_j) sense_j,
    max(overhear_j) overhear_j, max(sleep_j) sleep_j, max(control_j) control_j, max(tx_j + rx_j + idle_j + cpu_j + sense_j + overhear_j + sleep_j) as energy_j
  from {energy} where node >= 0 group by node),
energy as (select
    coalesce(sum(energy_j), 0) as energy_j, coalesce(sum(tx_j), 0) as tx_j, coalesce(sum(rx_j), 0) as rx_j,
    coalesce(sum(idle_j), 0) as idle_j, coalesce(sum(cpu_j), 0) as cpu_j,
    coalesce(sum(sense_j), 0) as sense_j,
    coalesce(sum(overhear_j), 0) as overhear_j, coalesce(sum(sleep_j), 0) as sleep_j, coalesce(sum(control_j), 0) as control_j,
    max(energy_j) as energy_max_j, max(tx_j + rx_j) as hottest_radio_j, coalesce(sum(energy_j), 0) / {count} as energy_per_mote_j
  from last_energy),
ranked as (select at_us, row_number() over (order by at_us) as rank from {deaths}),
deaths as (select
    count(*) as dead,
    max(at_us) filter (rank = 1) / 1e6 as first_dead_s,
    max(at_us) filter (rank = ({count} + 1) // 2) / 1e6 as half_dead_s,
    max(at_us) filter (rank = {count}) / 1e6 as last_dead_s
  from ranked),
output as (select
    count(*) as results, count(*) / {simulated_s} as output_rate, avg(arity) as tuple_width,
    avg(delay_us) / 1000 as delay_ms, max(delay_us) / 1000 as delay_max_ms
  from (select max(arity) as arity, min(delay_us) as delay_us from {results}
        where origin is not null group by query, origin, origin_at_us)),
readings as (select
    count(*) as readings, count(value) as readings_valued from {readings}),
fates as (select
    count(*) filter (fate = 'joined') as readings_joined,
    count(*) filter (fate = 'dropped') as readings_dropped,
    count(*) filter (fate = 'in flight') as readings_in_flight,
    count(*) filter (fate = 'suppressed') as readings_suppressed
  from {fates}),
probes as (select
    count(*) as probe_requests, count(distinct (origin, origin_at_us)) as readings_answered, coalesce(sum(heads_probed), 0) as heads_probed,
    coalesce(sum(heads_matched), 0) as heads_matched
  from {probes}),
by_round as (select
    round, count(distinct head) filter (head >= 0) as heads, count(*) filter (head >= 0) as members
  from {elections} group by round),
clusters as (select
    count(*) as rounds, avg(heads) as clusters, sum(members) / nullif(sum(heads), 0) as cluster_size
  from by_round),
valued as (select distinct value, node, stamp_us as at_us from {readings} where value is not null),
owed as (
  select distinct r.value, r.node, r.at_us, s.node as other
  from valued r join valued s on r.value = s.value and r.node <> s.node
    and r.at_us - s.at_us between 0 and {window_us}
    and (s.at_us < r.at_us or s.node < r.node)),
listing as (
  select query, value, origin, origin_at_us, unnest(partners).node as node, unnest(partners).at_us as at_us
  from {results} where origin is not null),
judged as (
  select l.*, (exists (select 1 from valued v
        where v.value = l.value and v.node = l.origin and v.at_us = l.origin_at_us)
      and exists (select 1 from valued v
        where v.value = l.value and v.node = l.node and v.at_us = l.at_us)
      and l.node <> l.origin and abs(l.at_us - l.origin_at_us) <= {window_us}) as true_one
  from listing l),
delivered as (
  select o.* from owed o
  where exists (select 1 from judged j where j.true_one and j.value = o.value and j.origin = o.node
      and j.origin_at_us = o.at_us and j.node = o.other)
    or exists (select 1 from judged j where j.true_one and j.value = o.value and j.origin = o.other
      and j.node = o.node and j.at_us = o.at_us
      and (j.origin_at_us < o.at_us or (j.origin_at_us = o.at_us and o.other < o.node)))),
numbered as (select *, row_number() over () as row from {results} where origin is not null),
told_nodes as (
  select distinct row, query, value, origin, origin_at_us, unnest(partners).node as node from numbered),
again as (
  select count(*) - 1 as again from told_nodes group by query, value, origin, origin_at_us, node),
recall as (select
    (select count(*) from owed) as owed,
    (select count(*) from delivered) as delivered,
    (select count(*) from delivered) / nullif((select count(*) from owed), 0) as recall,
    case when (select count(*) from owed) > 0 then 1.0 end as recall_share,
    (select coalesce(sum(again), 0) from again) as duplicates,
    (select count(*) from judged where not true_one) as spurious),
instants as (select distinct at_us as t from {truth}),
inside as (select distinct at_us as t, unnest(nodes) as node from {truth}),
mentions as (
  select query, value, at_us as told_us, origin as node from {results} where origin is not null
  union all
  select query, value, at_us, unnest(partners).node from {results} where origin is not null),
leavings as (
  select query, value, at_us as left_us, unnest(partners).node as node from {results} where origin is null),
spans as (select node, told_us, (select min(left_us) from leavings l where l.query = m.query
    and l.value = m.value and l.node = m.node and l.left_us >= m.told_us) as left_us from mentions m),
answer as (
  select distinct t, node from instants join spans on told_us <= t and (left_us is null or t < left_us)),
compared as (select t,
    (select count(*) from answer a where a.t = i.t) as answered,
    (select count(*) from inside s where s.t = i.t) as inside,
    (select count(*) from answer a join inside s on a.t = s.t and a.node = s.node where a.t = i.t) as common
  from instants i),
tracking as (select
    avg(common / nullif(answered + inside - common, 0)) as coverage,
    sum(answered - common) / nullif(count(*), 0) as false_alarms,
    sum(inside - common) / nullif(count(*), 0) as misses,
    (select (min(at_us) - (select min(t) from inside)) / 1e6 from {results}
      where origin is not null and at_us >= (select min(t) from inside)) as detection_delay_s
  from compared)
select *,
  bytes - control_bytes as data_bytes, (bytes - control_bytes) / {simulated_s} as data_bytes_per_s,
  messages / {simulated_s} as messages_per_s, bytes / {simulated_s} as bytes_per_s,
  readings_dropped / nullif(readings_valued, 0) as drop_rate,
  heads_probed / nullif(readings_answered, 0) as probes_per_reading,
  heads_matched / nullif(heads_probed, 0) as probe_usefulness,
  (select coalesce(sum(arity - 1), 0) from (select max(arity) as arity from {results}
    where origin is not null group by query, origin, origin_at_us)) / nullif(readings_joined, 0)
    as partners_per_reading,
  case when {probe_ends} > 0
    then 1 - readings_answered / nullif(readings_valued, 0) end as unfinished_rate,
  energy_j / nullif(clusters, 0) as energy_per_cluster_j
from traffic, energy, deaths, output, readings, fates, probes, clusters, recall, tracking
"""


def reference(directory: Path, run: RandomRun) -> Metrics:
    """The metrics of a run directory, by DuckDB."""
    with duckdb.connect() as connection:
        names: dict[str, Any] = {
            path.name: f"read_parquet('{path}/*.parquet')"
            for path in (directory / "trace").iterdir()
        }
        names |= {
            "ordered": f"read_parquet('{directory}/trace/results/*.parquet', file_row_number = true)",
            "count": run.motes,
            "simulated_s": run.simulated_s,
            "end_us": round(run.simulated_s * US_PER_S),
            "window_us": run.ground.window_us,
            "delay_us": round(run.delay_s * US_PER_S),
            "probe_ends": run.probe_ends,
        }
        answer = connection.sql(REFERENCE.format(**names))
        (row,) = answer.fetchall()
        found = dict(zip(answer.columns, row, strict=True))
        return found | error_metrics(connection, run.answer, names)
