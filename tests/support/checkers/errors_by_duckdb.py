"""Errors of the sink's answer, and tracking below level `results`, by DuckDB: an independent judge of ours.

Where our engines compare intervals, this looks at every value and mote in every slice of time in which nothing changes.
"""

from collections.abc import Mapping
from typing import Any

import duckdb

from sim.trace.tables import AnswerLevel

NULL_BELOW_RESULTS = [
    "results",
    "output_rate",
    "tuple_width",
    "delay_ms",
    "delay_max_ms",
    "probe_requests",
    "readings_answered",
    "heads_probed",
    "heads_matched",
    "probes_per_reading",
    "probe_usefulness",
    "partners_per_reading",
    "unfinished_rate",
    "owed",
    "delivered",
    "recall",
    "recall_share",
    "duplicates",
    "spurious",
]

_SINK = """
events as (
  select value, unnest(joined).node as node, at_us, 1 as step, delay_us from {results} where '{level}' = 'sets'
  union all
  select value, unnest(partners).node, at_us, -1, delay_us from {results} where '{level}' = 'sets'
  union all
  select value, node, at_us, 1, max(delay_us) from (
    select value, origin as node, at_us, delay_us from {results} where origin is not null
    union all
    select value, unnest(partners).node, at_us, delay_us from {results} where origin is not null)
  where '{level}' = 'results' group by value, node, at_us
  union all
  select distinct value, unnest(partners).node, at_us, -1, null from {results}
  where '{level}' = 'results' and origin is null),
turns as (
  select value, node, at_us, sum(step) > 0 as comes,
    case when sum(step) > 0 then max(delay_us) filter (step > 0) else max(delay_us) filter (step < 0) end as delay_us
  from events group by value, node, at_us having sum(step) <> 0),
"""

_ERRORS = """
with
valued as (select value, node, at_us from {readings} where value is not null),
moments as (
  select 0 as t union select {end_us} union select at_us from valued union select at_us + {window_us} + 1 from valued
  union select at_us from {results}),
slices as (
  select t, lead(t) over (order by t) as until from moments where t between 0 and {end_us}),
"""

_SETS = """
pairs as (select value, node from valued union select value, node from turns),
looked as (
  select value, node, t, until,
    exists (select 1 from valued r where r.value = p.value and r.node = p.node and r.at_us between t - {window_us} and t)
    and exists (select 1 from valued r where r.value = p.value and r.node <> p.node and r.at_us between t - {window_us} and t)
      as in_exact,
    coalesce((select max_by(comes, at_us) from turns e where e.value = p.value and e.node = p.node and e.at_us <= t), false)
      as in_sink
  from pairs p, slices where until is not null),
kinds as (select *, in_exact::int - in_sink::int as kind from looked),
marked as (
  select *, coalesce(kind <> lag(kind) over (partition by value, node order by t), true) as opens from kinds),
numbered as (
  select *, sum(opens::int) over (partition by value, node order by t) as stretch from marked),
stretches as (
  select value, node, kind, min(t) as t, max(until) as until from numbered group by value, node, stretch, kind),
judged as (
  select kind, greatest(0, until - t - coalesce((select e.delay_us + {delay_us} from turns e
    where e.value = s.value and e.node = s.node and e.at_us = s.until and s.until < {end_us}
      and e.comes = (s.kind = 1)), 0)) as error
  from stretches s where kind <> 0)
select
  coalesce((select sum(error) from judged where kind = 1), 0) / nullif(exact, 0) as missed_share,
  coalesce((select sum(error) from judged where kind = -1), 0) / nullif(exact, 0) as wrong_share,
  coalesce((select max(error) from judged where kind = -1), 0) / 1e6 as wrong_stretch_max_s
from (select coalesce(sum(until - t) filter (in_exact), 0) as exact from looked)
"""

_COUNTS = """
active as (
  select value, node, t, until, (select max(at_us) from valued r
    where r.value = p.value and r.node = p.node and r.at_us <= t) as newest
  from (select distinct value, node from valued) p, slices where until is not null),
present as (select *, count(*) over (partition by value, t) as motes from active where newest >= t - {window_us}),
placed as (
  select value, t, until, case when '{level}' = 'count' then 0 else coalesce((select max_by(head, at_us * 1000 + round)
    from {elections} e where e.node = p.node and e.at_us <= newest), -1) end as region
  from present p where motes > 1),
expected as (select value, t, region, count(*) as motes from placed group by value, t, region),
said as (
  select value, case when '{level}' = 'count' then 0 else region end as region, at_us, answer,
    at_us * 1000000 + file_row_number as place
  from {ordered} where value is not null),
places as (select value, region from said union select value, region from expected),
counted as (
  select p.value, p.region, t, until, coalesce((select max_by(answer, place) from said s
    where s.value = p.value and s.region = p.region and s.at_us <= t), 0) as motes
  from places p, slices where until is not null)
select sum(abs(c.motes - coalesce(e.motes, 0)) * (until - t)) / (select nullif(sum(until - t), 0) from placed)
  as count_error_share
from counted c left join expected e using (value, region, t)
"""

_TRACKING = """
with
{sink}
instants as (select distinct at_us as t from {truth}),
inside as (select distinct at_us as t, unnest(nodes) as node from {truth}),
answer as (
  select distinct t, node from instants, (select distinct value, node from turns) p
  where (select max_by(comes, at_us) from turns e where e.value = p.value and e.node = p.node and e.at_us <= t)),
compared as (select t,
    (select count(*) from answer a where a.t = i.t) as answered,
    (select count(*) from inside s where s.t = i.t) as inside,
    (select count(*) from answer a join inside s on a.t = s.t and a.node = s.node where a.t = i.t) as common
  from instants i)
select
  avg(common / nullif(answered + inside - common, 0)) as coverage,
  sum(answered - common) / nullif(count(*), 0) as false_alarms,
  sum(inside - common) / nullif(count(*), 0) as misses,
  (select (min(at_us) - (select min(t) from inside)) / 1e6 from {results}
    where case when '{level}' = 'sets' then len(joined) > 0 else value is not null and answer > 0 end
      and at_us >= (select min(t) from inside)) as detection_delay_s
from compared
"""


def error_metrics(
    connection: duckdb.DuckDBPyConnection, level: AnswerLevel, names: Mapping[str, Any]
) -> dict[str, Any]:
    """The metrics of errors, and those that level says something else of; `names` fills in tables and numbers."""
    names = {**names, "level": level.value}
    of_sets = level in {AnswerLevel.RESULTS, AnswerLevel.SETS}
    found: dict[str, Any] = dict.fromkeys(
        (
            "missed_share",
            "wrong_share",
            "wrong_stretch_max_s",
            "count_error_share",
            "change_delay_ms",
        )
    )
    found |= _only(connection, _ERRORS + (_SINK + _SETS if of_sets else _COUNTS), names)
    if level is not AnswerLevel.RESULTS:
        delays = "select avg(delay_us) / 1000 as change_delay_ms from {results}"
        found |= _only(connection, delays, names)
        found |= _only(connection, _TRACKING, {**names, "sink": _SINK.format(**names)})
        found |= dict.fromkeys(NULL_BELOW_RESULTS)
    if not of_sets:
        found |= dict.fromkeys(("coverage", "false_alarms", "misses"))
    return found


def _only(
    connection: duckdb.DuckDBPyConnection, sql: str, names: Mapping[str, Any]
) -> dict[str, Any]:
    """The one row that a query gives."""
    answer = connection.sql(sql.format(**names))
    (row,) = answer.fetchall()
    return dict(zip(answer.columns, row, strict=True))
