"""The air: messages with airtime, energy and loss, under an ideal MAC (no contention).

What happens to a message, in order:

1. The sender pays for the transmission when it hands the message over. If its battery cannot, the mote
   dies and nothing goes on air.
2. The message is on air for its airtime and then takes the radio's turnaround to be in memory. Losses
   are drawn per kind and sender, so that two strategies meet the same losses on the same readings.
3. A lost message costs its receiver nothing. One that arrives is paid for by the receiver; if the
   receiver is dead, or dies paying, the message ends as `dead`.
4. A sender that dies while its message is on air does not take the message with it.

Every message ends in exactly one row of the log: delivered, lost, dead or in flight when the run ends.
"""

from collections.abc import Callable, Iterable, Sequence

from network.contract import Handler, LossHandler, Message, NodeId
from network.ledger import Ledger
from network.profile import Profile
from network.topology import Placement
from sim.kernel import Kernel
from sim.records import DropReason, Outcome
from sim.rng import RandomStreams

LogRow = tuple[int, str, NodeId, NodeId | None, int, str, int | None, int, int]
"""As the `messages` table: at_us, kind, source, target, bytes, outcome, arrived_us, addressed, received."""


class Announcement:
    """A broadcast on air."""

    __slots__ = ("listeners", "message", "on_heard")

    def __init__(
        self,
        message: Message,
        listeners: list[NodeId],
        on_heard: Callable[[NodeId, list[NodeId]], None],
    ) -> None:
        self.message = message
        self.listeners = listeners
        self.on_heard = on_heard


class IdealAir:
    """Unit-disk broadcasts and power-controlled unicasts without contention."""

    def __init__(
        self,
        kernel: Kernel,
        ledger: Ledger,
        placement: Placement,
        profile: Profile,
        streams: RandomStreams,
        *,
        loss: float,
        control_kinds: Iterable[str],
    ) -> None:
        self._kernel = kernel
        self._ledger = ledger
        self._placement = placement
        self._profile = profile
        self._streams = streams
        self._loss = loss
        self._control = frozenset(control_kinds)
        self._receive_j_per_byte = profile.receive_j_per_byte
        self._airtime_us_per_byte = profile.airtime_us_per_byte
        self._header_bytes = profile.header_bytes
        self._link_j_per_byte: dict[int, float] = {}
        self._loss_draws: dict[tuple[str, NodeId], Callable[[], float]] = {}
        self._handlers: dict[str, tuple[Handler, LossHandler]] = {}
        self.alive = ledger.alive
        self.log: list[LogRow] = []
        """Finished transmissions since the log was last taken."""
        self.receptions: list[tuple[int, str, int, list[NodeId]]] = []
        """Broadcast copies received: arrived_us, kind, bytes, who."""

    def attach(self, kind: str, handler: Handler, on_loss: LossHandler) -> None:
        """Say who takes messages of `kind`, and who is told when one is lost."""
        assert kind not in self._handlers, kind
        self._handlers[kind] = (handler, on_loss)

    def unicast(
        self, kind: str, source: NodeId, target: NodeId, body_bytes: int, body: object, at_us: int
    ) -> int:
        """Send one message, its transmission starting at `at_us`; returns its bytes on air."""
        size = self._header_bytes + body_bytes
        message = Message(kind, source, target, size, body, at_us)
        if not self._transmit(kind, source, size * self._j_per_byte(source, target), at_us):
            self._handlers[kind][1](message, DropReason.DEAD)
            return 0
        if self._loss and self._is_lost(kind, source):
            message.lost = True
        self._kernel.call_at(at_us + self._flight_us(size), self._arrive, message)
        return size

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
        """Announce to all live `listeners` at the power that reaches `range_m`."""
        size = self._header_bytes + body_bytes
        joules = size * self._profile.transmit_j_per_byte(range_m)
        if not self._transmit(kind, source, joules, at_us):
            return
        alive = self.alive
        message = Message(kind, source, source, size, None, at_us)
        announcement = Announcement(message, [n for n in listeners if alive[n]], on_heard)
        self._kernel.call_at(at_us + self._flight_us(size), self._hear, announcement)

    def close(self) -> list[Message]:
        """Log what is still on air as in flight; returns those unicasts."""
        messages = self._kernel.pending(self._arrive)
        messages.sort(key=lambda m: (m.at_us, m.source, m.target))
        for m in messages:
            self.log.append(
                (m.at_us, m.kind, m.source, m.target, m.bytes, Outcome.IN_FLIGHT, None, 1, 0)
            )
        announcements = self._kernel.pending(self._hear)
        announcements.sort(key=lambda a: (a.message.at_us, a.message.source))
        for a in announcements:
            m = a.message
            addressed = len(a.listeners)
            self.log.append(
                (m.at_us, m.kind, m.source, None, m.bytes, Outcome.IN_FLIGHT, None, addressed, 0)
            )
        return messages

    def earliest_on_air_us(self) -> int:
        """When the oldest message still on air was sent; now if there is none."""
        on_air = self._kernel.pending(self._arrive)
        on_air += [a.message for a in self._kernel.pending(self._hear)]
        return min((m.at_us for m in on_air), default=self._kernel.now_us)

    def _transmit(self, kind: str, source: NodeId, joules: float, at_us: int) -> bool:
        """Charge the sender; False if it is, or thereby becomes, dead."""
        if source < 0:  # the sink is on mains
            return True
        ledger = self._ledger
        if not ledger.alive[source]:
            return False
        if kind in self._control:
            ledger.control_j[source] += min(joules, ledger.residual_j[source])
        if not ledger.draw(source, ledger.tx_j, joules):
            return False
        ledger.paid_until_us[source] = max(ledger.paid_until_us[source], at_us)
        return True

    def _receive(self, kind: str, target: NodeId, size: int) -> bool:
        """Charge the receiver; False if it is, or thereby becomes, dead."""
        if target < 0:
            return True
        ledger = self._ledger
        if not ledger.alive[target]:
            return False
        joules = size * self._receive_j_per_byte
        if kind in self._control:
            ledger.control_j[target] += min(joules, ledger.residual_j[target])
        return ledger.draw(target, ledger.rx_j, joules)

    def _arrive(self, message: Message) -> None:
        kind = message.kind
        target = message.target
        handler, on_loss = self._handlers[kind]
        if message.lost:
            outcome, reason = Outcome.LOST, DropReason.LOST
        elif self._receive(kind, target, message.bytes):
            now_us = self._kernel.now_us
            self.log.append(
                (
                    message.at_us,
                    kind,
                    message.source,
                    target,
                    message.bytes,
                    Outcome.DELIVERED,
                    now_us,
                    1,
                    1,
                )
            )
            handler(message)
            return
        else:
            outcome, reason = Outcome.DEAD, DropReason.DEAD
        self.log.append(
            (message.at_us, kind, message.source, target, message.bytes, outcome, None, 1, 0)
        )
        on_loss(message, reason)

    def _hear(self, announcement: Announcement) -> None:
        message = announcement.message
        kind, source, size = message.kind, message.source, message.bytes
        listeners = announcement.listeners
        if self._loss:
            listeners = [n for n in listeners if not self._is_lost(kind, source)]
        heard = [n for n in listeners if self._receive(kind, n, size)]
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

    def _flight_us(self, size: int) -> int:
        return round(size * self._airtime_us_per_byte) + self._profile.turnaround_us

    def _j_per_byte(self, source: NodeId, target: NodeId) -> float:
        key = source * 0x1_0000_0000 + target
        joules = self._link_j_per_byte.get(key)
        if joules is None:
            distance_m = self._placement.distance_m(source, target)
            joules = self._link_j_per_byte[key] = self._profile.transmit_j_per_byte(distance_m)
        return joules

    def _is_lost(self, kind: str, source: NodeId) -> bool:
        draw = self._loss_draws.get((kind, source))
        if draw is None:
            draw = self._streams.scalar(f"radio.loss.{kind}", source).random
            self._loss_draws[kind, source] = draw
        return draw() < self._loss
