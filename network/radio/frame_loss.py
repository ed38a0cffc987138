"""Frame loss, loss bursts, jitter and sink outages; contention is modelled elsewhere.

Each cause draws from its own random stream: `radio.loss.<kind>` and `radio.reception` per sender,
`faults.burst` and `faults.jitter` per sender.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from network.contract import NodeId
from network.radio.channel import Channel
from sim.rng import RandomStreams
from sim.trace.tables import SINK, DropReason


@dataclass(frozen=True, slots=True)
class GilbertElliott:
    """Bursts of loss: a two-state Markov chain per directed link, one step per frame.

    Gilbert 1960, Elliott 1963. In the good state frames are lost with `loss_good`, in the bad one with
    `loss_bad`. A link starts in its stationary state.
    """

    good_to_bad: float
    bad_to_good: float
    loss_good: float
    loss_bad: float

    @property
    def bad_share(self) -> float:
        """Share of frames sent in the bad state: p / (p + r)."""
        return self.good_to_bad / (self.good_to_bad + self.bad_to_good)

    @property
    def mean_loss(self) -> float:
        """Share of frames lost in the long run."""
        return self.bad_share * self.loss_bad + (1 - self.bad_share) * self.loss_good


class Medium:
    """Decides which frames are lost or delayed."""

    def __init__(
        self,
        streams: RandomStreams,
        channel: Channel,
        *,
        loss: float = 0.0,
        bursts: GilbertElliott | None = None,
        jitter_us: int = 0,
        sink_outages_us: Sequence[tuple[int, int]] = (),
    ) -> None:
        """A medium that loses the share `loss` in addition to the channel and `bursts`.

        Args:
            streams: Source of random numbers.
            channel: Gives the probability that a frame alone on air arrives.
            loss: Share of frames lost.
            bursts: Loss in bursts.
            jitter_us: Maximum extra delay of a message, uniform; messages can overtake each other.
            sink_outages_us: When the sink is down: (from, until), ascending.
        """
        self._streams = streams
        self._channel = channel
        self._loss = loss
        self._bursts = bursts
        self._jitter_us = jitter_us
        self._outages_us = tuple(sink_outages_us)
        self._draws: dict[tuple[str, NodeId], Callable[[], float]] = {}
        self._is_bad: dict[tuple[NodeId, NodeId], bool] = {}

    def sink_is_down(self, at_us: int) -> bool:
        """Whether the sink has an outage at `at_us`."""
        return any(start_us <= at_us < end_us for start_us, end_us in self._outages_us)

    def delay_us(self, source: NodeId) -> int:
        """Extra delivery delay of a message of `source`."""
        if not self._jitter_us:
            return 0
        return int(self._draw("faults.jitter", source) * (self._jitter_us + 1))

    def fate(
        self, kind: str, source: NodeId, target: NodeId, frame_bytes: Sequence[int], arrives_us: int
    ) -> DropReason | None:
        """Why a message made of these frames will be lost, or None if it will arrive."""
        if self._outages_us and target == SINK and self.sink_is_down(arrives_us):
            return DropReason.SINK_DOWN
        reason = None
        for size in frame_bytes:
            reason = self.frame_fate(kind, source, target, size) or reason
        return reason

    def frame_fate(self, kind: str, source: NodeId, target: NodeId, size: int) -> DropReason | None:
        """Why one frame, alone on air, is lost, or None if it is received."""
        if self.is_lost(kind, source, target):
            return DropReason.LOST
        if self._channel.certain:
            return None
        rate = self._channel.rate(source, target, size)
        if rate <= 0.0:
            return DropReason.UNREACHABLE
        return None if rate >= 1.0 or self.succeeds(source, rate) else DropReason.LOST

    def is_lost(self, kind: str, source: NodeId, target: NodeId) -> bool:
        """Whether a frame is lost to random loss or a burst, regardless of the channel."""
        lost = bool(self._loss) and self._draw(f"radio.loss.{kind}", source) < self._loss
        return (self._bursts is not None and self._in_burst(source, target)) or lost

    def succeeds(self, source: NodeId, rate: float) -> bool:
        """Draw whether a frame received with probability `rate` is received."""
        return self._draw("radio.reception", source) < rate

    def _in_burst(self, source: NodeId, target: NodeId) -> bool:
        bursts = self._bursts
        assert bursts is not None
        draw = self._draw
        is_bad = self._is_bad.get((source, target))
        if is_bad is None:
            is_bad = draw("faults.burst", source) < bursts.bad_share
        elif is_bad:
            is_bad = draw("faults.burst", source) >= bursts.bad_to_good
        else:
            is_bad = draw("faults.burst", source) < bursts.good_to_bad
        self._is_bad[source, target] = is_bad
        return draw("faults.burst", source) < (bursts.loss_bad if is_bad else bursts.loss_good)

    def _draw(self, purpose: str, source: NodeId) -> float:
        draw = self._draws.get((purpose, source))
        if draw is None:
            draw = self._draws[purpose, source] = self._streams.scalar(purpose, source).random
        return draw()
