from network.ledger import Ledger
from network.processor import Cpus
from sim.kernel import Kernel
from sim.trace.tables import SINK


def cpus_of(*, queue: int = 2) -> tuple[Kernel, Ledger, Cpus]:
    kernel = Kernel()
    ledger = Ledger(kernel, [1.0, 1.0])
    return kernel, ledger, Cpus(kernel, ledger, active_w=0.024, queue=queue, sink_speed=10.0)


def test_jobs_are_served_one_after_another_in_order_of_arrival() -> None:
    kernel, _, cpus = cpus_of()
    kernel.advance(100)
    first = cpus.admit(0)
    assert first == 100
    assert cpus.occupy(0, first, 30) == 130
    second = cpus.admit(0)
    assert second == 130
    assert cpus.occupy(0, second, 5) == 135
    assert cpus.admit(1) == 100


def test_a_full_queue_admits_nobody_until_a_job_is_done() -> None:
    kernel, _, cpus = cpus_of(queue=2)
    for _ in range(2):
        start_us = cpus.admit(0)
        assert start_us is not None
        cpus.occupy(0, start_us, 10)
    assert cpus.admit(0) is None
    kernel.advance(9)
    assert cpus.admit(0) is None
    kernel.advance(10)
    assert cpus.admit(0) == 20


def test_the_sink_is_faster_and_has_room_for_all() -> None:
    _, ledger, cpus = cpus_of(queue=1)
    done = []
    for _ in range(3):
        start_us = cpus.admit(SINK)
        assert start_us is not None
        done.append(cpus.occupy(SINK, start_us, 100))
    assert done == [10, 20, 30]
    assert ledger.cpu_j[SINK] == 0.0


def test_cpu_time_is_charged_at_active_power() -> None:
    _, ledger, cpus = cpus_of()
    cpus.occupy(0, 0, 1_000)
    assert abs(ledger.cpu_j[0] - 24e-6) < 1e-15
    assert ledger.paid_until_us[0] == 1_000


def test_a_mote_that_has_paid_for_later_work_dies_after_it() -> None:
    _, ledger, cpus = cpus_of()
    ledger.paid_until_us[0] = 5_000  # a message that it will send
    cpus.occupy(0, 0, 1_000)
    ledger.draw(0, ledger.tx_j, 2.0)
    assert ledger.deaths == [(5_000, 0)]
