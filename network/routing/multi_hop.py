"""Forwards messages hop by hop over any MAC, and delivers them at their final target only.

Every hop is a transmission of its own: paid by its sender and receiver, logged, lost or delivered. The
network header carries origin and final target. Messages follow the network's routes or the trees of clusters, or go
in one hop.

No route leads to a dead node: a message to one ends as dead at its origin. A relay on a route that finds its next hop
dead looks for another path; if there is none, the message ends as unreachable, as does one whose relay dies while it
holds it. On the path to a head there is no alternative: a mote that finds the next one dead reports it. Between heads
and sink, a dead head is bypassed in one hop.
"""

from collections.abc import Sequence
from typing import Final

from network.contract import Handler, LossHandler, Message, NodeId, Processors, Service
from network.mac.base import Hearing, LoggedAir
from network.routing.cluster_trees import ClusterTrees
from network.routing.routes import Routes
from network.visits import visitor
from sim.kernel import Kernel
from sim.trace.tables import SINK, DropReason

ROUTE_BYTES: Final = 4
"""Origin and final target, as two 16-bit addresses."""


class Parcel:
    """A message on its way over several hops."""

    __slots__ = ("at_us", "body", "body_bytes", "bytes", "hops", "origin", "path", "target")

    def __init__(
        self,
        origin: NodeId,
        target: NodeId,
        body_bytes: int,
        body: object,
        at_us: int,
        path: list[NodeId] | None,
    ) -> None:
        self.origin = origin
        self.target = target
        self.body_bytes = body_bytes
        self.body = body
        self.at_us = at_us
        self.bytes = 0
        """Bytes on air so far, over all hops."""
        self.hops = 0
        self.path = path
        """The remaining hops on a cluster's tree, as it was when the message was sent; None on routes."""


class RoutedAir:
    """Multi-hop unicasts between motes, to and from the sink, or both."""

    def __init__(
        self,
        kernel: Kernel,
        mac: LoggedAir,
        routes: Routes | None,
        trees: ClusterTrees,
        *,
        between_motes: bool,
        with_sink: bool,
    ) -> None:
        self._kernel = kernel
        self._mac = mac
        self._routes = routes
        self._trees = trees
        self._between_motes = between_motes
        self._with_sink = with_sink
        self._handlers: dict[str, tuple[Handler, LossHandler]] = {}
        self._hops_most = 4 * len(mac.alive)
        self.alive = mac.alive
        self.log = mac.log
        self.receptions = mac.receptions
        self.unreachable = 0
        """Messages that had no path to their target."""

    def attach(self, kind: str, handler: Handler, on_loss: LossHandler) -> None:
        """Register delivery and loss handlers for messages of `kind`."""
        self._handlers[kind] = (handler, on_loss)
        self._mac.attach(kind, self._on_hop, self._on_hop_lost)

    def attach_service(self, kind: str, service: Service, cpus: Processors) -> None:
        """Have motes serve messages of `kind` on their CPUs and send them on."""
        self.attach(kind, visitor(self, cpus, service), service.lose)

    def unicast(
        self, kind: str, source: NodeId, target: NodeId, body_bytes: int, body: object, at_us: int
    ) -> int:
        """Send one message towards `target`; returns the bytes on air of its first hop."""
        tree = self._trees.path(kind, source, target)
        routed = self._with_sink if SINK in (source, target) else self._between_motes
        if tree is None and not routed:
            return self._mac.unicast(kind, source, target, body_bytes, body, at_us)
        parcel = Parcel(source, target, body_bytes + ROUTE_BYTES, body, at_us, tree)
        return self._send(kind, parcel, source, at_us)

    def broadcast(
        self,
        kind: str,
        source: NodeId,
        listeners: Sequence[NodeId],
        range_m: float,
        body_bytes: int,
        at_us: int,
        on_heard: Hearing,
    ) -> None:
        """Announce to all live `listeners`, one hop."""
        self._mac.broadcast(kind, source, listeners, range_m, body_bytes, at_us, on_heard)

    def close(self) -> list[Message]:
        """Log what is still on air as in flight; returns the unicasts that have not arrived."""
        return [self._as_sent(message) for message in self._mac.close()]

    def earliest_on_air_us(self) -> int:
        """When the oldest message still on air was sent; now if there is none."""
        return self._mac.earliest_on_air_us()

    def _send(self, kind: str, parcel: Parcel, here: NodeId, at_us: int) -> int:
        hop = self._next_hop(parcel, here)
        if hop is None or parcel.hops >= self._hops_most:
            if here == parcel.origin and not self.alive[parcel.target]:
                self._drop(kind, parcel, DropReason.DEAD)
                return 0
            self.unreachable += 1
            self._drop(kind, parcel, DropReason.UNREACHABLE)
            return 0
        parcel.hops += 1
        size = self._mac.unicast(kind, here, hop, parcel.body_bytes, parcel, at_us)
        parcel.bytes += size
        return size

    def _next_hop(self, parcel: Parcel, here: NodeId) -> NodeId | None:
        if not self.alive[here]:
            return parcel.target
        if parcel.path is not None:
            return parcel.path.pop(0)
        assert self._routes is not None
        return self._routes.next_hop(here, parcel.target)

    def _on_hop(self, message: Message) -> None:
        parcel = message.body
        if not isinstance(parcel, Parcel):
            self._handlers[message.kind][0](message)
        elif message.target == parcel.target:
            self._handlers[message.kind][0](self._as_sent(message))
        else:
            self._send(message.kind, parcel, message.target, self._kernel.now_us)

    def _on_hop_lost(self, message: Message, reason: DropReason) -> None:
        parcel = message.body
        if not isinstance(parcel, Parcel):
            self._handlers[message.kind][1](message, reason)
            return
        here = message.source
        is_dead = reason is DropReason.DEAD
        by_tree = parcel.path is not None
        to_head = by_tree and SINK not in (parcel.origin, parcel.target)
        if is_dead and self.alive[here]:
            if to_head and here != parcel.origin:
                self._trees.report_broken(here)
            if not to_head and message.target != parcel.target:
                if by_tree:
                    parcel.path = [parcel.target]
                self._send(message.kind, parcel, here, self._kernel.now_us)
                return
        if is_dead and here != parcel.origin:
            # The origin cannot know whether the target is dead, and it need not be if a relay died.
            reason = DropReason.UNREACHABLE
        self._drop(message.kind, parcel, reason)

    def _drop(self, kind: str, parcel: Parcel, reason: DropReason) -> None:
        self._handlers[kind][1](_whole(kind, parcel), reason)

    def _as_sent(self, message: Message) -> Message:
        """The message as its origin sent it."""
        parcel = message.body
        return _whole(message.kind, parcel) if isinstance(parcel, Parcel) else message


def _whole(kind: str, parcel: Parcel) -> Message:
    """A parcel as one message from its origin to its target."""
    message = Message(kind, parcel.origin, parcel.target, parcel.bytes, parcel.body, parcel.at_us)
    message.hops = parcel.hops
    return message
