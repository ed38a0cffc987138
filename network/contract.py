"""The network as the layers above see it: messages, the air that carries them, the CPUs.

Node numbers run from 0; the sink is `sim.trace.tables.SINK` (-1), which in every per-node list is the last
element, so that hot code indexes motes and sink alike.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias, TypeVar

from network.message import Message, NodeId
from network.service import Service
from sim.trace.tables import DropReason

__all__ = [
    "Air",
    "Argument",
    "Clock",
    "Handler",
    "Links",
    "LocalTime",
    "LossHandler",
    "Message",
    "NodeId",
    "Processors",
    "Service",
    "SinkWay",
    "true_time",
]

Argument = TypeVar("Argument")

Handler: TypeAlias = Callable[[Message], None]
LossHandler: TypeAlias = Callable[[Message, DropReason], None]


LocalTime: TypeAlias = Callable[[NodeId, int], int]
"""Converts true time to the time on a node's own clock, both in microseconds."""


def true_time(node: NodeId, true_us: int) -> int:
    """A perfect clock."""
    del node
    return true_us


class Clock(Protocol):
    """The part of the kernel that drivers use."""

    @property
    def now_us(self) -> int:
        """The current time in microseconds."""

    def call_at(self, at_us: int, function: Callable[[Argument], None], argument: Argument) -> None:
        """Call `function(argument)` at `at_us`."""

    def call_last(
        self, at_us: int, function: Callable[[Argument], None], argument: Argument
    ) -> None:
        """Call `function(argument)` at `at_us`, after all other calls for that time."""


class Links(Protocol):
    """Carries messages between nodes; each takes time and energy."""

    alive: list[bool]
    """Whether each node lives; the sink always does."""

    def attach(self, kind: str, handler: Handler, on_loss: LossHandler) -> None:
        """Register delivery and loss handlers for messages of `kind`."""

    def attach_service(self, kind: str, service: Service, cpus: "Processors") -> None:
        """Have motes serve messages of `kind` on their CPUs and send them on."""

    def unicast(
        self, kind: str, source: NodeId, target: NodeId, body_bytes: int, body: object, at_us: int
    ) -> int:
        """Send one message, its transmission starting at `at_us`; returns the bytes of its first hop on air."""


class Air(Links, Protocol):
    """Links, and broadcasts to all in range."""

    def broadcast(
        self,
        kind: str,
        source: NodeId,
        listeners: Sequence[NodeId],
        range_m: float,
        body_bytes: int,
        at_us: int,
        on_heard: Callable[[NodeId, list[NodeId]], None],
    ) -> None:
        """Send to all `listeners`; calls `on_heard(source, nodes that heard it)` on arrival."""


class SinkWay(Protocol):
    """The way from every node to the sink."""

    def next_hop(self, node: NodeId) -> NodeId | None:
        """The next hop of a message to the sink; None if there is no path."""

    def depth(self, node: NodeId) -> int:
        """How many hops a message to the sink takes; 0 if there is no path."""

    def depth_max(self) -> int:
        """The most hops that a message to the sink takes."""


class Processors(Protocol):
    """One CPU per node, serving in order of arrival, with room for a limited number of jobs."""

    def admit(self, node: NodeId) -> int | None:
        """When a job that arrives now can start, or None if there is no room for it."""

    def occupy(self, node: NodeId, start_us: int, service_us: float) -> int:
        """Serve the job admitted for `start_us`; returns when it is done."""
