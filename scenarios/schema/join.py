"""The `[join]` table: the strategy, what the sink must know, the window, and how heads probe each other."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from join.strategies.registry import STRATEGIES
from scenarios.schema.base import LARGEST, Count, NotNegative, Seconds, Share, Table
from scenarios.schema.names import RuleName, StrategyName
from sim.trace.tables import AnswerLevel

LEVELS = (AnswerLevel.COUNT, AnswerLevel.OCCUPANCY, AnswerLevel.SETS, AnswerLevel.RESULTS)
"""Levels of answers, each following from the next."""

Microseconds = Annotated[float, Field(ge=0, le=60_000_000)]


class CpuUs(Table):
    """`[join.cpu_us]`: CPU time of a mote per step of the join, in microseconds.

    The sink is `sink.cpu_speed` times faster.
    """

    hash: Microseconds = Field(5.0, description="finding a value's place in the table")
    insert: Microseconds = Field(5.0, description="putting a reading there")
    probe: Microseconds = Field(20.0, description="looking for partners")
    form: Microseconds = Field(2.0, description="each partner put into a result")


class Join(Table):
    """`[join]`: which join, where, over which window, and how heads learn which heads to probe."""

    strategy: StrategyName = Field(
        description="`snjoin-star` (heads join and probe each other), `centralised` (all readings go to the"
        " sink), `distributed-mjoin` (heads join, all heads probed in turn), `oracle` (only heads"
        " that match are probed: the lower bound); where sets are enough, `lease` (motes send only what"
        " the sink could not know) and `change` (motes lease to heads, heads report changes);"
        " `rendezvous` (all readings of a value meet at its home); `perpendicular` (readings are stored along"
        " a row of a grid and probe along a column), `two-phase` (heads keep readings until the sink knows of"
        " readings elsewhere that may join), `placed` (the place where readings of a value meet is chosen by cost);"
        " `automatic` (motes follow the one of these that a cost model takes to be the cheapest)"
    )
    answer: Literal["results", "sets", "occupancy", "count"] = Field(
        "results",
        description="what the sink must know of each value at every instant: every join result (`results`), the"
        " set of motes that join (`sets`), how many in the region of each head (`occupancy`), or how"
        " many (`count`)",
    )
    delay_s: Annotated[float, Field(ge=0, le=3600)] = Field(
        0.0,
        description="how long a reading or report may be held on its way, over all hops, so that several share a"
        " message; used by `centralised`, `lease`, `change` and `two-phase`",
    )
    records: Literal["plain", "compact"] = Field(
        "plain",
        description="`compact`: values and times in readings and reports of `centralised`, `lease`, `change` and `two-phase` take"
        " as few bytes as they need",
    )
    path: Literal["head", "straight"] = Field(
        "head",
        description="`centralised` and `lease`: whether readings go to the sink by their motes' heads, or `straight`, on the"
        " routing tree's own path",
    )
    reporters: Literal["heads", "motes"] = Field(
        "heads",
        description="`change`: who reports to the sink who joins, stays and leaves: cluster heads, to which motes renew leases, or"
        " `motes` themselves, each of itself",
    )
    home: Literal["hash", "scope"] = Field(
        "hash",
        description="`rendezvous`: where readings of a value meet: at the mote nearest to a point that the value is"
        " hashed to, or to the place that the value belongs to (`scope`: Zipf values with locality, recorded"
        " values)",
    )
    cell_m: Annotated[float, Field(ge=1, le=LARGEST)] | None = Field(
        None,
        description="`perpendicular`: about the side of a cell of the grid along whose rows readings are stored and along"
        " whose columns they probe; default: `radio.range_m`",
    )
    refresh_s: Seconds | None = Field(
        None,
        description="`change`: how often a head confirms the motes that it holds at the sink, which lets go of what nobody has"
        " confirmed for two and a quarter times as long (motes that report themselves: just before that); default: two"
        " windows",
    )
    operator: Literal["snjoin", "mjoin", "xjoin-tree", "shj-tree", "ripple"] = Field(
        "snjoin",
        description="the operator of `centralised` and `two-phase`: `snjoin`, `mjoin`, `xjoin-tree`, `shj-tree` or `ripple`;"
        " they find the same, at different CPU time",
    )
    arity: Literal["variable", "complete"] = Field(
        "variable",
        description="`variable`: results are as wide as sensors match; `complete`: only results of all"
        " sensors count",
    )
    form: Literal["latest", "factorised"] = Field(
        "latest",
        description="what messages and results carry of a partner: its `latest` reading, or all its readings"
        " once (`factorised`)",
    )
    window_s: Seconds = Field(description="readings join that are at most this far apart")
    late_s: NotNegative = Field(
        5.0, description="readings later than this are dropped, and state is kept this much longer"
    )
    timeout_s: NotNegative | None = Field(
        None,
        description="`snjoin-star`: an initiator that has had no reply to a request for this long sends its"
        " own cluster's partners, marked partial; 0: never; default: 2 where messages can be lost"
        " or with `fan-out`, else never",
    )
    retries: Annotated[int, Field(ge=0, le=10)] = Field(
        0,
        description="`snjoin-star`: how often a request is sent again before its initiator gives up",
    )
    probing: Literal["chain", "fan-out"] = Field(
        "chain",
        description="`chain`: a request goes from head to head, gathering partners; `fan-out`: to all heads"
        " at once, and the sink puts together what they find",
    )
    order: Literal["rule", "tour"] = Field(
        "rule",
        description="`chain`: heads in the order of the probing `rule`, or by position on a short `tour` from"
        " the initiator to the sink",
    )
    feedback: RuleName = Field(
        "paper",
        description="how heads learn which heads to probe: `off` (all are probed), `paper` (SNJoin section"
        " 4), `with-initiator` (the same, learning also from requests that nobody matched),"
        " `match-rate`, or `directory` (the sink reports which heads hold a value)",
    )
    target_recall: Annotated[float, Field(gt=0, le=1)] | None = Field(
        None,
        description="`directory`: the share of partners to be delivered, with as few probes as that takes;"
        " default: all",
    )
    selection: Literal["bernoulli", "proportional"] = Field(
        "bernoulli",
        description="`paper`, `with-initiator`: each head by its own chance (`bernoulli`), or as many without"
        " replacement (`proportional`)",
    )
    weights: Literal["contribution", "size"] = Field(
        "contribution",
        description="`paper`, `with-initiator`: a head counts if it gave a partner (`contribution`), or by"
        " its share of the partners (`size`)",
    )
    exploration: Share = Field(0.02, description="least chance that a head is probed")
    base_relevance: Share = Field(
        0.5,
        description="`paper`, `with-initiator`: chance that a head is probed of which nothing has been learnt",
    )
    buckets: Annotated[int, Field(ge=1, le=65_536)] = Field(
        64, description="rows of a head's table of experience; values share them by hash"
    )
    queue: Count = Field(
        64, description="readings and requests a head can hold; more is dropped as `queue full`"
    )
    cpu_us: CpuUs = CpuUs.model_validate({})

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
    def _strategy_delivers_the_answer(self) -> Self:
        levels = [level.value for level in LEVELS]
        most = STRATEGIES[self.strategy].needs.delivers.value
        if levels.index(self.answer) > levels.index(most):
            enough = " or ".join(repr(level) for level in levels[: levels.index(most) + 1])
            raise ValueError(
                f"answer = {self.answer!r}: expected {enough} with strategy = {self.strategy!r}, which does"
                " not bring more to the sink"
            )
        if self.answer != "results" and self.arity == "complete":
            raise ValueError(
                f"answer = {self.answer!r}: expected 'results' with arity = 'complete', whose results need"
                " all sensors"
            )
        return self

    @model_validator(mode="after")
    def _regions_are_known(self) -> Self:
        if self.answer == "occupancy" and self.path == "straight":
            raise ValueError(
                "path = 'straight': expected 'head' with answer = 'occupancy', or the sink would not know"
                " the regions that readings come from"
            )
        if self.answer == "occupancy" and self.reporters == "motes":
            raise ValueError(
                "reporters = 'motes': expected 'heads' with answer = 'occupancy', or the sink would not know"
                " the regions that motes are in"
            )
        return self

    @model_validator(mode="after")
    def _target_goes_with_the_directory(self) -> Self:
        if self.target_recall is not None and self.feedback != "directory":
            raise ValueError(
                f"target_recall goes with feedback = 'directory', found feedback = {self.feedback!r}"
            )
        return self
