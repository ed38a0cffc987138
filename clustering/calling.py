"""The sink's call to an election: a broadcast, relayed by motes where it does not reach all of them.

A mote that misses the call joins in at its neighbours' first announcements, so that every mote takes part.
"""

from collections.abc import Callable, Sequence
from random import Random

from network.contract import Air
from sim.kernel import Kernel, Story
from sim.trace.kinds import CALL
from sim.trace.tables import SINK

CALL_BYTES = 0
"""A call to elect has no body: its kind is all it carries."""


class Caller:
    """Calls elections over the air."""

    def __init__(
        self,
        kernel: Kernel,
        air: Air,
        *,
        audience: Callable[[int], Sequence[int]],
        range_m: float,
        relayed: bool,
        spread_us: int,
        wait_us: int,
        rng: Random,
    ) -> None:
        """Set up the sink's calls.

        Args:
            kernel: The clock.
            air: Carries the call.
            audience: The motes in range of a node.
            range_m: How far the call carries.
            relayed: Whether motes pass the call on.
            spread_us: Relays wait a random time up to this, so that they do not all send at once.
            wait_us: How long to wait for the call to reach every mote.
            rng: Draws those times.
        """
        self._kernel = kernel
        self._air = air
        self._audience = audience
        self._range_m = range_m
        self._relayed = relayed
        self._spread_us = spread_us
        self._wait_us = wait_us
        self._rng = rng
        self._reached: set[int] = set()

    def call(self) -> Story:
        """Call all motes to an election; a process that ends when they have had time to hear it."""
        self._reached = set()
        self._send(SINK, self._kernel.now_us)
        yield self._kernel.timeout(self._wait_us)

    def _send(self, node: int, at_us: int) -> None:
        self._air.broadcast(
            CALL,
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
                self._send(node, self._kernel.now_us + self._rng.randrange(self._spread_us + 1))
