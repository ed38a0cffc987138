"""The contract of join strategies: what one is made from, what it must do, and what it needs from other layers.

A strategy decides where readings are joined: it receives them from motes, sends its own messages over `Ports.links`, and
delivers results to `Ports.sink`. It registers its message handlers, and a listener at `Ports.membership` if it has to act
when motes switch heads. A new one is a file that calls `join.strategies.registry.register`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, ClassVar, Protocol, runtime_checkable

from join.contract import Partner, Value
from join.reading import Reading
from join.sink.activity import Vouched
from join.strategies.accounts import Accounts
from join.strategies.cpu_costs import CpuCosts
from join.strategies.snjoin_star.rules.contract import RuleSettings
from network.contract import Clock, Links, LocalTime, Message, Processors, SinkWay
from network.membership import Membership
from sim.rng import RandomStreams
from sim.trace.tables import AnswerLevel

Point = tuple[float, float]


class SinkPort(Protocol):
    """The sink as strategies see it."""

    def take_reading(self, reading: Reading, at_us: int) -> None:
        """Pass a reading that is joined at the sink at `at_us`, now or soon, to the queries."""

    def take_result(
        self,
        origin: Reading,
        partners: list[tuple[Partner, ...]],
        at_us: int,
        *,
        partial: bool = False,
    ) -> None:
        """Deliver the partners of one reading, formed at `at_us`, now or soon; `partial`: not all heads answered.

        A second result of the same reading amends the first: only partners not yet reported count.
        """

    def take_activity(
        self, value: Value, vouched: Sequence[Vouched], *, sent_us: int, replace: bool
    ) -> None:
        """Take what a message, first sent at `sent_us`, says of motes now, where less than results is asked for.

        With `replace` it replaces what its reporter said of them before, else it only ever prolongs their activity.
        """


class Roster(Enum):
    """Which list of nodes clustering sends to heads after each election."""

    NONE = auto()
    HEADS = auto()
    """All heads, and those that stepped down but still hold readings."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What a strategy needs from the other layers, and what it offers them."""

    roster: Roster = Roster.NONE
    readings_at_sink: bool = False
    """Whether every reading reaches the sink, so that queries can run there."""
    delivers: AnswerLevel = AnswerLevel.RESULTS
    """The most that the sink can know; all lower levels follow from it."""
    sends_every_reading: bool = True
    """Whether each reading causes at least one message for the sink, so that their number bounds the load from below."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The parts of the simulated network that a strategy uses."""

    clock: Clock
    links: Links
    cpus: Processors
    membership: Membership
    sink: SinkPort
    accounts: Accounts
    way: SinkWay
    """The way that messages to the sink take."""
    local_us: LocalTime
    """The time on a node's own clock."""
    true_us: LocalTime
    """The inverse: when a node's clock shows a time. For measuring alone; no protocol may know it."""
    end_us: int
    """When the run ends."""


@dataclass(frozen=True, slots=True)
class ProbingSettings:
    """How heads probe each other."""

    feedback: str
    """The probing rule, by its name in `join.strategies.snjoin_star.rules.registry`."""
    rule: RuleSettings
    timeout_us: int
    """How long an initiator waits for a reply to a request; 0: for ever."""
    retries: int
    """How often it then sends the request again."""
    fans_out: bool
    """Whether a request goes to all heads at once, not from head to head."""
    tours: bool
    """Whether heads are probed in the order of a short tour, not in the rule's."""
    moves: bool
    """Whether a head that steps down hands its readings over, or keeps answering for them."""


@dataclass(frozen=True, slots=True)
class ReportingSettings:
    """What the sink must know, how soon, and what reports have to reckon with."""

    level: AnswerLevel
    delay_us: int
    """How long a report may be held in all, so that several share a message."""
    refresh_us: int
    """How often a head confirms what it holds."""
    straight: bool
    """Whether readings for the sink go straight there, and not by their motes' heads."""
    by_motes: bool
    """Whether motes report themselves who joins, and not their heads."""
    compact: bool
    """Whether records have fields of variable length."""
    hop_us: int
    """About the longest that one hop takes while radios are on."""
    asleep_us: int
    """How long all radios are off at a time. They wake in step, so that a message waits for it once on its way."""
    clock_us: int
    """How far clocks may be apart."""
    lossy: bool
    """Whether messages can be lost without anybody noticing."""
    outages: bool
    """Whether the sink may be out for a while."""
    hop_loss: float
    """The share of messages lost per hop then, as link estimators of motes measure it."""
    spread_us: int
    """Over how long messages that many motes send at once are spread."""

    def way_us(self, hops: int) -> int:
        """About the longest that a message takes over so many hops."""
        return hops * self.hop_us + self.asleep_us


@dataclass(frozen=True, slots=True)
class JoinSettings:
    """A scenario's join settings, in the join's own units."""

    window_us: int
    late_us: int
    """Readings later than this are dropped."""
    factorised: bool
    """Whether messages and results carry all times of a partner, or its newest only."""
    costs: CpuCosts
    operator: str
    """The operator at the sink, by its name in `join.operators.registry`."""
    probing: ProbingSettings
    reporting: ReportingSettings
    streams: RandomStreams
    positions_m: Sequence[Point]
    """Where motes are; the sink is the last."""
    field_m: Point
    """Width and height of the field."""
    places_m: Mapping[int, Point] | None
    """Where the homes of values are to be; None: anywhere, by a hash of the value."""
    cell_m: float
    """About the side of a cell of the grid whose rows and columns readings are stored and probed along."""


class JoinStrategy(Protocol):
    """Joins the readings that motes submit."""

    needs: ClassVar[Needs]

    def submit(self, reading: Reading) -> None:
        """Join a reading with a value that a mote takes now."""

    def on_roster(
        self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]
    ) -> None:
        """Called when the roster reaches head `node`: all heads, and (head, until when) of those that linger."""

    def on_down(self, node: int) -> None:
        """Called when a mote died, crashed or was removed; its state is lost."""

    def close(self, on_air: Sequence[Message]) -> None:
        """End the run: record the readings that are still under way; `on_air` has not arrived."""


@runtime_checkable
class Choosing(Protocol):
    """A strategy that chooses between plans."""

    def figures(self) -> Mapping[str, Any]:
        """What it chose, for the run's manifest."""
