"""Enrolments that come late are on the next roster, and rosters that come late replace none that is newer."""

import random
from collections.abc import Sequence

from clustering.enrolment import Enrolment, EnrolmentOptions
from network.contract import Handler, LossHandler, Message
from sim.kernel import Kernel
from sim.trace.kinds import ENROL, ROSTER
from sim.trace.tables import SINK

WAIT_US = 100


class Air:
    """Delivers every message after the delay that the test sets for it."""

    def __init__(self, kernel: Kernel) -> None:
        self.alive = [True] * 10
        self.delays_us: dict[tuple[str, int, int], list[int]] = {}
        """By kind, source and target: the delays of such messages in turn, then 1."""
        self._kernel = kernel
        self._handlers: dict[str, Handler] = {}

    def attach(self, kind: str, handler: Handler, on_loss: LossHandler) -> None:
        del on_loss
        self._handlers[kind] = handler

    def unicast(
        self, kind: str, source: int, target: int, body_bytes: int, body: object, at_us: int
    ) -> int:
        delays_us = self.delays_us.get((kind, source, target), [])
        delay_us = delays_us.pop(0) if delays_us else 1
        message = Message(kind, source, target, body_bytes, body, at_us)
        self._kernel.call_at(at_us + delay_us, self._handlers[kind], message)
        return body_bytes

    def attach_service(self, *_: object) -> None:
        raise AssertionError

    def broadcast(self, *_: object) -> None:
        raise AssertionError


class Exchange:
    def __init__(self, copies: int = 1) -> None:
        self.kernel = Kernel()
        self.air = Air(self.kernel)
        self.rosters: dict[int, list[int]] = {}
        options = EnrolmentOptions(
            wait_us=lambda _messages, _bytes: WAIT_US,
            linger_us=1000,
            copies=copies,
            with_positions=False,
            spread=None,
        )
        self.enrolment = Enrolment(self.kernel, self.air, self._take, options)

    def _take(self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]) -> None:
        self.rosters[node] = [*heads, *(-head for head, _ in lingering)]

    def hold(self, heads: list[int], before: list[int]) -> None:
        self.kernel.process(self.enrolment.exchange(heads, before))
        self.kernel.advance(self.kernel.now_us + 2 * WAIT_US + 1)
        self.enrolment.linger({*before}.difference(heads))


def test_all_that_enrol_in_time_are_on_everybodys_roster() -> None:
    exchange = Exchange()
    exchange.hold([1, 2, 3], [])
    assert exchange.rosters == {key: [1, 2, 3] for key in [1, 2, 3]}
    assert exchange.enrolment.heads_listed == 3


def test_a_late_enrolment_is_on_a_roster_that_follows() -> None:
    exchange = Exchange()
    exchange.air.delays_us[ENROL, 2, SINK] = [3 * WAIT_US]
    exchange.hold([1, 2, 3], [])
    assert exchange.rosters == {key: [1, 3] for key in [1, 3]}
    assert exchange.enrolment.heads_listed == 2, "counts what the roster holds"
    exchange.kernel.advance(6 * WAIT_US)
    assert exchange.rosters == {key: [1, 2, 3] for key in [1, 2, 3]}
    assert exchange.enrolment.heads_listed == 3


def test_an_enrolment_that_is_late_before_motes_switch_keeps_those_that_step_down() -> None:
    exchange = Exchange()
    exchange.hold([4, 5], [])
    exchange.air.delays_us[ENROL, 2, SINK] = [WAIT_US + 10]
    exchange.hold([1, 2], [4, 5])
    assert exchange.rosters[1] == [1, -4, -5]
    exchange.kernel.advance(exchange.kernel.now_us + 3 * WAIT_US)
    assert exchange.rosters[1] == [1, 2, -4, -5]
    assert exchange.rosters[4] == [1, 2, -4, -5]
    assert exchange.enrolment.heads_listed == 4


def test_an_enrolment_of_a_round_that_is_over_does_not_count() -> None:
    exchange = Exchange()
    exchange.air.delays_us[ENROL, 2, SINK] = [2 * WAIT_US + 50]
    exchange.hold([1, 2], [])
    exchange.hold([1, 3], [1, 2])
    exchange.kernel.advance(exchange.kernel.now_us + 3 * WAIT_US)
    assert exchange.rosters[1] == [1, 3, -2]
    assert exchange.enrolment.heads_listed == 3


def test_a_roster_that_was_overtaken_is_not_taken() -> None:
    exchange = Exchange(copies=2)
    exchange.air.delays_us[ENROL, 2, SINK] = [3 * WAIT_US, 3 * WAIT_US]
    exchange.air.delays_us[ROSTER, SINK, 1] = [1, 9 * WAIT_US]
    exchange.hold([1, 2], [])
    exchange.kernel.advance(20 * WAIT_US)
    assert exchange.rosters[1] == [1, 2]


def test_copies_count_once_and_send_no_further_roster() -> None:
    exchange = Exchange(copies=3)
    rng = random.Random(1)
    for head in (1, 2):
        exchange.air.delays_us[ENROL, head, SINK] = [1, *(rng.randrange(500) for _ in range(2))]
    exchange.hold([1, 2], [])
    exchange.rosters.clear()
    exchange.kernel.advance(20 * WAIT_US)
    assert exchange.rosters == {}
    assert exchange.enrolment.heads_listed == 2
