"""When sleeping radios wake up to sample the channel: each mote at a phase of its own."""

from network.contract import NodeId
from sim.rng import RandomStreams


class WakeUps:
    """A wake-up of every mote once per interval, and how long each listens then."""

    def __init__(
        self, streams: RandomStreams, motes: int, *, every_us: int, sample_us: int
    ) -> None:
        assert 0 < sample_us < every_us, (sample_us, every_us)
        self.every_us = every_us
        self.sample_us = sample_us
        draw = streams.scalar("radio.wake_up").randrange
        self._phases_us = [draw(every_us) for _ in range(motes)]

    def sampled_us(self, node: NodeId, since_us: int, until_us: int) -> int:
        """How long a mote listens at the wake-ups that begin from `since_us` on and before `until_us`."""
        every_us, before_us = self.every_us, self._phases_us[node] + 1
        wakes = (until_us - before_us) // every_us - (since_us - before_us) // every_us
        return wakes * self.sample_us

    def first_copy(
        self, node: NodeId, start_us: int, period_us: int, *, is_first: bool = True
    ) -> tuple[int, int]:
        """The first of the frames sent every `period_us` from `start_us` on that a sleeping mote can receive.

        A mote that samples while the channel is in use stays on until a whole frame has come. `is_first`: the
        channel was free before; otherwise a mote that woke up before `start_us` has gone back to sleep.

        Returns:
            The number of frames before it, and how long the mote listens for it beyond its sample.
        """
        since_us = start_us - self.sample_us if is_first else start_us
        late_us = since_us + (self._phases_us[node] - since_us) % self.every_us - start_us
        if late_us <= 0:
            return 0, 0
        number = -(-late_us // period_us)
        return number, max(0, number * period_us - late_us - self.sample_us)
