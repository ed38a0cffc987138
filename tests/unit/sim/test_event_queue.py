"""The plain queue and the compiled one make the same calls in the same order."""

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sim.event_queue import EventQueue
from tests.support.requirements import needs_compiled_core

Calls = list[tuple[Any, ...]]

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("push"), st.integers(0, 20), st.sampled_from([0, 1]), st.integers(0, 3)),
        st.tuples(st.just("advance"), st.integers(0, 15)),
        st.tuples(st.just("next")),
        st.tuples(st.just("fraction"), st.floats(0, 10, allow_nan=False)),
    ),
    max_size=60,
)
"""A call that is pushed may push others, or skip ahead, when it is made."""


def made_calls(new_queue: Callable[[], Any], steps: Calls) -> Calls:
    """What happens to a queue that goes through the steps."""
    queue = new_queue()
    seen: Calls = []

    def call(argument: tuple[int, int]) -> None:
        number, more = argument
        seen.append((queue.now, int(queue.now_us), number, more))
        if more == 1:
            queue.push(queue.now + number % 3, call, (number, 0))
        elif more == 2:
            seen.append(("skip", queue.skip_to(int(queue.now_us) + 2), int(queue.now_us)))
        elif more == 3:
            queue.call_later(0, call, (number, 0))

    for number, (what, *how) in enumerate(steps):
        if what == "push":
            delay_us, priority, more = how
            queue.push(queue.now + delay_us, call, (number, more), priority)
        elif what == "fraction":
            queue.push(queue.now + how[0], call, (number, 0))
        elif what == "advance":
            queue.advance(int(queue.now) + how[0] + 1)
        elif queue.waiting():
            seen.append(("due", queue.next_us()))
            queue.call_next()
        seen.append((queue.now, queue.processed, queue.waiting(), sorted(queue.pending(call))))
    return seen


@needs_compiled_core
@given(STEPS)
def test_both_queues_make_the_same_calls(steps: Calls) -> None:
    from sim.compiled_queue import CompiledQueue

    assert made_calls(CompiledQueue, steps) == made_calls(EventQueue, steps)


@needs_compiled_core
@given(st.lists(st.integers(0, 1000), max_size=5000))
def test_a_large_compiled_queue_is_in_order(times_us: list[int]) -> None:
    from sim.compiled_queue import CompiledQueue

    queue = CompiledQueue()
    seen: list[tuple[int, int]] = []
    for number, at_us in enumerate(times_us):
        queue.call_at(at_us, seen.append, (at_us, number))
    queue.advance(1001)
    assert seen == sorted((at_us, number) for number, at_us in enumerate(times_us))
