"""TDMA inside clusters: every member has its slot in its cluster's frame and sleeps the rest of the time.

After each election a head gives its members slots in order of their numbers (as in LEACH, Heinzelman et al.
2002). In clusters of several hops every relay does so for the motes that send to it, and stays awake for them; "head"
below then means the next hop of a member. A slot holds one radio frame of `slot_bytes` payload with a guard time
before and after it, to allow for clocks that differ. Messages between a member and its head wait for the member's
slot; longer ones take the member's slot in as many frames as they need.

Scope: neighbouring clusters are assumed to use different codes or channels, as in LEACH, and so do not disturb
each other. Heads keep their radios on. Messages between heads, to or from the sink, from a member to another node
than its head, or during an election, when all radios are on, are sent at once as in the ideal MAC. A member that
receives such a message, as a relay on a route or a former head, keeps its radio on until the next election.
The schedule itself follows from the election's outcome and costs no message.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from network.contract import Message, NodeId
from network.mac.base import MacParts, MacTraits
from network.mac.ideal import IdealAir
from sim.trace.tables import DropReason


@dataclass(frozen=True, slots=True)
class TdmaOptions:
    """The scenario's settings for slots."""

    slot_bytes: int
    """Payload that fits in one slot."""
    guard_us: int
    """Silence before and after the frame of a slot."""
    queue: int
    """Messages a mote can hold for sending."""


class TdmaAir(IdealAir):
    """Slotted traffic between members and heads."""

    traits = MacTraits(owns_sleep=True)

    def __init__(self, parts: MacParts, options: TdmaOptions) -> None:
        assert parts.listening is not None, (
            "slots need the account of radios that sleep outside them"
        )
        self._radios = parts.listening
        self._membership = parts.membership
        super().__init__(parts)
        profile, guard_us = parts.profile, options.guard_us
        self._slot_payload = min(options.slot_bytes, profile.payload_bytes_max)
        self._guard_us = guard_us
        self._queue = options.queue
        self.slot_us = 2 * guard_us + self._airtime_us[profile.header_bytes + self._slot_payload]
        """Length of one slot."""
        self._head_of: list[NodeId] = []
        self._position: list[int] = []
        self._frame_us: list[int] = []
        self._began_us = 0
        self._free_us: list[int] = []
        """From when on each member's slots are free."""

    def _begin_election(self) -> None:
        """Turn all radios on until the next schedule."""
        self._head_of = []
        self._radios.wake_all()

    def _begin_round(self) -> None:
        """Assign slots to members, which sleep outside them unless they relay for others."""
        self._head_of = head_of = list(self._membership.via)
        self._began_us = self._kernel.now_us
        self._free_us = [self._began_us] * len(head_of)
        self._position = [0] * len(head_of)
        members: dict[NodeId, int] = {}
        for node, head in enumerate(head_of):
            if head >= 0 and head != node:
                self._position[node] = members.get(head, 0)
                members[head] = self._position[node] + 1
        for node, head in enumerate(head_of):
            if head >= 0 and head != node and node not in members:
                self._radios.set_asleep(node, asleep=True)
        self._frame_us = [members.get(head, 0) * self.slot_us for head in head_of]

    def unicast(
        self, kind: str, source: NodeId, target: NodeId, body_bytes: int, body: object, at_us: int
    ) -> int:
        """Send one message in its slot if it has one, else at `at_us`; returns its bytes on air."""
        member = self._member_of(source, target)
        if member is None or not self.alive[source]:
            if target >= 0 and self._radios.is_asleep(target) and self.alive[source]:
                self._radios.set_asleep(target, asleep=False)
            return super().unicast(kind, source, target, body_bytes, body, at_us)
        frames = max(1, -(-body_bytes // self._slot_payload))
        size = body_bytes + frames * self._header_bytes
        first_us = self._next_slot(member, at_us)
        frame_us = self._frame_us[member]
        message = Message(kind, source, target, size, body, first_us + self._guard_us)
        if first_us - at_us >= self._queue * frame_us:
            self._handlers[kind][1](message, DropReason.QUEUE_FULL)
            return 0
        last_us = first_us + (frames - 1) * frame_us
        self._free_us[member] = last_us + self.slot_us
        rest_bytes = self._header_bytes + body_bytes - (frames - 1) * self._slot_payload
        arrives_us = last_us + self._guard_us + self._airtime_us[rest_bytes]
        arrives_us += self._profile.turnaround_us
        medium = self._medium
        if medium is not None:
            arrives_us += medium.delay_us(source)
        joules = size * self._transmit_j_per_byte_from[source][target]
        if not self._transmit(kind, source, size, joules, message.at_us):
            self._handlers[kind][1](message, DropReason.DEAD)
            return 0
        # If asleep, awake for the guard time before each frame, for a receiver whose clock is ahead.
        self._radios.charge_awake(member, frames * self._guard_us)
        if medium is not None:
            sizes = [self._header_bytes + self._slot_payload] * (frames - 1) + [rest_bytes]
            message.drop = medium.fate(kind, source, target, sizes, arrives_us)
        if self._overhearing:
            self._overhear(source, target, size)
        self._kernel.call_at(arrives_us, self._arrive, message)
        return size

    def _in_earshot(self, source: NodeId, target: NodeId) -> Sequence[NodeId]:
        """The motes that hear a message: one in a slot is heard only in its cluster, since others use other codes."""
        nodes = super()._in_earshot(source, target)
        member = self._member_of(source, target)
        if member is None:
            return nodes
        head = self._head_of[member]
        return [node for node in nodes if head in (node, self._head_of[node])]

    def _member_of(self, source: NodeId, target: NodeId) -> NodeId | None:
        """The member whose slot a message goes in, if it goes in one."""
        if not self._head_of or source < 0 or target < 0:
            return None
        if self._head_of[source] == target != source:
            return source
        return target if self._head_of[target] == source != target else None

    def _next_slot(self, member: NodeId, at_us: int) -> int:
        """When the first free slot of `member` begins, at `at_us` or later."""
        first_us = self._began_us + self._position[member] * self.slot_us
        since_us = max(at_us, self._free_us[member]) - first_us
        return first_us + max(0, -(-since_us // self._frame_us[member])) * self._frame_us[member]
