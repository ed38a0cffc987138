"""The state of a contending MAC: messages in send queues, and frames on air."""

from itertools import pairwise

from network.contract import NodeId
from network.mac.base import Hearing
from network.message import Message
from network.radio.channel import Emission
from sim.trace.kinds import MAC_ACK
from sim.trace.tables import DropReason


class Job:
    """A message in a mote's send queue, frame by frame."""

    __slots__ = (
        "attempts",
        "awaiting",
        "backoffs",
        "done",
        "exponent",
        "failed",
        "frame_sizes",
        "heard",
        "hearing",
        "is_flying",
        "listeners",
        "message",
        "orphaned",
        "position",
        "range_m",
        "received",
        "sequence",
    )

    def __init__(self, message: Message, frame_sizes: list[int]) -> None:
        self.message = message
        self.frame_sizes = frame_sizes
        self.position = 0
        """Which frame is being sent."""
        self.received = 0
        """How many frames the target has received."""
        self.listeners: list[NodeId] | None = None
        """Of a broadcast: the nodes that should hear it."""
        self.heard: set[NodeId] = set()
        """Of a broadcast: the nodes that have heard all of it so far."""
        self.hearing: Hearing | None = None
        self.range_m = 0.0
        self.sequence = 0
        self.backoffs = 0
        self.exponent = 0
        self.attempts = 0
        self.awaiting: Frame | None = None
        """The frame whose acknowledgement is due."""
        self.is_flying = False
        self.failed: DropReason | None = None
        """Reason of the last failure."""
        self.done = False
        """Whether the sender is done with it."""
        self.orphaned = False
        """Whether its sender died while a frame was on air."""

    @property
    def target(self) -> NodeId | None:
        """The node that its frames are for; None: a broadcast."""
        return self.message.target if self.listeners is None else None


class Frame:
    """One frame on air."""

    __slots__ = (
        "emission",
        "end_us",
        "is_ack",
        "job",
        "overlaps",
        "size",
        "source",
        "start_us",
        "target",
    )

    def __init__(
        self, job: Job, source: NodeId, target: NodeId | None, size: int, start_us: int, end_us: int
    ) -> None:
        self.job = job
        self.source = source
        self.target = target
        self.emission: Emission = (source, target)
        """The frame as the channel needs it."""
        self.size = size
        self.start_us = start_us
        self.end_us = end_us
        self.is_ack = False
        self.overlaps: list[Frame] = []
        """Frames that were on air at the same time."""

    def emissions(self) -> list[Emission]:
        """What else was on air while this frame was."""
        return [other.emission for other in self.overlaps]

    def sent(self) -> tuple[int, str, NodeId, NodeId | None, int]:
        """The first columns of its row in the log: at_us, kind, source, target, bytes."""
        kind = MAC_ACK if self.is_ack else self.job.message.kind
        return (self.start_us, kind, self.source, self.target, self.size)

    def shares(self) -> list[tuple[float, list[Emission]]]:
        """The frame's airtime cut where other frames began or ended: share, and what else was on air."""
        inside = {self.start_us, self.end_us}
        for other in self.overlaps:
            inside.update(t for t in (other.start_us, other.end_us) if self._covers(t))
        cuts = sorted(inside)
        airtime_us = self.end_us - self.start_us
        return [
            (
                (until_us - since_us) / airtime_us,
                [
                    other.emission
                    for other in self.overlaps
                    if other.start_us < until_us and other.end_us > since_us
                ],
            )
            for since_us, until_us in pairwise(cuts)
        ]

    def _covers(self, at_us: int) -> bool:
        return self.start_us < at_us < self.end_us
