"""What messages cost, given how many there are and what is in them: the cost model of `automatic`.

    bytes = Σ (frames · frame + readings · 6 + plain records · 8 + …) · hops, over pairs of sender and receiver

Hops to the sink are those of the routing tree. Between motes they are known from messages that arrived, else estimated by distance and
the mean distance covered by a hop (`join.strategies.placed.costs`).
"""

from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum
from typing import TypeAlias

from join.strategies.contract import JoinSettings, Ports
from join.strategies.message_sizes import (
    COUNT_BYTES,
    NODE_BYTES,
    READING_BYTES,
    RELAYED_READING_BYTES,
    TIME_BYTES,
    request_bytes,
)
from join.strategies.placed.costs import NOTE_BYTES, HopModel, state_bytes
from join.strategies.record_sizes import DIGEST_BYTES, SEQUENCE_BYTES, RecordSizes
from sim.trace.tables import SINK

NEIGHBOUR = -2
"""Stands for a node one hop away, such as a mote's head."""
_SIZES = RecordSizes(compact=False)


class Part(Enum):
    """What messages are made of, each with its bytes."""

    FRAME = "header and trailer, as observed"
    READING = "a mote's reading"
    PLAIN = "a record as short as a reading that is forwarded"
    NUMBER = "the number of a report"
    TIMED = "a record that a mote entered or left"
    HOLD = "a record that a mote is held"
    DIGEST = "what a head holds"
    RESULT = "a result without partners"
    PARTNER = "a partner in a result"
    COUNT = "the number of a place"
    NODE = "the number of a mote"
    NOTE = "where a value meets"
    STATE = "a value that moves, without its readings"


BYTES: Mapping[Part, int] = {
    Part.READING: READING_BYTES,
    Part.PLAIN: RELAYED_READING_BYTES,
    Part.NUMBER: SEQUENCE_BYTES,
    Part.TIMED: _SIZES.timed_mote_record(0, 0, 0),
    Part.HOLD: _SIZES.mote_record(0),
    Part.DIGEST: DIGEST_BYTES,
    Part.RESULT: request_bytes(0, 0),
    Part.PARTNER: NODE_BYTES + TIME_BYTES,
    Part.COUNT: COUNT_BYTES,
    Part.NODE: NODE_BYTES,
    Part.NOTE: NOTE_BYTES,
    Part.STATE: state_bytes(0),
}

Counts: TypeAlias = "Counter[tuple[int, int, Part]]"
"""How many of each part were sent, by sender and receiver."""


class Terrain:
    """Hops and bytes, learnt from the messages that arrive."""

    def __init__(self, ports: Ports, settings: JoinSettings, home_of: Callable[[int], int]) -> None:
        """Learn over the network of `ports`; `home_of` gives the home of a value."""
        self._model = HopModel(settings.positions_m, ports.way.depth)
        self._seen: dict[tuple[int, int], int] = {}
        """Hops between motes, as seen last."""
        self.home_of = home_of

    @property
    def frame_bytes(self) -> int:
        """On air beside the body of a message, per hop."""
        return self._model.frame_bytes

    def hops(self, source: int, target: int) -> float:
        """About how many hops a message takes."""
        if target == NEIGHBOUR:
            return 1.0
        seen = self._seen.get((source, target))
        return self._model.hops(source, target) if seen is None else seen

    def depth(self, node: int) -> float:
        """Hops from a node to the sink."""
        return self.hops(node, SINK)

    def bytes(self, counts: Counts) -> float:
        """Bytes on air of all that was counted."""
        frame = self.frame_bytes
        return sum(
            number * BYTES.get(part, frame) * self.hops(source, target)
            for (source, target, part), number in counts.items()
        )

    def observe(self, source: int, target: int, *, hops: int, on_air: int, body: int) -> None:
        """Take note of a message that has arrived after `hops` hops, `on_air` bytes in all."""
        self._model.observe(source, target, hops=hops, on_air=on_air, body=body)
        self._seen[source, target] = hops
