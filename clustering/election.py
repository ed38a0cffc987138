"""Runs any clustering protocol as messages in simulated time.

A protocol core yields what its nodes send; the driver puts it on air, lets the protocol's interval pass,
and tells the core who heard whom. Announcements of one interval are spread over its first half, as a real
network's would be. What arrives after its interval is over comes too late to count.
"""

from collections.abc import Generator
from typing import Any

import numpy as np
from simpy.events import Event

from clustering.contract import Broadcast, Clusters, Election, Heard, Nodes, Send, Unicast
from network.contract import Air, Message
from sim.kernel import Kernel
from sim.records import DropReason


class ElectionDriver:
    """Holds elections over the air."""

    def __init__(
        self,
        kernel: Kernel,
        air: Air,
        rng: np.random.Generator,
    ) -> None:
        self._kernel = kernel
        self._air = air
        self._rng = rng
        self._attached: set[str] = set()

    def hold(self, election: Election) -> Generator[Event, Any, Clusters]:
        """The story of one election; ends with its outcome."""
        try:
            send = next(election)
            while True:
                copies = _Copies()
                self._put_on_air(send, copies)
                yield self._kernel.timeout(send.wait_us)
                send = election.send(Heard(_nodes(copies.sources), _nodes(copies.targets)))
        except StopIteration as finished:
            clusters: Clusters = finished.value
            return clusters

    def _put_on_air(self, send: Send, copies: "_Copies") -> None:
        now_us = self._kernel.now_us
        delays_us = (self._rng.random(len(send.nodes)) * (send.wait_us // 2)).astype(np.int64)
        starts_us = (now_us + delays_us).tolist()
        match send:
            case Broadcast():
                starts, targets = send.within.starts, send.within.targets
                for node, at_us in zip(send.nodes.tolist(), starts_us, strict=True):
                    listeners = targets[starts[node] : starts[node + 1]].tolist()
                    self._air.broadcast(
                        send.kind,
                        node,
                        listeners,
                        send.within.range_m,
                        send.body_bytes,
                        at_us,
                        copies.add,
                    )
            case Unicast():
                if send.kind not in self._attached:
                    self._attached.add(send.kind)
                    self._air.attach(send.kind, self._on_told, self._on_lost)
                pairs = zip(send.nodes.tolist(), send.targets.tolist(), starts_us, strict=True)
                for node, target, at_us in pairs:
                    self._air.unicast(send.kind, node, target, send.body_bytes, copies, at_us)

    def _on_told(self, message: Message) -> None:
        copies: _Copies = message.body
        copies.add(message.source, [message.target])

    def _on_lost(self, message: Message, reason: DropReason) -> None:
        """The air has logged it; the protocol notices by not being told."""


class _Copies:
    """The copies that arrived of what was sent in one interval."""

    def __init__(self) -> None:
        self.sources: list[int] = []
        self.targets: list[int] = []

    def add(self, source: int, heard: list[int]) -> None:
        self.sources.extend([source] * len(heard))
        self.targets.extend(heard)


def _nodes(numbers: list[int]) -> Nodes:
    return np.array(numbers, dtype=np.int64)
