"""Low-power listening of TinyOS 2: BoX-MAC-2 (Moss & Levis, Stanford SING-08-00, 2008), on top of our CSMA/CA.

TinyOS                      Here
wake-up interval            LplOptions.wake_up_us, the same for all motes
MAX_LPL_CCA_CHECKS          SAMPLE_US, the time that they take
DELAY_AFTER_RECEIVE         STAY_US

Every mote wakes up once per interval, at a phase of its own, and samples the channel. If it is in use, the mote stays on
until it has received a whole frame; if the frame was for it, for `STAY_US` more. A sender gets the channel as in
CSMA/CA and then repeats its frame, leaving time for an acknowledgement after each copy, until it is acknowledged or one
interval has passed: a train. A broadcast is repeated for the whole interval. The sink, on mains, always listens: what is
sent to it goes in single frames.

A train is one entry on air, and ends with the first copy that its target can receive; if that copy fails, or its
acknowledgement, another train of the remaining copies follows. To others a train keeps the channel busy throughout.
After a busy channel or a failed train a mote backs off, asleep, for times of the order of the interval: those of CSMA/CA
would all end within the same train.

In the ledger, copies sent count as `tx`; copies received as `rx`, or `overhear` where they were for others; samples, waiting
for a copy or an acknowledgement, and staying on as `idle`. Copies that a target slept through end as `unheard`.
"""

from dataclasses import dataclass
from typing import Final

from network.contract import Message, NodeId
from network.mac.base import MacParts, MacTraits
from network.mac.csma import CsmaAir, CsmaOptions
from network.mac.csma_frames import Frame, Job
from network.wake_ups import WakeUps
from sim.trace.tables import SINK, DropReason, Outcome

# tos/chips/cc2420/lpl/DefaultLpl.h of TinyOS 2.1: 400 samples, about 6 ms with the radio on.
SAMPLE_US: Final = 6_000
# The same file: 100 ms.
STAY_US: Final = 100_000


@dataclass(frozen=True, slots=True)
class LplOptions:
    """The scenario's settings for low-power listening."""

    csma: CsmaOptions
    wake_up_us: int
    """From one wake-up of a mote to its next."""


class Train(Frame):
    """Copies of one frame, sent one after the other."""

    __slots__ = ("copies", "is_first", "is_heard", "period_us", "wait_us")

    def __init__(self, job: Job, size: int, start_us: int, end_us: int) -> None:
        super().__init__(job, job.message.source, job.target, size, start_us, end_us)
        self.copies = 1
        self.period_us = 1
        """From the beginning of one copy to that of the next."""
        self.is_heard = False
        """Whether the target can receive the last copy."""
        self.wait_us = 0
        """How long the target listens for that copy, beyond its sample."""
        self.is_first = True
        """Whether no copies of the frame were sent right before."""

    def sent(self) -> tuple[int, str, NodeId, NodeId | None, int]:
        """As of a frame, with the bytes of all copies."""
        at_us, kind, source, target, size = super().sent()
        return at_us, kind, source, target, size * self.copies

    def begun(self, now_us: int) -> int:
        """How many copies have begun."""
        return min(self.copies, (now_us - self.start_us) // self.period_us + 1)

    def copy(self, number: int, airtime_us: int) -> Frame:
        """One copy as a frame, with what else was on air meanwhile."""
        start_us = self.start_us + number * self.period_us
        end_us = start_us + airtime_us
        copy = Frame(self.job, self.source, self.target, self.size, start_us, end_us)
        copy.overlaps = [o for o in self.overlaps if o.start_us < end_us and o.end_us > start_us]
        return copy


class LplAir(CsmaAir):
    """Contention among motes that sleep, and are woken by repeated frames."""

    traits = MacTraits(acknowledges=True, can_lose=True, contends=True, owns_sleep=True)

    def __init__(self, parts: MacParts, options: LplOptions) -> None:
        assert parts.listening is not None, "sleeping radios need their account"
        super().__init__(parts, options.csma)
        motes = parts.ledger.count
        self._radios = parts.listening
        self._wake_ups = WakeUps(
            parts.streams, motes, every_us=options.wake_up_us, sample_us=SAMPLE_US
        )
        self._radios.sleep_between(self._wake_ups)
        self._pause_us = options.wake_up_us >> self._timing.min_be
        """The unit of back-offs after a busy channel or a failed train."""
        self._stays_until_us = [0] * motes
        self._is_sending = [False] * motes
        self._left = [0] * (motes + 1)
        """By sender: copies that it may still send of its frame."""
        self._trains: dict[NodeId, Train] = {}
        """What is on air, by sender."""

    def _begin_election(self) -> None:
        """Do nothing: radios sleep during elections as well."""

    def _begin_round(self) -> None:
        """Do nothing: radios sleep during elections as well."""

    def cancel(self, node: NodeId) -> None:
        """Cut the train of a mote that crashed or was removed after the copy on air."""
        train = self._trains.get(node)
        if train is not None:
            self._cut(train)

    def close(self) -> list[Message]:
        """Log what is on air as in flight; returns the unicasts that have not arrived."""
        for train in self._trains.values():
            train.copies = train.begun(self._kernel.now_us)
        return super().close()

    # The sender.

    def _contend(self, job: Job) -> None:
        self._stop_sending(job.message.source)
        super()._contend(job)

    def _wait_us(self, job: Job) -> int:
        """The first back-off is that of CSMA/CA; later ones outlast trains."""
        if not (job.backoffs or job.attempts):
            return super()._wait_us(job)
        periods = self._backoffs.periods(job.message.source, job.exponent)
        return periods * self._pause_us + self._timing.cca_us

    def _assess(self, job: Job) -> None:
        if not job.done:
            self._radios.note_listening(job.message.source, self._timing.cca_us)
        super()._assess(job)

    def _send(self, job: Job) -> None:
        source = job.message.source
        if source != SINK:
            self._is_sending[source] = True
            self._radios.set_asleep(source, asleep=False)
        if job.target == SINK:
            super()._send(job)
            return
        self._left[source] = 1 - (-self._wake_ups.every_us // self._period_us(job))
        self._send_train(job, is_first=True)

    def _send_train(self, job: Job, *, is_first: bool) -> None:
        """Send copies up to the first that the target can receive, or all that are left."""
        source, target, now_us = job.message.source, job.target, self._kernel.now_us
        size, period_us = job.frame_sizes[job.position], self._period_us(job)
        copies, is_heard, wait_us = self._left[source], False, 0
        if target is not None and self._channel.rate(source, target, size) > 0.0:
            number, wait_us = self._first_copy(target, now_us, period_us)
            is_heard = number < copies
            copies = min(number + 1, copies)
        end_us = now_us + (copies - 1) * period_us + self._airtime_us[size]
        joules = copies * size * self._send_j_per_byte(job)
        if not self._transmit(job.message.kind, source, copies * size, joules, end_us):
            return  # it died paying, and its queue was cleared
        job.is_flying = True
        train = self._trains[source] = Train(job, size, now_us, end_us)
        train.copies, train.period_us, train.is_first = copies, period_us, is_first
        train.is_heard, train.wait_us = is_heard, wait_us
        self._left[source] -= copies
        self.ether.put(train)
        self._kernel.call_at(end_us, self._end, train)

    def _period_us(self, job: Job) -> int:
        """A copy, and the time for its acknowledgement."""
        return self._airtime_us[job.frame_sizes[job.position]] + self._timing.ack_wait_us

    def _on_silence(self, frame: Frame) -> None:
        """No acknowledgement came in time: go on with the copies that are left, or try anew."""
        job = frame.job
        source = job.message.source
        goes_on = job.awaiting is frame and not job.done and self._left[source] > 0
        if (
            not goes_on
            or job.target == SINK
            or self._sink_is_down(source)
            or self.ether.is_sending(source, self._kernel.now_us)
        ):
            super()._on_silence(frame)
            return
        job.awaiting = None
        self._send_train(job, is_first=False)

    def _finish(self, job: Job) -> None:
        super()._finish(job)
        self._stop_sending(job.message.source)

    def _clear_queue(self, node: NodeId) -> None:
        super()._clear_queue(node)
        if node != SINK:
            self._is_sending[node] = False

    def _stop_sending(self, node: NodeId) -> None:
        if node != SINK:
            self._is_sending[node] = False
            self._rest(node)

    def _cut(self, train: Train) -> None:
        """End a train after the copy that is on air."""
        now_us = self._kernel.now_us
        copies = train.begun(now_us)
        if copies < train.copies:
            train.copies, train.is_heard = copies, False
            last_us = train.start_us + (copies - 1) * train.period_us
            train.end_us = max(now_us, last_us + self._airtime_us[train.size])
            self._kernel.call_at(train.end_us, self._end, train)

    # The end of a train, at sender and receivers.

    def _end(self, frame: Frame) -> None:
        if isinstance(frame, Train):
            if frame.end_us != self._kernel.now_us or self._trains.get(frame.source) is not frame:
                return  # it was cut
            del self._trains[frame.source]
        super()._end(frame)

    def _end_unicast(self, frame: Frame) -> None:
        if not isinstance(frame, Train):
            super()._end_unicast(frame)
            return
        self._charge_overhearing(frame, ())
        self._until_outage(frame)
        last = frame.copy(frame.copies - 1, self._airtime_us[frame.size])
        if not frame.is_heard:
            self._end_unheard(frame, last)
            return
        frame.copies -= 1
        if frame.copies:
            self._log(frame, Outcome.UNHEARD, None, 0, 0)
        target = frame.job.message.target
        self._radios.note_listening(target, frame.wait_us)
        super()._end_unicast(last)
        is_received = self._last_heard.get((target, frame.source)) == frame.job.sequence
        if self.alive[target] and (is_received or self._radios.is_asleep(target)):
            self._stay_on(target)

    def _end_unheard(self, train: Train, last: Frame) -> None:
        """End a failed train: its target slept, is out of reach, or the train was cut."""
        job = train.job
        self._log(train, Outcome.LOST, None, 1, 0)
        job.is_flying = False
        is_reached = self._channel.rate(train.source, job.message.target, train.size) > 0.0
        job.failed = job.failed or (DropReason.LOST if is_reached else DropReason.UNREACHABLE)
        job.awaiting = last
        self._kernel.call_later(self._timing.ack_wait_us, self._on_silence, last)
        if job.orphaned and job.received < len(job.frame_sizes):
            self._give_up(job, DropReason.DEAD)

    def _until_outage(self, train: Train) -> None:
        """Leave out the copies that fell in an outage of the sink that sent them."""
        outage = self._contention.sink_is_down
        if train.source == SINK and self._sink_is_down(SINK):
            starts_us = range(train.start_us, train.end_us, train.period_us)
            train.copies = max(1, sum(not outage(at_us) for at_us in starts_us))
            train.is_heard = False

    def _hearers(self, frame: Frame, listeners: list[NodeId]) -> list[NodeId]:
        assert isinstance(frame, Train)
        self._charge_overhearing(frame, listeners)
        self._until_outage(frame)
        return [node for node in listeners if self._hears(frame, node)]

    def _hears(self, train: Train, node: NodeId) -> bool:
        """Whether a listener receives one of the copies that it is on for."""
        number, wait_us = self._first_copy(node, train.start_us, train.period_us)
        if number >= train.copies:
            return False
        airtime_us = self._airtime_us[train.size]
        heard_us = train.start_us + number * train.period_us + airtime_us
        sampled_us = self._wake_ups.sampled_us(node, heard_us, heard_us + STAY_US)
        self._radios.note_listening(node, wait_us + STAY_US - sampled_us)
        beyond = min(train.copies, number + 1 + STAY_US // train.period_us)
        return any(
            self._reception(train.copy(each, airtime_us), node) is None
            for each in range(number, beyond)
        )

    def _first_copy(self, node: NodeId, start_us: int, period_us: int) -> tuple[int, int]:
        if not self._radios.is_asleep(node):
            return 0, 0
        return self._wake_ups.first_copy(node, start_us, period_us)

    def _charge_overhearing(self, train: Train, listeners: list[NodeId] | tuple[()]) -> None:
        """Charge the motes that woke up to a train that was not for them: a copy, and waiting for it."""
        ledger, airtime_us = self._ledger, self._airtime_us[train.size]
        joules = train.size * self._receive_j_per_byte
        meant = {train.target, *listeners}
        for node in self._channel.audience(train.emission):
            if node in meant or not self.alive[node] or not self._radios.is_asleep(node):
                continue
            number, wait_us = self._wake_ups.first_copy(
                node, train.start_us, train.period_us, is_first=train.is_first
            )
            if number < train.copies:
                self._radios.note_busy(node, airtime_us)
                self._radios.note_listening(node, wait_us)
                ledger.draw(node, ledger.overhear_j, joules)

    # Radios on and off.

    def _stay_on(self, node: NodeId) -> None:
        """Keep the radio of a mote on for a while after a frame for it."""
        until_us = self._stays_until_us[node] = self._kernel.now_us + STAY_US
        self._radios.set_asleep(node, asleep=False)
        self._kernel.call_at(until_us, self._rest, node)

    def _rest(self, node: NodeId) -> None:
        """Turn a mote's radio off, unless it sends or has just received."""
        if not self._is_sending[node] and self._kernel.now_us >= self._stays_until_us[node]:
            self._radios.set_asleep(node, asleep=True)
