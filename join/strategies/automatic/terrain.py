"""What a message costs between two nodes, as far as nodes know it: hops by distance, bytes by what was seen."""

from collections.abc import Callable

from join.strategies.contract import JoinSettings, Ports
from join.strategies.message_sizes import NODE_BYTES, READING_BYTES, TIME_BYTES, request_bytes
from join.strategies.placed.costs import HopModel
from join.strategies.record_sizes import DIGEST_BYTES, SEQUENCE_BYTES, RecordSizes
from sim.trace.tables import SINK

_SIZES = RecordSizes(compact=False)
RECORD_BYTES = (2 * _SIZES.timed_mote_record(0, 0, 0) + _SIZES.mote_record(0)) // 3
"""On average, a report's record of one mote: two of three kinds have a time."""


class Terrain:
    """Hops and bytes, learnt from the messages that arrive."""

    def __init__(self, ports: Ports, settings: JoinSettings, home_of: Callable[[int], int]) -> None:
        """Learn over the network of `ports`; `home_of` gives the home of a value."""
        self._model = HopModel(settings.positions_m, ports.way.depth)
        self.home_of = home_of
        self.hops = self._model.hops

    @property
    def frame_bytes(self) -> int:
        """On air beside the body of a message, per hop."""
        return self._model.frame_bytes

    @property
    def reading_bytes(self) -> int:
        """A reading alone in a message, per hop."""
        return READING_BYTES + self.frame_bytes

    @property
    def record_bytes(self) -> int:
        """A report of one mote on its way from a head or home to the sink, per hop.

        The mean of `Enter`, `Hold` and `Leave`: alone in a message, with a number.
        """
        return SEQUENCE_BYTES + RECORD_BYTES + self.frame_bytes

    @property
    def digest_bytes(self) -> int:
        """A confirmation of what a head holds, per hop."""
        return SEQUENCE_BYTES + DIGEST_BYTES + self.frame_bytes

    def result_bytes(self, partners: int) -> int:
        """A result with so many partners, per hop."""
        return request_bytes(0, partners * (NODE_BYTES + TIME_BYTES)) + self.frame_bytes

    def depth(self, node: int) -> float:
        """Hops from a node to the sink."""
        return self.hops(node, SINK)

    def observe(self, source: int, target: int, *, hops: int, on_air: int, body: int) -> None:
        """Take note of a message that has arrived after `hops` hops, `on_air` bytes in all."""
        self._model.observe(source, target, hops=hops, on_air=on_air, body=body)
