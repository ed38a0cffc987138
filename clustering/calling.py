"""How the sink calls an election: a broadcast, passed on by those whom it reaches where it does not reach all.

A mote that misses the call is drawn in by its neighbours' first announcements, so that everybody takes part.
"""

from collections.abc import Callable, Sequence
from random import Random

from network.contract import Air, Clock
from sim.trace.tables import SINK

CALL_BYTES = 0
"""A call to elect says no more than its kind."""


class Caller:
    """Calls elections over the air."""

    def __init__(
        self,
        clock: Clock,
        air: Air,
        *,
        audience: Callable[[int], Sequence[int]],
        range_m: float,
        relayed: bool,
        spread_us: int,
        rng: Random,
    ) -> None:
        """A sink's call.

        Args:
            clock: The time.
            air: What the call goes over.
            audience: The motes in range of a node.
            range_m: How far the call carries.
            relayed: Whether motes pass the call on.
            spread_us: Relays wait a random time up to this, so that they do not all speak at once.
            rng: Draws those times.
        """
        self._clock = clock
        self._air = air
        self._audience = audience
        self._range_m = range_m
        self._relayed = relayed
        self._spread_us = spread_us
        self._rng = rng
        self._reached: set[int] = set()

    def call(self) -> None:
        """Call all motes to an election."""
        self._reached = set()
        self._send(SINK, self._clock.now_us)

    def _send(self, node: int, at_us: int) -> None:
        self._air.broadcast(
            "call",
            node,
            self._audience(node),
            self._range_m,
            CALL_BYTES,
            at_us,
            self._on_heard,
        )

    def _on_heard(self, source: int, heard: list[int]) -> None:
        fresh = [node for node in heard if node not in self._reached]
        self._reached.update(fresh)
        if self._relayed:
            for node in fresh:
                self._send(node, self._clock.now_us + self._rng.randrange(self._spread_us + 1))
