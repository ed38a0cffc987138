"""The hot path: a visit of a mote over a bare air, in one function.

A *visit* is what `network.visits.visitor` puts together from the MAC, the ledger and the CPU: a message arrives and is paid for, the
CPU admits and serves it, and it is sent on. A run has millions of visits, so here are the same steps without the calls between those
parts. Every sum is the same and in the same order, so results are equal to the last bit. What is rare is left to the parts: motes that
are dead or about to die, messages that were cancelled, and the message of another kind that follows the last visit.
"""

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from network.contract import NodeId
from network.ledger import Ledger
from network.message import Message
from network.processor import Cpus
from network.service import Service
from network.transmission_log import TransmissionLog
from sim.kernel import Kernel
from sim.trace.tables import Outcome

PAIRS: Final = 1 << 15
"""Room for the energy between pairs of motes; two pairs that share a place take turns in it."""


@dataclass(frozen=True, slots=True)
class BareParts:
    """What a visit uses of the air."""

    kernel: Kernel
    ledger: Ledger
    log: TransmissionLog
    receive_j_per_byte: float
    transmit_j_per_byte: Mapping[NodeId, Mapping[NodeId, float]]
    """By source, then target."""
    flights: Mapping[int, tuple[int, int]]
    """By bytes of body: bytes on air, time until they are in memory."""
    arrive: Callable[[Message], None]
    """The arrival of a message, step by step."""
    unicast: Callable[[str, NodeId, NodeId, int, object, int], int]


class BareVisits:
    """The arrivals of messages of one kind at motes that serve them and send them on."""

    def __init__(self, kind: str, service: Service, air: BareParts, cpus: Cpus) -> None:
        ledger = air.ledger
        self._kind = kind
        self._service = service
        self._kernel = air.kernel
        self._log = air.log
        self._delivered = air.log.code(kind, Outcome.DELIVERED)
        self._alive, self._residual_j = ledger.alive, ledger.residual_j
        self._paid_until_us = ledger.paid_until_us
        self._rx_j, self._cpu_j, self._tx_j = ledger.rx_j, ledger.cpu_j, ledger.tx_j
        self._receive_j_per_byte = air.receive_j_per_byte
        self._transmit_j_per_byte = air.transmit_j_per_byte
        self._nodes = len(ledger.alive)
        self._pairs, self._pair_j = array("q", [-1]) * PAIRS, array("d", bytes(8 * PAIRS))
        """Source and target as one number, and the joules per byte between them."""
        self._flights = air.flights
        self._arrive, self._unicast = air.arrive, air.unicast
        self._cpus = cpus
        self._last_us, self._earlier_us, self._work = cpus.last_us, cpus.earlier_us, cpus.work
        # Of the last visit, as most are like it:
        self._service_us = -1.0
        """How long its CPU took."""
        self._whole_us, self._work_j = 0, 0.0
        """The same in whole microseconds, and the joules that this took."""
        self._body_bytes = -1
        """How long the body was that it sent."""
        self._size, self._flight_us = 0, 0
        """The same with headers, and how long that is under way."""
        self.arrival = self.visit
        """What is called when a message arrives."""

    def visit(self, message: Message) -> None:  # noqa: PLR0912, PLR0915 (one function: no calls between parts)
        """Receive a message, serve it and send it on."""
        # 1. The mote pays for receiving the message, which is logged.
        node = message.target
        size = message.bytes
        joules = size * self._receive_j_per_byte
        left_j = self._residual_j[node] - joules
        if left_j <= 0.0 or not self._alive[node] or message.drop is not None:
            self._arrive(message)
            return
        self._residual_j[node] = left_j
        self._rx_j[node] += joules
        now_us = self._kernel.now_us
        self._log.add(message.at_us, self._delivered, message.source, node, size, now_us, 1, 1)
        # 2. The CPU begins with it when it is done with earlier jobs, if there is room.
        start_us = now_us
        waits = self._last_us[node] > now_us
        if waits:
            admitted_us = self._cpus.admit(node)
            if admitted_us is None:
                self._service.refuse(message)
                return
            start_us = admitted_us
        # 3. The message is served.
        service_us = self._service.serve(message, start_us)
        kind = self._service.onward(message.body)
        if kind is not self._kind:
            done_us = self._cpus.occupy(node, start_us, service_us)
            if kind is None:
                self._service.end(message.body, done_us)
            else:
                target, body_bytes = self._service.target, self._service.body_bytes
                self._unicast(kind, node, target, body_bytes, message.body, done_us)
            return
        # 4. The mote pays for the CPU's work and for sending the message on.
        target, body_bytes = self._service.target, self._service.body_bytes
        if service_us != self._service_us:  # most visits are like the one before
            self._service_us = service_us
            self._whole_us, self._work_j = self._work[service_us]
        if body_bytes != self._body_bytes:
            self._body_bytes = body_bytes
            self._size, self._flight_us = self._flights[body_bytes]
        size = self._size
        pair = node * self._nodes + target
        slot = pair % PAIRS
        if self._pairs[slot] != pair:
            self._pairs[slot] = pair
            self._pair_j[slot] = self._transmit_j_per_byte[node][target]
        joules = size * self._pair_j[slot]
        left_j = left_j - self._work_j - joules
        if left_j <= 0.0:
            done_us = self._cpus.occupy(node, start_us, service_us)
            self._unicast(self._kind, node, target, body_bytes, message.body, done_us)
            return
        self._residual_j[node] = left_j
        self._cpu_j[node] += self._work_j
        self._tx_j[node] += joules
        done_us = start_us + self._whole_us
        if waits or self._earlier_us[node]:  # jobs to come, or to forget
            self._cpus.keep(node, start_us, done_us)
        else:
            self._last_us[node] = done_us
        if done_us > self._paid_until_us[node]:  # noqa: PLR1730 (`max` would be a call)
            self._paid_until_us[node] = done_us
        # 5. It is on air again when the CPU is done.
        message.source = node
        message.target = target
        message.bytes = size
        message.at_us = done_us
        self._kernel.add(done_us + self._flight_us, self.arrival, message)
