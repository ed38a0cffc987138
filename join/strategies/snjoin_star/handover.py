"""Hand-over: a head that steps down sends its readings to their motes' new heads.

It sends them once, and only those that are still in the window. It goes on answering the requests that are on their way to it.
"""

from join.reading import HeldReading
from join.strategies.contract import Ports
from join.strategies.message_sizes import HELD_READING_BYTES
from join.strategies.snjoin_star.heads import Heads
from network.contract import Message
from sim.trace.kinds import HANDOVER, STATE
from sim.trace.tables import DropReason


class Handover:
    """Moves held readings when motes switch heads."""

    def __init__(self, ports: Ports, heads: Heads) -> None:
        self._clock = ports.clock
        self._links = ports.links
        self._membership = ports.membership
        self._accounts = ports.accounts
        self._heads = heads
        self._local_us = ports.local_us
        self._handed: set[int] = set()
        """Motes that stepped down and have handed their readings over; until they are heads again."""
        ports.links.attach(HANDOVER, self._on_handover, self._on_lost)
        ports.membership.when_changed(self._empty_old_heads)

    def pass_on(self, node: int, held: HeldReading) -> None:
        """Forward a reading that came too late to be moved to its mote's head, if that is no longer `node`."""
        mote = held[2]
        assert isinstance(mote, int), mote
        if self._membership.head_of[mote] != node:
            self._hand_over(node, [held])

    def _empty_old_heads(self) -> None:
        head_of, now_us = self._membership.head_of, self._clock.now_us
        for node in sorted(self._heads):
            if head_of[node] == node:
                self._handed.discard(node)
            elif node not in self._handed:
                self._handed.add(node)
                table = self._heads[node].table
                kept_us = table.window_us + table.late_us
                oldest_us = self._local_us(node, now_us) - kept_us
                self._hand_over(node, [held for held in table.held() if held[0] >= oldest_us])

    def _hand_over(self, node: int, readings: list[HeldReading]) -> None:
        """Send readings that `node` holds to their motes' heads."""
        by_head: dict[int, list[HeldReading]] = {}
        for held in readings:
            mote = held[2]
            assert isinstance(mote, int), mote
            head = self._membership.head_of[mote]
            if head not in {node, -1}:
                by_head.setdefault(head, []).append(held)
        for head, moved in by_head.items():
            size = len(moved) * HELD_READING_BYTES
            self._links.unicast(HANDOVER, node, head, size, moved, self._clock.now_us)

    def _on_handover(self, message: Message) -> None:
        moved: list[HeldReading] = message.body
        table = self._heads[message.target].table
        for at_us, value, mote, stamp in moved:
            own = (table.find(value) or {}).get(mote, ())
            if all(record[1] != stamp for record in own):  # it may come back to where it was before
                table.insert(value, mote, at_us, stamp)

    def _on_lost(self, message: Message, reason: DropReason) -> None:
        moved: list[HeldReading] = message.body
        for at_us, _, mote, _ in moved:
            assert isinstance(mote, int), mote
            self._accounts.lost(STATE, message.target, reason, self._clock.now_us, mote, at_us)
