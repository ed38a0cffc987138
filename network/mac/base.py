"""The base of every MAC: message handlers, charges and the log.

What happens to a message, whatever the MAC:

1. The sender pays for each transmission. If its battery cannot, the mote dies and nothing goes on air.
2. A lost frame costs its receiver nothing beyond listening. One that arrives is paid for by the receiver; if
   the receiver is dead, or dies paying, it ends as `dead`.
3. A frame that is on air when its sender dies is not cut off.

Every transmission ends in exactly one row of the log: delivered, lost, collided, duplicate, dead, or in flight
when the run ends.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol

from network.contract import (
    Air,
    Handler,
    LossHandler,
    Message,
    NodeId,
    Processors,
    Service,
)
from network.ledger import Ledger
from network.listening import Listening
from network.membership import Membership
from network.radio.channel import Channel
from network.radio.frame_loss import Medium
from network.radio.profile import Profile
from network.transmission_log import TransmissionLog
from network.visits import visitor
from sim.kernel import Kernel
from sim.memo import Memo
from sim.rng import RandomStreams
from sim.trace.kinds import CONTROL_KINDS
from sim.trace.tables import DropReason, Outcome

Hearing = Callable[[NodeId, list[NodeId]], None]
"""Called when a broadcast has ended, with its source and the nodes that heard it."""

PAIRS_KEPT: Final = 32_768
"""Pairs of source and target of which the energy to send is kept: heads change, and over time any two motes may be a pair."""

OUTCOMES: Final = {
    DropReason.LOST: Outcome.LOST,
    DropReason.UNREACHABLE: Outcome.LOST,
    DropReason.COLLIDED: Outcome.COLLIDED,
    DropReason.DEAD: Outcome.DEAD,
    DropReason.SINK_DOWN: Outcome.DEAD,
}
"""How a transmission ended whose message was dropped for a reason."""


@dataclass(frozen=True, slots=True)
class MacTraits:
    """The properties of a MAC that other layers depend on; no layer checks its name or class."""

    acknowledges: bool = False
    """Whether senders notice losses, and send again."""
    can_lose: bool = False
    """Whether it loses messages between nodes that work and are in range."""
    contends: bool = False
    """Whether motes that send at the same time interfere with each other."""
    owns_sleep: bool = False
    """Whether it turns radios on and off itself, so that it cannot be combined with a duty cycle."""


@dataclass(frozen=True, slots=True)
class MacParts:
    """What every MAC is made from."""

    kernel: Kernel
    ledger: Ledger
    channel: Channel
    profile: Profile
    streams: RandomStreams
    membership: Membership
    medium: Medium | None = None
    """Frame loss, jitter and outages; None if there are none."""
    listening: Listening | None = None
    """The account of idle radios; None if they draw nothing and never sleep."""
    overhearing: bool = False
    """Whether motes in range pay for frames that are not for them."""
    control_kinds: Iterable[str] = CONTROL_KINDS
    """Message kinds whose energy counts as control."""


class LoggedAir(Air, Protocol):
    """An air that keeps a log of its transmissions."""

    log: TransmissionLog
    receptions: list[tuple[int, str, int, list[NodeId]]]

    def close(self) -> list[Message]:
        """Log what is still on air as in flight; returns the unicasts that have not arrived."""

    def earliest_on_air_us(self) -> int:
        """When the oldest message still on air was sent; now if there is none."""


class Mac(LoggedAir, Protocol):
    """Carries messages over one hop."""

    traits: ClassVar[MacTraits]

    def cancel(self, node: NodeId) -> None:
        """Cancel what a mote that crashed or was removed has not begun to send."""


class BaseAir(ABC):
    """Handlers, charges and the log; a MAC adds the timing."""

    traits: ClassVar[MacTraits] = MacTraits()

    def __init__(self, parts: MacParts) -> None:
        kernel, ledger, channel, profile = parts.kernel, parts.ledger, parts.channel, parts.profile
        listening = parts.listening
        self._kernel = kernel
        self._ledger = ledger
        self._draw = ledger.draw
        self._tx_j, self._rx_j = ledger.tx_j, ledger.rx_j
        self._paid_until_us = ledger.paid_until_us
        self._channel = channel
        self._profile = profile
        self._medium = parts.medium
        self._listening = listening
        self._listens = listening is not None
        self._overhearing = parts.overhearing
        self._control = frozenset(parts.control_kinds)
        self._receive_j_per_byte = profile.receive_j_per_byte
        self._header_bytes = profile.header_bytes
        self._payload_bytes_max = profile.payload_bytes_max
        self._handlers: dict[str, tuple[Handler, LossHandler]] = {}
        byte_us = profile.airtime_us_per_byte
        self._airtime_us: Memo[int, int] = Memo(lambda size: round(size * byte_us))
        """By bytes on air."""
        self._flights: Memo[int, tuple[int, int]] = Memo(self._flight)
        """By bytes of body, frames sent without a break: bytes on air, time until they are in memory."""
        self._transmit_j_per_byte_from: Memo[NodeId, Memo[NodeId, float]] = Memo(
            lambda source: Memo(lambda target: self._rate_between(source, target))
        )
        """By source, then target."""
        self._pairs = 0
        """How many of these there are."""
        self.alive = ledger.alive
        self.log = TransmissionLog()
        """Finished transmissions since the log was last taken."""
        self.receptions: list[tuple[int, str, int, list[NodeId]]] = []
        """Broadcast copies received: arrived_us, kind, bytes, who."""
        parts.membership.when_election_begins(self._begin_election)
        parts.membership.when_changed(self._begin_round)

    def attach(self, kind: str, handler: Handler, on_loss: LossHandler) -> None:
        """Register delivery and loss handlers for messages of `kind`."""
        assert kind not in self._handlers, kind
        self._handlers[kind] = (handler, on_loss)

    def attach_service(self, kind: str, service: Service, cpus: Processors) -> None:
        """Have motes serve messages of `kind` on their CPUs and send them on."""
        self.attach(kind, visitor(self, cpus, service), service.lose)

    @abstractmethod
    def unicast(
        self, kind: str, source: NodeId, target: NodeId, body_bytes: int, body: object, at_us: int
    ) -> int:
        """Send one message, its transmission starting at `at_us`; returns its bytes on air."""

    def _begin_election(self) -> None:
        """An election begins: all radios go on."""
        if self._listening is not None:
            self._listening.wake_all()

    def _begin_round(self) -> None:
        """Motes have their heads: radios go back to their duty cycle."""
        if self._listening is not None:
            self._listening.resume()

    def _transmit(self, kind: str, source: NodeId, size: int, joules: float, at_us: int) -> bool:
        """Charge the sender; False if it is, or thereby becomes, dead."""
        if source < 0:  # the sink is on mains
            return True
        if self._listens or kind in self._control:
            self._note(kind, source, size, joules)
        if not self._draw(source, self._tx_j, joules):
            return False
        if at_us > self._paid_until_us[source]:  # noqa: PLR1730 (`max` would be a call)
            self._paid_until_us[source] = at_us
        return True

    def _receive(self, kind: str, target: NodeId, size: int) -> bool:
        """Charge the receiver; False if it is, or thereby becomes, dead."""
        if target < 0:
            return True
        joules = size * self._receive_j_per_byte
        if self._listens or kind in self._control:
            self._note(kind, target, size, joules)
        return self._draw(target, self._rx_j, joules)

    def _receive_copies(self, kind: str, nodes: list[NodeId], size: int) -> list[NodeId]:
        """Charge the receivers of a broadcast; returns those that are alive and can pay."""
        if self._listens:
            return [node for node in nodes if self._receive(kind, node, size)]
        joules = size * self._receive_j_per_byte
        control = kind in self._control
        place = self._ledger.draw_receptions(nodes, 0, joules, control=control)
        if place == len(nodes):  # nearly always
            return nodes
        heard = nodes[:place]
        while place < len(nodes):
            if self._receive(kind, nodes[place], size):
                heard.append(nodes[place])
            first = place + 1
            place = self._ledger.draw_receptions(nodes, first, joules, control=control)
            heard += nodes[first:place]
        return heard

    def _note(self, kind: str, node: NodeId, size: int, joules: float) -> None:
        """Record a charge as control energy if it is, and how long it keeps the radio busy."""
        if not self.alive[node]:
            return
        if kind in self._control:
            self._ledger.control_j[node] += min(joules, self._ledger.residual_j[node])
        if self._listening is not None:
            self._listening.note_busy(node, self._airtime_us[size])

    def _overhear(self, source: NodeId, target: NodeId, size: int) -> None:
        """Charge all motes that are awake and hear a frame meant for another."""
        ledger, listening = self._ledger, self._listening
        joules = size * self._receive_j_per_byte
        for node in self._in_earshot(source, target):
            if node == target or not ledger.alive[node]:
                continue
            if listening is not None:
                if listening.is_asleep(node):
                    continue
                listening.note_busy(node, self._airtime_us[size])
            ledger.draw(node, ledger.overhear_j, joules)

    def _in_earshot(self, source: NodeId, target: NodeId) -> Sequence[NodeId]:
        """The motes that hear what `source` sends to `target`, if they listen."""
        return self._channel.audience((source, target))

    def _rate_between(self, source: NodeId, target: NodeId) -> float:
        """Joules per byte that a sender spends; what is kept of others is forgotten when there are too many."""
        self._pairs += 1
        if self._pairs > PAIRS_KEPT:
            self._transmit_j_per_byte_from.clear()
            self._pairs = 1
        return self._channel.transmit_j_per_byte(source, target)

    def _frame_sizes(self, body_bytes: int) -> list[int]:
        """Bytes on air of each frame of a message."""
        most = self._payload_bytes_max
        full, rest = divmod(body_bytes, most)
        bodies = [most] * full + ([rest] if rest or not full else [])
        return [self._header_bytes + body for body in bodies]

    def _flight(self, body_bytes: int) -> tuple[int, int]:
        size = self._profile.on_air_bytes(body_bytes)
        return size, self._airtime_us[size] + self._profile.turnaround_us

    def _log_end(self, message: Message, reason: DropReason) -> None:
        """Log a unicast that did not arrive."""
        row = (message.at_us, message.kind, message.source, message.target, message.bytes)
        self.log.append((*row, OUTCOMES[reason], None, 1, 0))
