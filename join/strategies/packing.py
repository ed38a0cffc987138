"""Packing: what several motes have to send to the sink shares messages, at heads and along the routing tree.

An item may be held for `delay_us` in all. Nodes send what they hold once per period, those far from the sink before
those near it, one slot per hop, so that what a node forwards arrives just before it sends itself (the schedule of TAG's
epochs, Madden et al., OSDI 2002). Period and slots together are as long as an item may be held:

    delay = period + (most hops) · slot

An item that would have to wait longer than it may, because it missed a slot, goes at once and takes along what there is.
"""

from collections.abc import Callable, Sequence
from typing import Any

from join.strategies.contract import Ports
from network.contract import Message
from sim.trace.kinds import MessageKind
from sim.trace.tables import SINK, DropReason


class PackingSchedule:
    """When nodes send what they hold."""

    def __init__(self, *, delay_us: int, depth_max: int, hop_us: int) -> None:
        assert delay_us > 0, delay_us
        self.slot_us = min(hop_us, delay_us // (2 * depth_max))
        """How much later a node sends than those one hop further from the sink."""
        self.period_us = delay_us - depth_max * self.slot_us
        self._depth_max = depth_max

    def send_us(self, depth: int, now_us: int) -> int:
        """When a node `depth` hops from the sink sends next, from `now_us` on."""
        phase_us = max(0, self._depth_max - depth) * self.slot_us
        return now_us + (phase_us - now_us) % self.period_us


class _Item:
    """Something on its way to the sink."""

    __slots__ = ("body", "left_us", "since_us")

    def __init__(self, body: Any, left_us: int, since_us: int) -> None:  # noqa: ANN401 (whatever is packed)
        self.body = body
        self.left_us = left_us
        """How long it may still be held."""
        self.since_us = since_us
        """Since when it is held where it is."""


class Packing:
    """Carries items from nodes to the sink in as few messages as their delay allows."""

    def __init__(
        self,
        ports: Ports,
        kind: MessageKind,
        *,
        delay_us: int,
        hop_us: int,
        size_of: Callable[[Sequence[Any], int], int],
        deliver: Callable[[Any], None],
        on_lost: Callable[[Any, int, DropReason], None],
    ) -> None:
        """Carry items in messages of `kind`.

        Args:
            ports: The network.
            kind: Of the messages.
            delay_us: How long an item may be held in all.
            hop_us: About the longest that one hop takes.
            size_of: Bytes of a message that carries these items, sent at a time.
            deliver: Takes an item at the sink.
            on_lost: Called with an item that was lost, where, and why.
        """
        self._clock = ports.clock
        self._links = ports.links
        self._way = ports.way
        self._local_us = ports.local_us
        self._kind = kind
        self._schedule = PackingSchedule(
            delay_us=delay_us, depth_max=ports.way.depth_max(), hop_us=hop_us
        )
        self._delay_us = delay_us
        self._size_of = size_of
        self._deliver = deliver
        self._on_lost = on_lost
        self._held: dict[int, list[_Item]] = {}
        self._due_us: dict[int, int] = {}
        ports.links.attach(kind, self._on_arrival, self._on_message_lost)

    def send(self, node: int, body: Any) -> None:  # noqa: ANN401
        """Send an item from `node` to the sink, within its time."""
        self._hold(node, [_Item(body, self._delay_us, self._clock.now_us)])

    def on_down(self, node: int) -> None:
        """Lose what a mote held that went down."""
        self._due_us.pop(node, None)
        for item in self._held.pop(node, []):
            self._on_lost(item.body, node, DropReason.STATE_LOST)

    def close(self, on_air: Sequence[Message]) -> list[Any]:
        """What is held or on air at the end of the run."""
        bodies = [item.body for node in sorted(self._held) for item in self._held[node]]
        for message in on_air:
            if message.kind == self._kind:
                bodies += [item.body for item in message.body]
        return bodies

    def _hold(self, node: int, items: list[_Item]) -> None:
        now_us = self._clock.now_us
        wait_us = self._wait_us(node)
        if any(item.left_us < wait_us for item in items):
            wait_us = 0
        self._held.setdefault(node, []).extend(items)
        due_us = now_us + wait_us
        known_us = self._due_us.get(node)
        if known_us is None or due_us < known_us:
            self._due_us[node] = due_us
            self._clock.call_at(due_us, self._send, node)

    def _wait_us(self, node: int) -> int:
        """How long until the node sends next, by its own clock."""
        local_us = self._local_us(node, self._clock.now_us)
        return self._schedule.send_us(self._way.depth(node), local_us) - local_us

    def _send(self, node: int) -> None:
        now_us = self._clock.now_us
        if self._due_us.get(node) != now_us:
            return  # sent earlier, or the node went down
        del self._due_us[node]
        items = self._held.pop(node)
        hop = self._way.next_hop(node)
        if hop is None:
            for item in items:
                self._on_lost(item.body, node, DropReason.UNREACHABLE)
            return
        for item in items:
            item.left_us = max(0, item.left_us - (now_us - item.since_us))
        size = self._size_of([item.body for item in items], now_us)
        self._links.unicast(self._kind, node, hop, size, items, now_us)

    def _on_arrival(self, message: Message) -> None:
        items: list[_Item] = message.body
        if message.target == SINK:
            for item in items:
                self._deliver(item.body)
            return
        for item in items:
            item.since_us = self._clock.now_us
        self._hold(message.target, items)

    def _on_message_lost(self, message: Message, reason: DropReason) -> None:
        items: list[_Item] = message.body
        here = message.source
        if reason is DropReason.DEAD and self._links.alive[here] and message.target != SINK:
            # The next hop is dead: what it should have forwarded takes another path, at once.
            for item in items:
                item.left_us, item.since_us = 0, self._clock.now_us
            self._hold(here, items)
            return
        for item in items:
            self._on_lost(item.body, message.target, reason)
