"""The scenario file: every table and key, validated once; the code below receives checked values.

A scenario's tables describe what is simulated; keys left out have the documented defaults, and the manifest of a
run lists every key as resolved.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from join.strategies.registry import STRATEGIES
from scenarios.phenomena.contract import PhenomenonTable
from scenarios.phenomena.registry import kind_of, kinds, phenomenon_tables
from scenarios.schema.base import Positive, Seed, Table
from scenarios.schema.clustering import Clustering, clustering_table, option_faults
from scenarios.schema.join import Join
from scenarios.schema.network import Faults, Motes, Radio, Routing, Sink
from scenarios.schema.registered import Registered
from sim.errors import one_of
from sim.trace.tables import TABLES
from sim.units import to_us

DEFAULT_QUERY = "join"
"""Name of the answer in the trace of a scenario without a [[query]]."""
SPREAD_MOST = 10
"""How far clustered motes may spread, in sides of the field: they are drawn again until they are inside."""


class FieldTable(Table):
    """`[field]`: the rectangle that motes stand in; its lower left corner is (0, 0)."""

    width_m: Positive = Field(description="width of the field")
    height_m: Positive = Field(description="height of the field")


class Trace(Table):
    """`[trace]`: what is written."""

    tables: list[str] = Field(
        default=["all"], description="which tables to write; `traffic` is always among them"
    )
    messages: Literal["full", "off"] = Field(
        "full",
        description="a row per transmission (`full`), or `off`: the sums in `traffic` remain",
    )
    partners: bool = Field(
        default=True,
        description="`false`: results keep their width and not their members; coverage is then not known from"
        " the trace",
    )
    energy_every_s: Annotated[float, Field(ge=0.1)] = Field(
        10.0, description="how often batteries are written down"
    )

    @field_validator("tables")
    @classmethod
    def _tables_exist(cls, tables: list[str]) -> list[str]:
        for name in tables:
            if name != "all" and name not in TABLES:
                raise ValueError(f"{name!r}: {one_of(name, ['all', *TABLES])}")
        return tables

    def chosen(self) -> list[str]:
        """The tables to write; `traffic` is always among them."""
        chosen = set(TABLES) if "all" in self.tables else {*self.tables, "traffic"}
        if self.messages == "off":
            chosen.discard("messages")
        return sorted(chosen)


class Query(Table):
    """`[[query]]`: a query whose answer the sink keeps.

    Any number of them; the trace's table `results` says how each answer changes. The language: [QUERIES.md](QUERIES.md).
    The join of `[join]` always runs. Its answer has the name of the first query that asks for just that join, or
    `join`.
    """

    name: Annotated[str, Field(min_length=1)] = Field(
        description="what the answer is called in the trace; names differ"
    )
    # Before the query itself, which is judged by it.
    placement: Literal["network", "sink"] = Field(
        "network",
        description="`network`: the join runs where `[join]` says, and there is at most one such query."
        ' `sink`: over all readings, which `strategy = "centralised"` brings there',
    )
    sql: str = Field(
        description="`network`: `SELECT * FROM SENSORS JOIN ON gas WINDOW 6 s`, the window as in"
        " `join.window_s`, the attribute what motes sense: `gas`, `object`, `rack` or `reading`,"
        " `value` (Zipf), or as a replay names it. `sink`: any query over the stream `Sensors`"
    )

    @field_validator("sql")
    @classmethod
    def _parses(cls, sql: str, info: ValidationInfo) -> str:
        # Here and below, the language is imported by scenarios that have a query.
        from join.dsms.language.errors import QueryError
        from join.dsms.language.parse import parse
        from join.sink.sensors_query import QuerySyntaxError, parse_sensors_query

        try:
            if info.data.get("placement") == "network":
                parse_sensors_query(sql)
            elif parse(sql).explain:
                raise ValueError("EXPLAIN is for `motejoin query`; expected SELECT")
        except (QuerySyntaxError, QueryError) as fault:
            raise ValueError(str(fault)) from None
        return sql

    def asks_for_the_join(self, window_us: int) -> bool:
        """Whether this is the variable-arity join over `window_us`, which `[join]` runs."""
        from join.sink.sensors_query import QuerySyntaxError, parse_sensors_query

        try:
            return parse_sensors_query(self.sql).window_us == window_us
        except QuerySyntaxError:
            return False


class Scenario(Table):
    """The top of the file, before any table."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")] = Field(
        description="letters, digits, dots, dashes; names the run directory"
    )
    description: str = Field("", description="one line for people")
    duration_s: Annotated[float, Field(gt=0, le=31_536_000)] = Field(
        description="how long is simulated"
    )
    seed: Seed = Field(1, description="fixes everything that is random; `--seed` changes it")
    field: FieldTable
    motes: Motes
    sink: Sink
    radio: Radio
    clustering: Annotated[Clustering, Registered(clustering_table)]
    routing: Routing = Routing.model_validate({})
    join: Join
    faults: Faults = Faults.model_validate({})
    trace: Trace = Trace.model_validate({})
    phenomenon: Annotated[PhenomenonTable, Registered(phenomenon_tables)]
    tables: dict[str, str] = Field(
        default={},
        description="tables that queries at the sink can name in `IN`, as `[tables]` with a line `Name ="
        ' "file.csv"` (or `.parquet`) for each; rows are there from the beginning or, with'
        " columns `at_us` and `change`, come and go",
    )
    functions: dict[str, str] = Field(
        default={},
        description="Python functions that queries at the sink can call, as `[functions]` with a line `name ="
        ' "module:function"` for each; the module is a file beside the scenario, or an installed'
        " one. They are code: nothing is loaded without `--allow-functions`",
    )
    query: list[Query] = Field(default=[])

    @property
    def join_query(self) -> Query | None:
        """The query that the join of `[join]` answers: the first that asks for just that."""
        window_us = to_us(self.join.window_s)
        return next((query for query in self.query if query.asks_for_the_join(window_us)), None)

    @property
    def join_name(self) -> str:
        """Name of that join's answer in the trace."""
        return self.join_query.name if self.join_query else DEFAULT_QUERY

    @property
    def sink_queries(self) -> list[Query]:
        """The queries that the sink's stream database runs: all others."""
        own = self.join_query
        return [query for query in self.query if query is not own]

    @model_validator(mode="after")
    def _tables_agree(self) -> Self:
        if self.motes.placement == "recorded" and kind_of(self.phenomenon).positions_m is None:
            expected = " or ".join(repr(kind.name) for kind in kinds() if kind.positions_m)
            raise ValueError(
                f"motes.placement = 'recorded': expected phenomenon.kind = {expected}, found"
                f" {self.phenomenon.kind!r}"
            )
        side_m = min(self.field.width_m, self.field.height_m)
        if self.motes.placement == "clustered" and self.motes.spread_m > SPREAD_MOST * side_m:
            raise ValueError(
                f"motes.spread_m = {self.motes.spread_m}: expected at most {SPREAD_MOST} times the field's"
                f" shorter side, {side_m} m, or hardly any mote would fall inside"
            )
        if self.motes.start_s + self.motes.drain_s >= self.duration_s:
            raise ValueError(
                f"duration_s = {self.duration_s}: expected more than motes.start_s + motes.drain_s"
                f" = {self.motes.start_s + self.motes.drain_s}, or nothing would be sensed"
            )
        if self.clustering.range_m > self.radio.range_m:
            raise ValueError(
                f"clustering.range_m = {self.clustering.range_m}: expected at most radio.range_m"
                f" = {self.radio.range_m}, or members could not reach their heads"
            )
        counts = {"motes": self.motes.count}
        for fault in option_faults(
            self.clustering.protocol, dict(self.clustering), counts, {"motes": "motes.count"}
        ):
            raise ValueError(f"clustering.{fault}")
        if self.clustering.options.levels > 1 and self.routing.sink == "multi-hop":
            raise ValueError(
                "routing.sink = 'multi-hop': expected 'one-hop' with clustering.upper_ranges_m, whose"
                " levels are the way to the sink"
            )
        if self.radio.channel == "links" and self.motes.placement != "file":
            raise ValueError(
                f"motes.placement = {self.motes.placement!r}: expected 'file' with"
                " radio.channel = 'links', whose file uses the same ids"
            )
        for name, span in (("added", self.faults.added), ("removed", self.faults.removed)):
            if span is not None and span.count >= self.motes.count:
                raise ValueError(
                    f"faults.{name}.count = {span.count}: expected fewer than motes.count"
                    f" = {self.motes.count}"
                )
        faults = self._query_faults()
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def _query_faults(self) -> list[str]:
        """Conflicts of queries with the rest of the scenario."""
        faults = []
        placed = [query for query in self.query if query.placement == "network"]
        if len(placed) > 1:
            found = ", ".join(repr(query.name) for query in placed)
            faults.append(f"query: expected at most one with placement = 'network', found {found}")
        for place, query in enumerate(self.query):
            if query in placed:
                from join.sink.sensors_query import parse_sensors_query

                window_us = parse_sensors_query(query.sql).window_us
                if window_us != to_us(self.join.window_s):
                    faults.append(
                        f"query[{place}].sql: WINDOW is {window_us / 1e6} s, expected join.window_s"
                        f" = {self.join.window_s}"
                    )
            elif self.join.answer != "results" and query is not self.join_query:
                faults.append(
                    f"query[{place}].sql: expected SELECT * FROM SENSORS JOIN with WINDOW {self.join.window_s} s with"
                    f" join.answer = {self.join.answer!r}: the sink does not get the readings themselves"
                )
            elif not STRATEGIES[self.join.strategy].needs.readings_at_sink:
                faults.append(
                    f"query[{place}].placement = 'sink': expected join.strategy = 'centralised', which"
                    f" brings all readings to the sink, found {self.join.strategy!r}"
                )
        names = [self.join_name, *(query.name for query in self.sink_queries)]
        faults += [
            f"query.name = {name!r}: expected names that differ"
            + (f"; {DEFAULT_QUERY!r} is the join of [join]" if name == DEFAULT_QUERY else "")
            for name in dict.fromkeys(names)
            if names.count(name) > 1
        ]
        return faults
