"""Random back-offs of carrier sensing: each node draws from a stream of its own."""

from collections.abc import Callable

from network.contract import NodeId
from sim.rng import RandomStreams


class Backoffs:
    """How many back-off periods a node waits, by the exponent BE of its attempt."""

    def __init__(self, streams: RandomStreams) -> None:
        self._streams = streams
        self._draws: dict[NodeId, Callable[[int], int]] = {}

    def periods(self, node: NodeId, exponent: int) -> int:
        """A whole number below 2^BE."""
        draw = self._draws.get(node)
        if draw is None:
            draw = self._draws[node] = self._streams.scalar("radio.backoff", node).randrange
        return draw(1 << exponent)
