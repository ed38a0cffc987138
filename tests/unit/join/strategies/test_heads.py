from join.strategies.snjoin_star.head import ClusterHead, HeadSettings
from join.strategies.snjoin_star.heads import IDLE_US, Heads
from join.strategies.snjoin_star.rules.without_learning import BySelectivity

WINDOW_US, LATE_US = 4_000_000, 1_000_000
KEPT_US = WINDOW_US + LATE_US + IDLE_US


def new_head(_: Heads, node: int) -> ClusterHead:
    settings = HeadSettings(window_us=WINDOW_US, late_us=LATE_US, factorised=False)
    return ClusterHead(node, BySelectivity(), settings)


def test_a_mote_that_has_long_been_no_head_is_forgotten_and_others_are_not() -> None:
    heads = Heads(new_head)
    heads[1].take_reading(7, 100, 0, 0)
    heads[2].take_reading(7, 100, 5_000_000, 5_000_000)
    heads.forget_idle(KEPT_US)
    assert heads.keys() == {1, 2}
    heads.forget_idle(KEPT_US + 1_000_000)
    assert heads.keys() == {2}
    assert len(list(heads[2].table.held())) == 1


def test_to_answer_for_others_is_not_to_be_idle() -> None:
    heads = Heads(new_head)
    request = heads[1].take_reading(7, 100, 0, 0)
    request.sequence = (2,)
    heads[2].answer(request, 5_000_000)
    heads.forget_idle(KEPT_US + 1_000_000)
    assert heads.keys() == {2}


def test_heads_that_stepped_down_leave_the_roster_in_the_order_of_their_times() -> None:
    head = new_head(Heads(new_head), 1)
    lingering = [(1, 50), (4, 90), (5, 20), (6, 20), (3, 70)]
    head.set_roster([1, 2, 3], lingering)
    assert head.others(20) == [2, 3, 4, 5, 6]
    assert head.others(21) == [2, 3, 4]
    assert head.others(91) == [2, 3]
