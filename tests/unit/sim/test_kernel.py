import pytest

from sim.kernel import Kernel, Story


def test_callbacks_and_processes_share_one_order_of_time_then_scheduling() -> None:
    kernel = Kernel()
    seen: list[str] = []

    def story() -> Story:
        yield kernel.timeout(5)
        seen.append("process at 5")
        yield kernel.timeout(5)
        seen.append("process at 10")

    kernel.process(story())
    kernel.call_later(10, seen.append, "callback at 10")
    kernel.call_later(5, seen.append, "callback at 5")
    kernel.call_later(0, seen.append, "callback at 0")
    kernel.advance(11)
    assert seen == [
        "callback at 0",
        "callback at 5",
        "process at 5",
        "callback at 10",
        "process at 10",
    ]


def test_advance_stops_before_its_end_and_leaves_later_events_pending() -> None:
    kernel = Kernel()
    seen: list[int] = []
    for at_us in (3, 4, 5):
        kernel.call_at(at_us, seen.append, at_us)
    kernel.advance(5)
    assert seen == [3, 4]
    assert kernel.now_us == 5
    assert kernel.pending(seen.append) == [5]
    assert kernel.processed == 2


def test_a_call_cannot_be_scheduled_in_the_past() -> None:
    kernel = Kernel()
    kernel.advance(10)
    with pytest.raises(AssertionError):
        kernel.call_at(9, print, "too late")


def test_a_process_that_fails_fails_the_run() -> None:
    kernel = Kernel()

    def story() -> Story:
        yield kernel.timeout(1)
        raise ValueError("wrong")

    kernel.process(story())
    with pytest.raises(ValueError, match="wrong"):
        kernel.advance(2)


def test_the_clock_is_an_integer() -> None:
    kernel = Kernel()
    kernel.call_later(7, lambda _: None, None)
    kernel.advance(7)
    assert type(kernel.now_us) is int


def test_a_skip_is_a_step_that_nothing_else_is_due_before() -> None:
    kernel = Kernel()
    skips: list[tuple[int, bool]] = []

    def skip(at_us: int) -> None:
        skips.append((kernel.now_us, kernel.skip_to(at_us)))

    kernel.call_at(5, skip, 10)
    kernel.call_at(10, skip, 19)  # due at the time of the first skip, so that one is refused
    kernel.call_at(30, skip, 40)  # beyond the end of `advance`
    kernel.advance(40)
    assert skips == [(5, False), (10, True), (30, False)]
    assert kernel.processed == 4
    assert kernel.now_us == 40


def test_a_skip_sets_the_clock() -> None:
    kernel = Kernel()
    seen: list[int] = []

    def skip(at_us: int) -> None:
        assert kernel.skip_to(at_us)
        seen.append(kernel.now_us)

    kernel.call_at(5, skip, 10)
    kernel.advance(40)
    assert seen == [10]
    assert not kernel.skip_to(50), "the kernel is not running"
