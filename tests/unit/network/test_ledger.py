import pytest

from network.ledger import Ledger
from sim.kernel import Kernel
from sim.trace.tables import SINK


def ledger_of(*batteries_j: float) -> Ledger:
    return Ledger(Kernel(), batteries_j)


def test_what_is_drawn_is_missing_and_has_a_cause() -> None:
    ledger = ledger_of(2.0, 3.0)
    assert ledger.draw(0, ledger.tx_j, 0.5)
    assert ledger.draw(0, ledger.rx_j, 0.25)
    assert ledger.residual_j[0] == 1.25
    assert (ledger.tx_j[0], ledger.rx_j[0], ledger.spent_j(0)) == (0.5, 0.25, 0.75)
    assert ledger.residual_j[1] == 3.0
    ledger.assert_balanced()


def test_a_mote_that_cannot_pay_gives_what_it_has_and_dies_once() -> None:
    ledger = ledger_of(1.0)
    died: list[int] = []
    ledger.when_down(died.append)
    assert not ledger.draw(0, ledger.tx_j, 1.5)
    assert not ledger.draw(0, ledger.rx_j, 0.1)
    assert died == [0]
    assert ledger.deaths == [(0, 0)]
    assert (ledger.residual_j[0], ledger.tx_j[0], ledger.rx_j[0]) == (0.0, 1.0, 0.0)
    assert not ledger.alive[0]
    ledger.assert_balanced()


def test_a_battery_drawn_exactly_empty_is_dead() -> None:
    ledger = ledger_of(1.0)
    assert not ledger.draw(0, ledger.cpu_j, 1.0)
    assert not ledger.alive[0]


def test_a_mote_dies_when_the_work_it_has_paid_for_is_done() -> None:
    ledger = ledger_of(1.0)
    ledger.paid_until_us[0] = 500
    ledger.draw(0, ledger.rx_j, 2.0)
    assert ledger.deaths == [(500, 0)]


def test_the_sink_never_dies() -> None:
    ledger = ledger_of(1.0)
    assert ledger.draw(SINK, ledger.tx_j, 1e9)
    assert ledger.alive[SINK]
    assert ledger.count == 1


def test_a_mote_that_is_down_keeps_its_energy_and_its_mourners_are_told() -> None:
    ledger = ledger_of(1.0, 1.0)
    down: list[int] = []
    ledger.when_down(down.append)
    ledger.draw(0, ledger.tx_j, 0.25)
    ledger.set_down(0)
    assert down == [0]
    assert ledger.deaths == []
    assert not ledger.alive[0]
    ledger.set_up(0)
    assert ledger.alive[0]
    assert ledger.residual_j[0] == 0.75
    ledger.assert_balanced()


def test_a_joule_without_a_cause_is_noticed() -> None:
    ledger = ledger_of(1.0)
    ledger.residual_j[0] -= 1e-6
    with pytest.raises(AssertionError):
        ledger.assert_balanced()


@pytest.mark.parametrize("control", [False, True])
def test_copies_are_paid_for_one_by_one_up_to_a_mote_that_cannot(control: bool) -> None:
    ledger = ledger_of(2.0, 2.0, 0.5, 2.0, 2.0)
    ledger.set_down(3)
    nodes = [1, 0, 2, 4, 3, 1, SINK]
    assert ledger.draw_receptions(nodes, 0, 0.75, control=control) == 2
    assert ledger.draw_receptions(nodes, 3, 0.75, control=control) == 4
    assert ledger.draw_receptions(nodes, 5, 0.75, control=control) == 6
    assert ledger.draw_receptions(nodes, 7, 0.75, control=control) == 7
    assert list(ledger.rx_j) == [0.75, 1.5, 0.0, 0.0, 0.75, 0.0]
    assert list(ledger.control_j) == (list(ledger.rx_j) if control else [0.0] * 6)
    assert list(ledger.residual_j)[:5] == [1.25, 0.5, 0.5, 2.0, 1.25]
    ledger.assert_balanced()
