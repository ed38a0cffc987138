"""Unslotted CSMA/CA of IEEE 802.15.4 (2006, §7.5.1.4 and §7.5.6), with collisions, acknowledgements and retries.

Standard                Here (constants come with the mote profile)
NB, BE                  Job.backoffs, Job.exponent
aUnitBackoffPeriod      MacTiming.backoff_us
macMinBE, macMaxBE      MacTiming.min_be, max_be
macMaxCSMABackoffs      MacTiming.max_backoffs
macMaxFrameRetries      MacTiming.retries
macAckWaitDuration      MacTiming.ack_wait_us, from the end of the frame
aTurnaroundTime         Profile.turnaround_us, before a frame and before an acknowledgement
DSN                     Job.sequence, never repeated within a run

A mote sends one message at a time and its frames in order. Each frame: wait a random back-off, listen for the
CCA time, and send after the turnaround if nobody in earshot was sending; otherwise back off longer, and give the
message up as `channel busy` after too many times. Two motes that do not hear each other may thus collide at a
third (hidden terminals); two that do hear each other wait although their receivers would not be disturbed (exposed
terminals). While frames overlap, the channel decides which can be received. A radio that sends does not hear, and
one that is receiving does not start to receive another frame.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from network.contract import Message, NodeId
from network.mac.backoffs import Backoffs
from network.mac.base import OUTCOMES, BaseAir, Hearing, MacParts, MacTraits
from network.mac.csma_frames import Frame, Job
from network.mac.ether import Ether
from network.radio.profile import MacTiming
from sim.trace.tables import SINK, DropReason, Outcome


@dataclass(frozen=True, slots=True)
class CsmaOptions:
    """The scenario's settings for carrier sensing."""

    timing: MacTiming
    """Constants of the MAC."""
    acknowledge: bool
    """Whether unicasts are acknowledged, and repeated if not."""
    queue: int
    """Messages a mote can hold for sending."""


class CsmaAir(BaseAir):
    """Broadcasts and unicasts that contend for the channel."""

    traits = MacTraits(acknowledges=True, can_lose=True, contends=True)

    def __init__(self, parts: MacParts, options: CsmaOptions) -> None:
        assert parts.medium is not None, "contention needs a medium to lose frames on"
        super().__init__(parts)
        ledger, medium, timing = parts.ledger, parts.medium, options.timing
        self._contention = medium
        self._backoffs = Backoffs(parts.streams)
        self._timing = timing
        self._acknowledge = options.acknowledge
        self._queue = options.queue
        nodes = len(ledger.alive)
        self._queues: list[deque[Job]] = [deque() for _ in range(nodes)]
        self.ether = Ether(parts.channel, medium, cca_us=timing.cca_us)
        """What is on air."""
        self._sequences = [0] * nodes
        self._last_heard: dict[tuple[NodeId, NodeId], int] = {}
        """By target and source: the sequence number of the last frame received."""
        ledger.when_down(self._clear_queue)

    def unicast(
        self, kind: str, source: NodeId, target: NodeId, body_bytes: int, body: object, at_us: int
    ) -> int:
        """Queue one message at `at_us`; returns its bytes on air if nothing has to be repeated."""
        sizes = self._frame_sizes(body_bytes)
        message = Message(kind, source, target, sum(sizes), body, at_us)
        if not self.alive[source]:
            self._handlers[kind][1](message, DropReason.DEAD)
            return 0
        at_us += self._contention.delay_us(source)
        self._kernel.call_at(at_us, self._enqueue, Job(message, sizes))
        return message.bytes

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
        """Queue an announcement to all `listeners`; it is neither acknowledged nor repeated."""
        sizes = self._frame_sizes(body_bytes)
        job = Job(Message(kind, source, source, sum(sizes), None, at_us), sizes)
        job.listeners = list(listeners)
        job.hearing = on_heard
        job.range_m = range_m
        self._kernel.call_at(at_us, self._enqueue, job)

    def cancel(self, node: NodeId) -> None:
        """Do nothing: the queue of a mote that goes down is cleared as at any death."""

    def close(self) -> list[Message]:
        """Log what is on air as in flight; returns the unicasts that have not arrived."""
        now_us = self._kernel.now_us
        waiting = self._kernel.pending(self._enqueue)
        for queue in self._queues:
            waiting.extend(queue)
        for frame in self.ether.on_air(now_us):
            addressed = 1 if frame.job.listeners is None else len(frame.job.listeners)
            self._log(frame, Outcome.IN_FLIGHT, None, addressed, 0)
            if frame.job.orphaned and not frame.is_ack:
                waiting.append(frame.job)
        jobs = {id(job): job for job in waiting}.values()
        messages = [
            job.message
            for job in jobs
            if job.listeners is None and job.received < len(job.frame_sizes)
        ]
        return sorted(messages, key=lambda m: (m.at_us, m.source, m.target))

    def earliest_on_air_us(self) -> int:
        """When the oldest frame still on air was sent; now if there is none."""
        now_us = self._kernel.now_us
        return min((frame.start_us for frame in self.ether.on_air(now_us)), default=now_us)

    # The sender.

    def _enqueue(self, job: Job) -> None:
        source = job.message.source
        queue = self._queues[source]
        if not self.alive[source]:
            self._give_up(job, DropReason.DEAD)
        elif self._sink_is_down(source):
            self._give_up(job, DropReason.SINK_DOWN)
        elif len(queue) >= self._queue and source != SINK:
            self._give_up(job, DropReason.QUEUE_FULL)
        else:
            queue.append(job)
            if len(queue) == 1:
                self._begin(job)

    def _begin(self, job: Job) -> None:
        """Start on a job's next frame."""
        job.sequence = self._sequences[job.message.source]
        self._sequences[job.message.source] += 1
        job.attempts = 0
        self._contend(job)

    def _contend(self, job: Job) -> None:
        """CSMA step 1: NB and BE start anew."""
        job.backoffs = 0
        job.exponent = self._timing.min_be
        self._back_off(job)

    def _back_off(self, job: Job) -> None:
        """CSMA steps 2 and 3: wait a random number of back-off periods, then listen.

        Under a duty cycle the wait begins when radios are on; one that outlasts their time is drawn anew in the next.
        """
        start_us = self._awake_us(job, self._kernel.now_us) + self._wait_us(job)
        awake_us = self._awake_us(job, start_us)
        if awake_us != start_us:
            start_us = awake_us + self._wait_us(job)
        self._kernel.call_at(start_us, self._assess, job)

    def _wait_us(self, job: Job) -> int:
        """A back-off and the time that listening takes."""
        periods = self._backoffs.periods(job.message.source, job.exponent)
        return periods * self._timing.backoff_us + self._timing.cca_us

    def _awake_us(self, job: Job, at_us: int) -> int:
        """When radios are awake for a job's frame, at `at_us` or later."""
        if self._listening is None:
            return at_us
        return self._listening.next_start(at_us, self._airtime_us[job.frame_sizes[job.position]])

    def _assess(self, job: Job) -> None:
        """CSMA steps 4 and 5: send if the channel was clear, else back off longer or give up."""
        if job.done:
            return
        if self.ether.is_busy(job.message.source, self._kernel.now_us):
            self._defer(job)
        else:
            self._kernel.call_later(self._profile.turnaround_us, self._put_on_air, job)

    def _defer(self, job: Job) -> None:
        job.backoffs += 1
        job.exponent = min(job.exponent + 1, self._timing.max_be)
        if job.backoffs > self._timing.max_backoffs:
            job.failed = DropReason.CHANNEL_BUSY
            self._finish(job)
        else:
            self._back_off(job)

    def _put_on_air(self, job: Job) -> None:
        if job.done:
            return
        source = job.message.source
        if self.ether.is_sending(source, self._kernel.now_us):  # an acknowledgement came in between
            self._defer(job)
        elif self._sink_is_down(source):
            job.failed = DropReason.SINK_DOWN
            self._finish(job)
        else:
            self._send(job)

    def _send(self, job: Job) -> None:
        """Send a job's frame now."""
        message, size = job.message, job.frame_sizes[job.position]
        joules = size * self._send_j_per_byte(job)
        if self._transmit(message.kind, message.source, size, joules, self._kernel.now_us):
            job.is_flying = True
            self._start(job, message.source, job.target, size)

    def _send_j_per_byte(self, job: Job) -> float:
        if job.listeners is None:
            return self._transmit_j_per_byte_from[job.message.source][job.message.target]
        return self._channel.broadcast_j_per_byte(job.range_m)

    def _start(self, job: Job, source: NodeId, target: NodeId | None, size: int) -> Frame:
        now_us = self._kernel.now_us
        frame = Frame(job, source, target, size, now_us, now_us + self._airtime_us[size])
        self.ether.put(frame)
        if self._overhearing and target is not None:
            self._overhear(source, target, size)
        self._kernel.call_at(frame.end_us, self._end, frame)
        return frame

    # The end of a frame, at sender and receivers.

    def _end(self, frame: Frame) -> None:
        if frame.is_ack:
            self._end_ack(frame)
        elif frame.job.listeners is None:
            self._end_unicast(frame)
        else:
            self._end_broadcast(frame)

    def _end_unicast(self, frame: Frame) -> None:
        job = frame.job
        message = job.message
        target = message.target
        reason = self._reception(frame, target)
        is_new = False
        if reason is None:
            is_new = self._last_heard.get((target, message.source)) != job.sequence
            self._last_heard[target, message.source] = job.sequence
            outcome = Outcome.DELIVERED if is_new else Outcome.DUPLICATE
            self._log(frame, outcome, frame.end_us, 1, 1)
        else:
            self._log(frame, OUTCOMES[reason], None, 1, 0)
            job.failed = reason
        job.is_flying = False
        job.received += is_new
        is_whole = is_new and job.received == len(job.frame_sizes)
        if self._acknowledge:
            job.awaiting = frame
            if reason is None:
                self._kernel.call_later(self._profile.turnaround_us, self._acknowledge_it, frame)
            self._kernel.call_later(self._timing.ack_wait_us, self._on_silence, frame)
        else:
            self._go_on(job)
        if job.orphaned and job.received < len(job.frame_sizes):
            self._give_up(job, DropReason.DEAD)
        if is_whole:
            self._handlers[message.kind][0](message)

    def _end_broadcast(self, frame: Frame) -> None:
        job = frame.job
        message = job.message
        assert job.listeners is not None
        if job.position == 0:
            job.listeners = [n for n in job.listeners if self.alive[n]]
            job.heard = set(job.listeners)
        heard = self._hearers(frame, job.listeners)
        job.heard.intersection_update(heard)
        addressed = len(job.listeners)
        outcome = Outcome.PARTIAL if heard else Outcome.LOST
        if len(heard) == addressed:
            outcome = Outcome.DELIVERED
        self._log(frame, outcome, frame.end_us, addressed, len(heard))
        self.receptions.append((frame.end_us, message.kind, frame.size, heard))
        job.is_flying = False
        is_last = job.position == len(job.frame_sizes) - 1
        self._go_on(job)
        if is_last and job.hearing is not None:
            job.hearing(message.source, sorted(job.heard))

    def _end_ack(self, frame: Frame) -> None:
        job = frame.job
        assert frame.target is not None
        reason = self._reception(frame, frame.target)
        outcome = Outcome.DELIVERED if reason is None else OUTCOMES[reason]
        arrived_us, received = (frame.end_us, 1) if reason is None else (None, 0)
        self._log(frame, outcome, arrived_us, 1, received)
        if reason is None and job.awaiting is not None and not job.done:
            job.awaiting = None
            self._go_on(job)

    def _acknowledge_it(self, frame: Frame) -> None:
        """Send the target's acknowledgement, without checking whether the channel is clear."""
        node = frame.job.message.target
        now_us = self._kernel.now_us
        if not self.alive[node] or self._sink_is_down(node) or self.ether.is_sending(node, now_us):
            return
        size, source = self._timing.ack_bytes, frame.source
        joules = size * self._transmit_j_per_byte_from[node][source]
        if self._transmit(frame.job.message.kind, node, size, joules, now_us):
            self._start(frame.job, node, source, size).is_ack = True

    def _on_silence(self, frame: Frame) -> None:
        """No acknowledgement came in time: repeat the frame, or give up."""
        job = frame.job
        if job.awaiting is not frame or job.done:
            return
        job.awaiting = None
        job.attempts += 1
        if job.attempts > self._timing.retries:
            job.failed = job.failed or DropReason.LOST
            self._finish(job)
        else:
            self._contend(job)

    def _go_on(self, job: Job) -> None:
        """Continue with the next frame of the message, or with the next message."""
        if job.done:
            return
        if job.position + 1 < len(job.frame_sizes):
            job.position += 1
            self._kernel.call_later(self._timing.spacing_us, self._begin_next, job)
        else:
            self._finish(job)

    def _begin_next(self, job: Job) -> None:
        if not job.done:
            self._begin(job)

    def _finish(self, job: Job) -> None:
        """End a message at its sender, whether it arrived or not."""
        job.done = True
        queue = self._queues[job.message.source]
        assert queue[0] is job
        queue.popleft()
        if queue:
            self._kernel.call_later(self._timing.spacing_us, self._begin_next, queue[0])
        if job.listeners is None and job.received < len(job.frame_sizes):
            self._report_loss(job)

    def _give_up(self, job: Job, reason: DropReason) -> None:
        """Drop a message that did not fit in the queue, or whose mote went down."""
        job.done = True
        job.failed = reason
        if job.listeners is None:
            self._report_loss(job)

    def _report_loss(self, job: Job) -> None:
        assert job.failed is not None, job.message.kind
        self._handlers[job.message.kind][1](job.message, job.failed)

    def _clear_queue(self, node: NodeId) -> None:
        """Clear the queue of a mote that died, crashed or was removed; its frame on air still ends."""
        queue = self._queues[node]
        jobs = list(queue)
        queue.clear()
        for job in jobs:
            job.done = True
            job.orphaned = job.is_flying
            if not job.is_flying and job.received < len(job.frame_sizes):
                self._give_up(job, DropReason.DEAD)

    def _sink_is_down(self, node: NodeId) -> bool:
        return node == SINK and self._contention.sink_is_down(self._kernel.now_us)

    # The receiver.

    def _reception(self, frame: Frame, node: NodeId) -> DropReason | None:
        """Why `node` does not receive a frame that has ended, or None; it pays for what it receives."""
        kind = frame.job.message.kind
        if self._sink_is_down(node):
            return DropReason.SINK_DOWN
        if not self.alive[node]:
            return DropReason.DEAD
        if self.ether.is_deaf(frame, node):
            return DropReason.COLLIDED
        reason = self.ether.fate(frame, node)
        is_heard = reason is None or reason is DropReason.COLLIDED
        if is_heard and not self._receive(kind, node, frame.size):
            return DropReason.DEAD
        return reason

    def _hearers(self, frame: Frame, listeners: list[NodeId]) -> list[NodeId]:
        """Those of the listeners that receive a broadcast that has ended."""
        return [node for node in listeners if self._reception(frame, node) is None]

    def _log(
        self, frame: Frame, outcome: Outcome, arrived_us: int | None, addressed: int, received: int
    ) -> None:
        self.log.append((*frame.sent(), outcome, arrived_us, addressed, received))
