"""Runs any clustering protocol as messages in simulated time.

A protocol core yields what its nodes send; the driver puts it on air, waits for the protocol's interval,
and returns the copies that arrived to the core. Announcements of one interval are spread over its first half, as
in a real network. All motes in range of a broadcast hear it and pay for it, including those it is not meant for.
Copies that arrive after their interval do not count.
"""

from array import array
from collections.abc import Callable, Generator
from typing import Any

import numpy as np
from simpy.events import Event

from clustering.contract import (
    Broadcast,
    Clusters,
    Election,
    Heard,
    Neighbourhood,
    Nodes,
    Send,
    Unicast,
)
from clustering.neighbourhood import Neighbourhoods
from network.contract import Air, Message
from sim.kernel import Kernel
from sim.trace.tables import DropReason


class ElectionDriver:
    """Runs elections over the air."""

    def __init__(
        self,
        kernel: Kernel,
        air: Air,
        rng: np.random.Generator,
        neighbourhoods: Neighbourhoods,
    ) -> None:
        self._kernel = kernel
        self._air = air
        self._rng = rng
        self._neighbourhoods = neighbourhoods
        self._attached: set[str] = set()

    def hold(self, election: Election) -> Generator[Event, Any, Clusters]:
        """A process that runs one election; returns its outcome."""
        try:
            send = next(election)
            while True:
                copies = _Copies()
                self._put_on_air(send, copies)
                yield self._kernel.timeout(send.wait_us)
                send = election.send(copies.heard())
        except StopIteration as finished:
            clusters: Clusters = finished.value
            return clusters

    def _put_on_air(self, send: Send, copies: "_Copies") -> None:
        now_us = self._kernel.now_us
        delays_us = (self._rng.random(len(send.nodes)) * (send.wait_us // 2)).astype(np.int64)
        starts_us = (now_us + delays_us).tolist()
        match send:
            case Broadcast():
                in_range = self._neighbourhoods.within(send.within.range_m)
                on_heard = copies.add if send.within is in_range else copies.only(send.within)
                for node, at_us in zip(send.nodes.tolist(), starts_us, strict=True):
                    self._air.broadcast(
                        send.kind,
                        node,
                        in_range.listeners(node),
                        in_range.range_m,
                        send.body_bytes,
                        at_us,
                        on_heard,
                    )
            case Unicast():
                if send.kind not in self._attached:
                    self._attached.add(send.kind)
                    self._air.attach(send.kind, self._on_unicast, self._on_lost)
                pairs = zip(send.nodes.tolist(), send.targets.tolist(), starts_us, strict=True)
                for node, target, at_us in pairs:
                    self._air.unicast(send.kind, node, target, send.body_bytes, copies, at_us)

    def _on_unicast(self, message: Message) -> None:
        copies: _Copies = message.body
        copies.add(message.source, [message.target])

    def _on_lost(self, message: Message, reason: DropReason) -> None:
        """Do nothing: the air has logged the loss, and the protocol sees that the copy is missing."""


class _Copies:
    """The copies that arrived of messages sent in one interval."""

    def __init__(self) -> None:
        # Arrays of numbers: an election among 100,000 motes has millions of copies.
        self._sources = array("q")
        self._counts = array("q")
        self._targets = array("q")

    def add(self, source: int, heard: list[int]) -> None:
        self._sources.append(source)
        self._counts.append(len(heard))
        self._targets.fromlist(heard)

    def heard(self) -> Heard:
        """Source and target of every copy."""
        sources, counts, targets = map(_numbers, (self._sources, self._counts, self._targets))
        return Heard(np.repeat(sources, counts), targets)

    def only(self, within: Neighbourhood) -> Callable[[int, list[int]], None]:
        """A function that adds the copies that reached intended receivers."""

        def add(source: int, heard: list[int]) -> None:
            meant = set(within.listeners(source))
            self.add(source, [node for node in heard if node in meant])

        return add


def _numbers(cells: "array[int]") -> Nodes:
    return np.array(cells, dtype=np.int64)
