"""The trace tables that a run writes, as plain data for the recorder, for Spark and for readers.

Times are integer microseconds of simulated time. Node numbers are 0 … count-1; the sink is `SINK`.
Columns may be added; none may be removed or change meaning.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sim.trace.kinds import CONTROL, CPU, IDLE, OVERHEAR, RX, SENSE, SLEEP, TX

SINK: Final = -1
"""The sink's node number in traces."""

FORMAT: Final = "motejoin-run-1"
"""Written in every manifest, so that a foreign directory is recognised."""


class Kind(StrEnum):
    """Column types."""

    INT32 = "int32"
    INT64 = "int64"
    FLOAT64 = "float64"
    BOOL = "bool"
    TEXT = "text"
    NODES = "nodes"
    """A list of node numbers."""
    MEMBERS = "members"
    """A list of (node, at_us): readings known by who made them and when."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a trace table."""

    name: str
    kind: Kind
    nullable: bool = False


class Change(StrEnum):
    """How the answer at the sink changed."""

    ADD = "+"
    UPDATE = "u"
    REMOVE = "-"


class Fate(StrEnum):
    """The fate of a reading that had a value to join."""

    JOINED = "joined"
    DROPPED = "dropped"
    IN_FLIGHT = "in flight"
    SUPPRESSED = "suppressed"
    """Its mote did not need to send it: what the sink knew already said as much."""


class AnswerLevel(StrEnum):
    """What the sink must know of each value at every instant (`join.answer`)."""

    RESULTS = "results"
    """Every join result."""
    SETS = "sets"
    """The set of motes that join."""
    OCCUPANCY = "occupancy"
    """How many motes join, by the head whose region they are in."""
    COUNT = "count"
    """How many motes join."""


class Outcome(StrEnum):
    """The outcome of a radio transmission."""

    DELIVERED = "delivered"
    PARTIAL = "partial"
    """A broadcast that some of its listeners missed."""
    LOST = "lost"
    COLLIDED = "collided"
    """Other frames were on air where it should have been received."""
    DUPLICATE = "duplicate"
    """Received, but its receiver had it already: an acknowledgement had been lost."""
    UNHEARD = "unheard"
    """Copies of a repeated frame that its target slept through; addressed to nobody, so that none counts as lost."""
    DEAD = "dead"
    """The target was dead, or down, when the message arrived."""
    IN_FLIGHT = "in flight"
    """Still on air when the run ended."""


class DropReason(StrEnum):
    """Why a reading, a message or held state was dropped."""

    LOST = "lost"
    DEAD = "dead"
    """The mote that should have received it was dead."""
    QUEUE_FULL = "queue full"
    STATE_LOST = "state lost"
    """A reading held for joining was lost when its head went down."""
    LATE = "late"
    NO_HEAD = "no head"
    """The mote belonged to no cluster yet."""
    COLLIDED = "collided"
    CHANNEL_BUSY = "channel busy"
    """The MAC gave up: every time it listened, somebody was sending."""
    UNREACHABLE = "unreachable"
    """There is no path of live motes in range of each other."""
    SINK_DOWN = "sink down"


class RequestEnd(StrEnum):
    """How a probe request ended."""

    FINISHED = "finished"
    """It has visited all its heads, and the sink has the partners it found, if any."""
    DROPPED = "dropped"
    GIVEN_UP = "given up"
    """Its initiator got no reply and sent its own cluster's partners to the sink; or the sink did not get all
    parts of it."""
    IN_FLIGHT = "in flight"
    """Under way when the run ended."""


class Event(StrEnum):
    """A change of a node other than an empty battery."""

    CRASH = "crash"
    RECOVERY = "recovery"
    ADDED = "added"
    REMOVED = "removed"
    SINK_DOWN = "sink down"
    SINK_UP = "sink up"


def _columns(*specification: str) -> tuple[Column, ...]:
    columns = []
    for entry in specification:
        name, kind = entry.split(":")
        columns.append(Column(name, Kind(kind.rstrip("?")), kind.endswith("?")))
    return tuple(columns)


TABLES: Final[dict[str, tuple[Column, ...]]] = {
    # One row per mote, and one for the sink (battery_j null).
    "motes": _columns("node:int32", "x_m:float64", "y_m:float64", "battery_j:float64?"),
    # One row per reading generated; value null: sensed, nothing to join. stamp_us: when, by the mote's
    # own clock, by which other tables identify a reading (origin_at_us, partners); exact clocks show at_us.
    "readings": _columns(
        "at_us:int64", "node:int32", "value:int64?", "level:float64?", "stamp_us:int64"
    ),
    # One row per sampling instant and gas (or other phenomenon): the motes truly inside.
    "truth": _columns("at_us:int64", "source:text", "nodes:nodes"),
    # One row per reading that had a value: its fate.
    "fates": _columns(
        "at_us:int64",
        "node:int32",
        "origin_at_us:int64",
        "fate:text",
        "reason:text?",
        "head:int32?",
    ),
    # One row per second, node and message kind. `addressed` counts the copies that should arrive (one
    # per unicast, one per live listener of a broadcast): addressed = received + lost + in flight.
    # sent, sent_bytes, addressed and lost count at the sender's second; received at the receiver's.
    "traffic": _columns(
        "at_s:int32",
        "node:int32",
        "kind:text",
        "sent:int32",
        "sent_bytes:int64",
        "received:int32",
        "received_bytes:int64",
        "lost:int32",
        "addressed:int32",
    ),
    # One row per radio transmission; target null: a broadcast, `received` of `addressed` heard it.
    "messages": _columns(
        "at_us:int64",
        "kind:text",
        "source:int32",
        "target:int32?",
        "bytes:int32",
        "outcome:text",
        "arrived_us:int64?",
        "addressed:int32",
        "received:int32",
    ),
    # One row per SNJoin* probe request that reached the sink. hops: transmissions, each relay's included. bytes: what these
    # put on air, each counted once; what the MAC adds (repeated frames, acknowledgements) is in `messages` and `traffic` only.
    "probes": _columns(
        "at_us:int64",
        "origin_head:int32",
        "value:int64",
        "heads_probed:int32",
        "heads_matched:int32",
        "hops:int32",
        "bytes:int64",
        "origin:int32",
        "origin_at_us:int64",
    ),
    # One row per end of a probe request: why a reading's partners reached the sink, or not. A request
    # that is sent again has several; one split into parts has a row for the whole, if it is finished, and
    # one for each part that was dropped. stamp_us: when its reading was joined, by the head's own clock.
    # known: heads it could choose from; heads: those chosen; passed_over: those of them found dead.
    # parts: how many parts it was split into, the initiator's own among them; 1 if it was not.
    # node: where a request was dropped, or going when the run ended.
    "requests": _columns(
        "at_us:int64",
        "origin_head:int32",
        "origin:int32",
        "origin_at_us:int64",
        "stamp_us:int64",
        "known:int32",
        "heads:nodes",
        "passed_over:nodes",
        "parts:int32",
        "outcome:text",
        "reason:text?",
        "node:int32?",
    ),
    # One row per change of the answer at the sink. Rows with an origin are join results; rows without
    # are sensors leaving the answer as their readings age (partners: all who left). `answer`: sensors in it
    # after the change. `partial`: heads that were to be probed did not answer. `amends`: the reading had a
    # result before, this row adds partners to it (arity counts all of them). `selected`: only where the sink runs a
    # query of its own: the row that came, changed or went, as JSON; value, arity and answer are null then.
    # `level`: what was asked for (`join.answer`); null in rows of a sink's own query. Below `results` no row has an origin:
    # `joined` lists the motes that came and `partners` those that left, each with the time of the reading that the sink
    # knows of it (level `sets`); `region` is the head whose region `answer` counts (level `occupancy`); `delay_us` is the
    # flight of the message that made the change, from its first transmission, and null if no message did.
    "results": _columns(
        "at_us:int64",
        "query:text",
        "change:text",
        "value:int64?",
        "origin:int32?",
        "origin_at_us:int64?",
        "arity:int32?",
        "partners:members?",
        "delay_us:int64?",
        "answer:int32?",
        "partial:bool",
        "amends:bool",
        "selected:text?",
        "joined:members?",
        "region:int32?",
        "level:text?",
    ),
    # One row per live node and clustering round. via: the next hop to the head, which is the head itself in
    # clusters of one hop. up: where a head sends what is for the sink, a head of heads or the sink; null for
    # members and without levels.
    "elections": _columns(
        "at_us:int64",
        "round:int32",
        "node:int32",
        "head:int32",
        "tentative_rounds:int32",
        "via:int32",
        "up:int32?",
    ),
    # One row per node and sample time; joules are spent since the start, by cause (`sim.trace.kinds`):
    # control is the part of tx + rx due to elections, the others are disjoint and add up to all that was drawn.
    "energy": _columns(
        "at_us:int64",
        "node:int32",
        "residual_j:float64",
        *(f"{cause}_j:float64" for cause in (TX, RX, IDLE, CPU, SENSE, CONTROL, OVERHEAR, SLEEP)),
    ),
    # One row per reading, message or held reading dropped; kind says which (a message kind or `STATE`).
    "drops": _columns(
        "at_us:int64",
        "node:int32",
        "reason:text",
        "kind:text",
        "origin:int32?",
        "origin_at_us:int64?",
    ),
    # One row per mote whose battery ran out.
    "deaths": _columns("at_us:int64", "node:int32"),
    # One row per crash, recovery, addition or removal of a mote, and per outage of the sink.
    "faults": _columns("at_us:int64", "node:int32", "event:text"),
}
