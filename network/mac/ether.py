"""The channel that contending motes share: which frames are on air, who hears them, and which can be received."""

from network.contract import NodeId
from network.mac.csma_frames import Frame
from network.radio.channel import Channel
from network.radio.frame_loss import Medium
from sim.trace.tables import DropReason


class Ether:
    """Frames on air now, or so recently that a clear-channel assessment may still have heard them."""

    def __init__(self, channel: Channel, medium: Medium, *, cca_us: int) -> None:
        self._channel = channel
        self._medium = medium
        self._cca_us = cca_us
        self._frames: list[Frame] = []

    def put(self, frame: Frame) -> None:
        """Start a frame, and record its overlap with those on air."""
        for other in self._frames:
            if other.end_us > frame.start_us:
                other.overlaps.append(frame)
                frame.overlaps.append(other)
        self._frames.append(frame)

    def on_air(self, now_us: int) -> list[Frame]:
        """The frames that have not ended before `now_us`, in the order in which they started."""
        return [frame for frame in self._frames if frame.end_us >= now_us]

    def is_busy(self, node: NodeId, now_us: int) -> bool:
        """Whether `node`, having listened for the time of an assessment, heard anybody send."""
        since_us = now_us - self._cca_us
        recent = []
        for frame in self._frames:
            if frame.end_us > since_us:
                recent.append(frame)
        self._frames = recent
        audible = self._channel.audible
        for frame in recent:
            if frame.source == node or audible(frame.emission, node):
                return True
        return False

    def is_sending(self, node: NodeId, now_us: int) -> bool:
        """Whether a frame of `node` itself is on air."""
        for frame in self._frames:
            if frame.source == node and frame.end_us > now_us:
                return True
        return False

    def is_deaf(self, frame: Frame, node: NodeId) -> bool:
        """Whether `node` sent itself while a frame was on air, so that it heard nothing of it."""
        for other in frame.overlaps:
            if other.source == node:
                return True
        return False

    def fate(self, frame: Frame, node: NodeId) -> DropReason | None:
        """Why `node`, alive and listening, does not receive a frame that has ended; None if it does."""
        if not frame.overlaps:
            kind = frame.job.message.kind
            return self._medium.frame_fate(kind, frame.source, node, frame.size)
        return self._amid_others(frame, node)

    def _amid_others(self, frame: Frame, node: NodeId) -> DropReason | None:
        channel, medium = self._channel, self._medium
        if medium.is_lost(frame.job.message.kind, frame.source, node):
            return DropReason.LOST
        alone = channel.rate(frame.source, node, frame.size)
        if alone <= 0.0:
            return DropReason.UNREACHABLE
        start_us, detected, amid = frame.start_us, channel.detected, 0.0
        for other in frame.overlaps:
            if other.start_us < start_us and detected(other.emission, node):
                break  # its radio was receiving that one
        else:
            amid = channel.rate_amid(frame.source, node, frame.size, frame)
        if amid >= 1.0 or medium.succeeds(frame.source, amid):
            return None
        # The share of failures that the channel alone would have caused.
        return DropReason.COLLIDED if medium.succeeds(frame.source, alone) else DropReason.LOST
