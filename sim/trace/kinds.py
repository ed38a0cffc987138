"""Kinds of messages and causes of energy, as traces, counts and random streams name them.

They are plain text and no enumeration, since every message carries its kind. With members of a `StrEnum` (Python
3.11) a look-up in a table by plain text took 37 ns instead of 21, making a stream's name 247 ns instead of 41, and the garbage
collector never stops tracking a trace row that holds one. `MessageKind` is a type for the checker only.

A kind names the random streams of its losses (`radio.loss.<kind>`): another name gives other results.
"""

from typing import Final, NewType

MessageKind = NewType("MessageKind", str)

# Messages of the join.
READING: Final = MessageKind("reading")
PROBE: Final = MessageKind("probe")
RESULT: Final = MessageKind("result")
FEEDBACK: Final = MessageKind("feedback")
ACK: Final = MessageKind("ack")
HANDOVER: Final = MessageKind("handover")
PACK: Final = MessageKind("pack")
"""Readings or reports of several motes in one message to the sink."""
REPORT: Final = MessageKind("report")
"""A head's report to the sink of motes that joined, stay or left."""
RESYNC: Final = MessageKind("resync")
"""The sink asks a head for all that it has reported: a report is missing."""
STORE: Final = MessageKind("store")
"""A reading to be stored at a node on its row."""
CANDIDATES: Final = MessageKind("candidates")
"""The sink calls for a head's readings of a value that others have too."""
PLACE: Final = MessageKind("place")
"""A note of where the readings of a value meet from now on."""
PLAN: Final = MessageKind("plan")
"""Which strategy motes follow, and from when on."""
ESTIMATE: Final = MessageKind("estimate")
"""What a node estimates each plan to cost."""

MAC_ACK: Final = MessageKind("mac-ack")
"""A frame's acknowledgement by its receiver's radio."""

# Messages of elections.
COST: Final = MessageKind("cost")
WEIGHT: Final = MessageKind("weight")
WINNER: Final = MessageKind("winner")
HEAD: Final = MessageKind("head")
JOIN: Final = MessageKind("join")
STATUS: Final = MessageKind("status")
APPOINT: Final = MessageKind("appoint")

# Messages of clustering rounds, around elections.
ALARM: Final = MessageKind("alarm")
CALL: Final = MessageKind("call")
ENROL: Final = MessageKind("enrol")
ROSTER: Final = MessageKind("roster")

DATA_KINDS: Final = (
    READING,
    PROBE,
    RESULT,
    FEEDBACK,
    ACK,
    HANDOVER,
    PACK,
    REPORT,
    RESYNC,
    STORE,
    CANDIDATES,
    PLACE,
    PLAN,
    ESTIMATE,
    MAC_ACK,
)

CONTROL_KINDS: Final = (
    COST,
    WEIGHT,
    WINNER,
    HEAD,
    JOIN,
    STATUS,
    APPOINT,
    ALARM,
    CALL,
    ENROL,
    ROSTER,
)
"""Message kinds that keep the clustering going, as opposed to carrying data."""

STATE: Final = "state"
"""In the table `drops`, beside message kinds: a reading that was held for joining."""

TX: Final = "tx"
RX: Final = "rx"
IDLE: Final = "idle"
CPU: Final = "cpu"
SENSE: Final = "sense"
OVERHEAR: Final = "overhear"
"""Receiving frames that are meant for others."""
SLEEP: Final = "sleep"

CAUSES: Final = (TX, RX, IDLE, CPU, SENSE, OVERHEAR, SLEEP)
"""The causes of energy draws: disjoint, they add up to the total."""

CONTROL: Final = "control"
"""The part of tx and rx that elections cost."""
