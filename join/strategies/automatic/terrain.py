"""What a message costs between two nodes, as far as nodes know it: hops by distance, bytes by what was seen."""

from collections.abc import Callable

from join.strategies.contract import JoinSettings, Ports
from join.strategies.message_sizes import READING_BYTES, RELAYED_READING_BYTES
from join.strategies.placed.costs import HopModel
from sim.trace.tables import SINK


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
        """A record on its way from a head or home to the sink, per hop."""
        return RELAYED_READING_BYTES + self.frame_bytes

    def depth(self, node: int) -> float:
        """Hops from a node to the sink."""
        return self.hops(node, SINK)

    def observe(self, source: int, target: int, *, hops: int, on_air: int, body: int) -> None:
        """Take note of a message that has arrived after `hops` hops, `on_air` bytes in all."""
        self._model.observe(source, target, hops=hops, on_air=on_air, body=body)
