"""The scenario file: every table and key, validated once; the code below receives checked values.

A scenario names the tables that say what is simulated; keys left out take the documented defaults, and the
manifest of a run lists every key as resolved.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from join.dsms.language.errors import QueryError
from join.dsms.language.parse import parse
from join.sink.sensors_query import QuerySyntaxError, parse_sensors_query
from join.strategies.registry import STRATEGIES
from scenarios.phenomena.contract import PhenomenonTable
from scenarios.phenomena.registry import kind_of, kinds, phenomenon_tables
from scenarios.schema.base import (
    Count,
    NotNegative,
    Positive,
    Seed,
    Share,
    Table,
)
from scenarios.schema.clustering import Clustering, clustering_table, option_faults
from scenarios.schema.names import RuleName, StrategyName
from scenarios.schema.network import Faults, Motes, Radio, Routing, Sink
from scenarios.schema.registered import Registered
from sim.errors import one_of
from sim.trace.tables import TABLES
from sim.units import to_us

DEFAULT_QUERY = "join"
"""What the answer is called in the trace of a scenario without a [[query]]."""

Microseconds = Annotated[float, Field(ge=0, le=60_000_000)]


class FieldTable(Table):
    """`[field]`: the rectangle the motes stand in, its lower left corner at (0, 0)."""

    width_m: Positive
    height_m: Positive


class CpuUs(Table):
    """`[join.cpu_us]`: microseconds of a mote's CPU per step of the join."""

    hash: Microseconds = 5.0
    insert: Microseconds = 5.0
    probe: Microseconds = 20.0
    form: Microseconds = 2.0


class Join(Table):
    """`[join]`: which join, where, over which window, and how heads learn whom to probe."""

    strategy: StrategyName
    operator: Literal["snjoin", "mjoin", "xjoin-tree", "shj-tree", "ripple"] = Field(
        "snjoin", description="centralised: the operator at the sink"
    )
    arity: Literal["variable", "complete"] = "variable"
    form: Literal["latest", "factorised"] = "latest"
    window_s: Positive
    late_s: NotNegative = Field(
        5.0, description="readings later than this are dropped, and state is kept this much longer"
    )
    timeout_s: NotNegative | None = Field(
        None,
        description="snjoin-star: an initiator that has heard nothing of a request for so long sends"
        " its own cluster's partners, marked partial; 0 = never; default 2 s where messages"
        " can be lost or with probing = 'fan-out', else never",
    )
    retries: Annotated[int, Field(ge=0, le=10)] = Field(
        0,
        description="snjoin-star: how often a request is sent again before its initiator gives up",
    )
    probing: Literal["chain", "fan-out"] = Field(
        "chain",
        description="a request goes from head to head, gathering partners, or to all heads at once,"
        " and the sink puts together what they find",
    )
    order: Literal["rule", "tour"] = Field(
        "rule",
        description="chain: heads in the order of the probing rule, or by position, on a short way"
        " from the initiator to the sink",
    )
    feedback: RuleName = Field("paper", description="snjoin-star: the probing rule")
    target_recall: Annotated[float, Field(gt=0, le=1)] | None = Field(
        None, description="directory: the share of partners to be delivered; default all"
    )
    selection: Literal["bernoulli", "proportional"] = "bernoulli"
    weights: Literal["contribution", "size"] = "contribution"
    exploration: Share = 0.02
    buckets: Annotated[int, Field(ge=1, le=65_536)] = 64
    queue: Count = Field(64, description="readings and requests a head can hold")
    cpu_us: CpuUs = CpuUs()

    @model_validator(mode="after")
    def _probing_goes_together(self) -> Self:
        if self.probing == "fan-out" and self.timeout_s == 0:
            raise ValueError(
                "timeout_s = 0: expected more with probing = 'fan-out', or the sink would wait for ever"
                " for a head whose queue is full"
            )
        if self.probing == "fan-out" and self.order == "tour":
            raise ValueError("order = 'tour': expected 'rule' with probing = 'fan-out'")
        if self.retries and self.timeout_s == 0:
            raise ValueError(f"retries = {self.retries}: expected 0 with timeout_s = 0")
        return self

    @model_validator(mode="after")
    def _target_goes_with_the_directory(self) -> Self:
        if self.target_recall is not None and self.feedback != "directory":
            raise ValueError(
                f"target_recall goes with feedback = 'directory', found feedback = {self.feedback!r}"
            )
        return self


class Trace(Table):
    """`[trace]`: what is written."""

    tables: list[str] = Field(default=["all"])
    messages: Literal["full", "off"] = "full"
    partners: bool = True
    energy_every_s: Annotated[float, Field(ge=0.1)] = 10.0

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
    """`[[query]]`: a query whose answer the sink keeps; its name stands in the trace."""

    name: Annotated[str, Field(min_length=1)]
    # Before the query itself, which is judged by it.
    placement: Literal["network", "sink"] = Field(
        "network",
        description="where it runs: the variable-arity join in the network, any query at the sink",
    )
    sql: str

    @field_validator("sql")
    @classmethod
    def _parses(cls, sql: str, info: ValidationInfo) -> str:
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
        try:
            return parse_sensors_query(self.sql).window_us == window_us
        except QuerySyntaxError:
            return False


class Scenario(Table):
    """A whole scenario file."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    description: str = ""
    duration_s: Annotated[float, Field(gt=0, le=31_536_000)]
    seed: Seed = 1
    field: FieldTable
    motes: Motes
    sink: Sink
    radio: Radio
    clustering: Annotated[Clustering, Registered(clustering_table)]
    routing: Routing = Routing.model_validate({})
    join: Join
    faults: Faults = Faults.model_validate({})
    trace: Trace = Trace()
    phenomenon: Annotated[PhenomenonTable, Registered(phenomenon_tables)]
    tables: dict[str, str] = Field(
        default={}, description="tables that queries at the sink can name: file of each"
    )
    functions: dict[str, str] = Field(
        default={}, description="Python functions that queries at the sink can call: where each is"
    )
    query: list[Query] = Field(default=[])

    @property
    def join_query(self) -> Query | None:
        """The query that the join of `[join]` answers: the first that asks for just that."""
        window_us = to_us(self.join.window_s)
        return next((query for query in self.query if query.asks_for_the_join(window_us)), None)

    @property
    def join_name(self) -> str:
        """What the answer of that join is called in the trace."""
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
                " radio.channel = 'links', whose file speaks of the same ids"
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
        """What is wrong with queries beside the rest of the scenario."""
        faults = []
        placed = [query for query in self.query if query.placement == "network"]
        if len(placed) > 1:
            found = ", ".join(repr(query.name) for query in placed)
            faults.append(f"query: expected at most one with placement = 'network', found {found}")
        for place, query in enumerate(self.query):
            if query in placed:
                window_us = parse_sensors_query(query.sql).window_us
                if window_us != to_us(self.join.window_s):
                    faults.append(
                        f"query[{place}].sql: WINDOW is {window_us / 1e6} s, expected join.window_s"
                        f" = {self.join.window_s}"
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
