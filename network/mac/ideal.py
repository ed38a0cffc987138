"""The ideal MAC: every message has the air to itself.

1. A message is on air for its airtime and then takes the radio's turnaround to be in memory. A message of
   several frames is sent without a break, each frame with its header.
2. Loss and jitter of a message are decided when it is sent, drawn per kind and sender, so that two
   strategies have the same losses on the same readings.
"""

from collections.abc import Sequence
from typing import Final

from network.contract import Handler, Message, NodeId
from network.mac.base import BaseAir, Hearing, MacParts
from sim.memo import Memo
from sim.trace.tables import SINK, DropReason, Outcome

DELIVERED: Final = Outcome.DELIVERED.value
"""As plain text: the garbage collector does not track rows of plain values."""


class Announcement:
    """A broadcast on air."""

    __slots__ = ("listeners", "message", "on_heard")

    def __init__(self, message: Message, listeners: list[NodeId], on_heard: Hearing) -> None:
        self.message = message
        self.listeners = listeners
        self.on_heard = on_heard


class IdealAir(BaseAir):
    """Broadcasts and unicasts without contention."""

    def __init__(self, parts: MacParts) -> None:
        super().__init__(parts)
        self._arrivals: Memo[str, Handler] = Memo(lambda _kind: self._arrive)
        """By kind: what is called when a unicast arrives."""

    def unicast(
        self, kind: str, source: NodeId, target: NodeId, body_bytes: int, body: object, at_us: int
    ) -> int:
        """Send one message, its transmission starting at `at_us`; returns its bytes on air."""
        size, flight_us = self._flights[body_bytes]
        message = Message(kind, source, target, size, body, at_us)
        arrives_us = at_us + flight_us
        medium = self._medium
        if medium is not None:
            if source == SINK and medium.sink_is_down(at_us):
                self._handlers[kind][1](message, DropReason.SINK_DOWN)
                return 0
            arrives_us += medium.delay_us(source)
        joules = size * self._transmit_j_per_byte_from[source][target]
        if not self._transmit(kind, source, size, joules, at_us):
            self._handlers[kind][1](message, DropReason.DEAD)
            return 0
        if medium is not None:
            sizes = self._frame_sizes(body_bytes)
            message.drop = medium.fate(kind, source, target, sizes, arrives_us)
        if self._overhearing:
            self._overhear(source, target, size)
        self._kernel.call_at(arrives_us, self._arrivals[kind], message)
        return size

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
        """Announce to all live `listeners` at the power that reaches `range_m`."""
        if source == SINK and self._medium is not None and self._medium.sink_is_down(at_us):
            return
        size, flight_us = self._flights[body_bytes]
        joules = size * self._channel.broadcast_j_per_byte(range_m)
        if not self._transmit(kind, source, size, joules, at_us):
            return
        alive = self.alive
        message = Message(kind, source, source, size, body_bytes, at_us)
        announcement = Announcement(message, [n for n in listeners if alive[n]], on_heard)
        self._kernel.call_at(at_us + flight_us, self._hear, announcement)

    def cancel(self, node: NodeId) -> None:
        """Cancel what a mote that went down had still to send, although it is paid for."""
        now_us = self._kernel.now_us
        unsent = [m for m in self._unicasts() if m.source == node]
        for message in sorted(unsent, key=lambda m: (m.at_us, m.target)):
            if message.at_us > now_us and message.drop is not DropReason.DEAD:
                message.drop = DropReason.DEAD
                self._handlers[message.kind][1](message, DropReason.DEAD)
        for announcement in self._kernel.pending(self._hear):
            if announcement.message.source == node and announcement.message.at_us > now_us:
                announcement.message.drop = DropReason.DEAD

    def close(self) -> list[Message]:
        """Log what is still on air as in flight; returns the unicasts that have not arrived, or not set out."""
        now_us = self._kernel.now_us
        messages = [m for m in self._unicasts() if m.drop is not DropReason.DEAD]
        messages.sort(key=lambda m: (m.at_us, m.source, m.target))
        heard = self._kernel.pending(self._hear)
        announcements = [a for a in heard if a.message.drop is None]
        announcements.sort(key=lambda a: (a.message.at_us, a.message.source))
        on_air: list[tuple[Message, NodeId | None, int]] = [(m, m.target, 1) for m in messages]
        on_air += [(a.message, None, len(a.listeners)) for a in announcements]
        for m, target, addressed in on_air:
            if m.at_us < now_us:  # later ones wait for a slot, a radio or a CPU
                row = (m.at_us, m.kind, m.source, target, m.bytes)
                self.log.append((*row, Outcome.IN_FLIGHT, None, addressed, 0))
        return messages

    def earliest_on_air_us(self) -> int:
        """When the oldest message still on air was sent; now if there is none."""
        on_air = self._unicasts()
        on_air += [a.message for a in self._kernel.pending(self._hear)]
        now_us = self._kernel.now_us
        return min((m.at_us for m in on_air if m.at_us < now_us), default=now_us)

    def _unicasts(self) -> list[Message]:
        """Unicasts that have not arrived, in no particular order."""
        return self._kernel.pending(*{*self._arrivals.values(), self._arrive})

    def _arrive(self, message: Message) -> None:
        kind = message.kind
        target = message.target
        size = message.bytes
        reason = message.drop
        if reason is None:
            if self._receive(kind, target, size):
                row = (message.at_us, kind, message.source, target, size)
                self.log.append((*row, DELIVERED, self._kernel.now_us, 1, 1))
                self._handlers[kind][0](message)
                return
            reason = DropReason.DEAD
        elif reason is DropReason.DEAD:
            return  # cancelled, and the loss reported
        self._log_end(message, reason)
        self._handlers[kind][1](message, reason)

    def _hear(self, announcement: Announcement) -> None:
        message = announcement.message
        if message.drop is not None:
            return  # cancelled
        kind, source, size = message.kind, message.source, message.bytes
        listeners = announcement.listeners
        medium = self._medium
        if medium is not None:
            now_us = self._kernel.now_us
            sizes = self._frame_sizes(message.body)
            listeners = [
                n for n in listeners if medium.fate(kind, source, n, sizes, now_us) is None
            ]
        heard = self._receive_copies(kind, listeners, size)
        addressed = len(announcement.listeners)
        if len(heard) == addressed:
            outcome = Outcome.DELIVERED
        else:
            outcome = Outcome.PARTIAL if heard else Outcome.LOST
        now_us = self._kernel.now_us
        self.log.append(
            (message.at_us, kind, source, None, size, outcome, now_us, addressed, len(heard))
        )
        self.receptions.append((now_us, kind, size, heard))
        announcement.on_heard(source, heard)
