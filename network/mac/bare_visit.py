"""The hot path: a visit of a mote over a bare air, in one function.

A *visit* is what `network.visits.visitor` puts together from the MAC, the ledger and the CPU: a message arrives and is paid for, the
CPU admits and serves it, and it is sent on. A run has millions of visits, so here are the same steps without the calls between those
parts. Every sum is the same and in the same order, so results are equal to the last bit. What is rare is left to the parts: motes that
are dead or about to die, messages that were cancelled, and the message of another kind that follows the last visit.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from heapq import heappush
from typing import Final

from simpy.events import NORMAL

from network.contract import Message, NodeId, Service
from network.ledger import Ledger
from network.mac.base import LogRow
from network.processor import Cpus
from sim.kernel import Kernel
from sim.trace.tables import Outcome

DELIVERED: Final = Outcome.DELIVERED.value
"""As plain text: the garbage collector does not track rows of plain values."""


@dataclass(frozen=True, slots=True)
class BareParts:
    """What a visit uses of the air."""

    kernel: Kernel
    ledger: Ledger
    log: list[LogRow]
    receive_j_per_byte: float
    transmit_j_per_byte: Mapping[tuple[NodeId, NodeId], float]
    flights: Mapping[int, tuple[int, int]]
    """By bytes of body: bytes on air, time until they are in memory."""
    arrive: Callable[[Message], None]
    """The arrival of a message, step by step."""
    unicast: Callable[[str, NodeId, NodeId, int, object, int], int]


def bare_visitor(  # noqa: PLR0915 (one function, so that a visit needs no calls between parts)
    kind: str, service: Service, air: BareParts, cpus: Cpus
) -> Callable[[Message], None]:
    """The arrival of a message of `kind` at a mote that serves it and sends it on."""
    kernel, ledger, append = air.kernel, air.ledger, air.log.append
    entries, numbers = kernel.entries, kernel.numbers
    alive, residual_j, paid_until_us = ledger.alive, ledger.residual_j, ledger.paid_until_us
    rx_j, cpu_j, tx_j = ledger.rx_j, ledger.cpu_j, ledger.tx_j
    receive_j_per_byte, transmit_j_per_byte = air.receive_j_per_byte, air.transmit_j_per_byte
    flights, arrive, unicast = air.flights, air.arrive, air.unicast
    jobs_done_us, room, work = cpus.done_us, cpus.queue, cpus.work
    serve, onward = service.serve, service.onward

    def visit(message: Message) -> None:
        # 1. The mote pays for receiving the message, which is logged.
        node = message.target
        size = message.bytes
        joules = size * receive_j_per_byte
        left_j = residual_j[node] - joules
        if left_j <= 0.0 or not alive[node] or message.drop is not None:
            arrive(message)
            return
        residual_j[node] = left_j
        rx_j[node] += joules
        now_us = kernel.now_us
        append((message.at_us, kind, message.source, node, size, DELIVERED, now_us, 1, 1))
        # 2. The CPU begins with it when it is done with earlier jobs, if there is room.
        jobs_us = jobs_done_us[node]
        while jobs_us and jobs_us[0] <= now_us:
            jobs_us.popleft()
        start_us = now_us
        if jobs_us:
            if len(jobs_us) >= room:
                service.refuse(message)
                return
            start_us = jobs_us[-1]
        # 3. The message is served.
        service_us = serve(message, start_us)
        following = onward(message.body)
        if following is None or following[0] is not kind:
            done_us = cpus.occupy(node, start_us, service_us)
            if following is None:
                service.end(message.body, done_us)
            else:
                unicast(following[0], node, following[1], following[2], message.body, done_us)
            return
        # 4. The mote pays for the CPU's work and for sending the message on.
        _, target, body_bytes = following
        whole_us, work_j = work[service_us]
        size, flight_us = flights[body_bytes]
        joules = size * transmit_j_per_byte[node, target]
        left_j = left_j - work_j - joules
        if left_j <= 0.0:
            done_us = cpus.occupy(node, start_us, service_us)
            unicast(kind, node, target, body_bytes, message.body, done_us)
            return
        residual_j[node] = left_j
        cpu_j[node] += work_j
        tx_j[node] += joules
        done_us = start_us + whole_us
        jobs_us.append(done_us)
        if done_us > paid_until_us[node]:  # noqa: PLR1730 (`max` would be a call)
            paid_until_us[node] = done_us
        # 5. It is on air again when the CPU is done.
        message.source = node
        message.target = target
        message.bytes = size
        message.at_us = done_us
        heappush(entries, (done_us + flight_us, NORMAL, next(numbers), visit, message))

    return visit
