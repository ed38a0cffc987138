"""Which head each mote belongs to: written by clustering, read by routing, MAC and join.

It is created before all of them. Parts that act on a change register a listener; listeners are called in the order of
registration.
"""

from collections.abc import Callable, Sequence

from network.contract import NodeId


class Membership:
    """Each mote's head, the paths to heads, and the listeners to call when they change.

    Every sequence has an entry for each mote; -1 means none.
    """

    def __init__(self, motes: int) -> None:
        self.head_of: Sequence[NodeId] = [-1] * motes
        """The head of each mote; a head's is itself."""
        self.via: Sequence[NodeId] = [-1] * motes
        """The next hop from each mote to its head."""
        self.up: Sequence[NodeId] | None = None
        """By head: the head above it, or the sink; None if all heads send straight to the sink."""
        self._election_listeners: list[Callable[[], None]] = []
        self._change_listeners: list[Callable[[], None]] = []
        self._head_loss_listeners: list[Callable[[NodeId], None]] = []

    def when_election_begins(self, listener: Callable[[], None]) -> None:
        """Register `listener`, called as an election begins."""
        self._election_listeners.append(listener)

    def when_changed(self, listener: Callable[[], None]) -> None:
        """Register `listener`, called when motes have switched to new heads."""
        self._change_listeners.append(listener)

    def when_head_lost(self, listener: Callable[[NodeId], None]) -> None:
        """Register `listener`, called with each mote that finds its head, or the way to it, dead."""
        self._head_loss_listeners.append(listener)

    def begin_election(self) -> None:
        """Announce that an election begins; members keep their heads until it is over."""
        for listener in self._election_listeners:
            listener()

    def set_levels(self, up: Sequence[NodeId] | None) -> None:
        """Set the head above each head; None: no levels."""
        self.up = up

    def assign(self, head_of: Sequence[NodeId], via: Sequence[NodeId]) -> None:
        """Switch every mote to its new head."""
        self.head_of = head_of
        self.via = via
        for listener in self._change_listeners:
            listener()

    def report_lost_head(self, node: NodeId) -> None:
        """Report that `node` has found its head, or the next mote on the way to it, dead."""
        for listener in self._head_loss_listeners:
            listener(node)
