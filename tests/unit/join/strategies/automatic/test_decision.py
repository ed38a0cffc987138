"""When to switch plans, by hand-made costs."""

from collections.abc import Mapping

from join.strategies.automatic.decision import better_plan
from join.strategies.automatic.plans import Plan

PLANS = (Plan.LEASES, Plan.HEADS, Plan.HOMES, Plan.PLACES)
DEAR = 9.0


def decide(
    costs: Mapping[Plan, float],
    *,
    present: Plan = Plan.LEASES,
    switching: Mapping[Plan, float] | None = None,
    age_us: int = 1000,
    doubt: float = 0.0,
    switches: int = 0,
) -> Plan | None:
    prices = dict.fromkeys(PLANS, 100.0) | dict(switching or {})
    return better_plan(
        dict.fromkeys(PLANS, DEAR) | dict(costs),
        PLANS,
        present,
        switching=prices.__getitem__,
        age_us=age_us,
        doubt=doubt,
        switches=switches,
    )


def test_the_cheapest_plan_is_switched_to() -> None:
    assert decide({Plan.LEASES: 2.0, Plan.HEADS: 1.0, Plan.HOMES: 3.0}) is Plan.HEADS


def test_the_present_plan_is_kept_if_it_is_the_cheapest() -> None:
    assert decide({Plan.LEASES: 1.0, Plan.HEADS: 2.0, Plan.HOMES: 3.0}) is None


def test_a_switch_has_to_pay_off_before_the_run_is_three_times_as_old() -> None:
    costs = {Plan.LEASES: 2.0, Plan.HEADS: 1.0}
    assert decide(costs, switching={Plan.HEADS: 2001.0}) is None
    assert decide(costs, switching={Plan.HEADS: 1999.0}) is Plan.HEADS


def test_small_savings_are_none() -> None:
    assert decide({Plan.LEASES: 1.0, Plan.HEADS: 0.96}, switching={Plan.HEADS: 0.0}) is None


def test_savings_seen_at_some_homes_only_must_be_large() -> None:
    costs = {Plan.LEASES: 0.8, Plan.HOMES: 1.0}
    assert decide(costs, present=Plan.HOMES) is None
    costs[Plan.LEASES] = 0.7
    assert decide(costs, present=Plan.HOMES) is Plan.LEASES


def test_savings_by_places_must_be_large() -> None:
    assert decide({Plan.LEASES: 1.0, Plan.PLACES: 0.8}) is None
    assert decide({Plan.LEASES: 1.0, Plan.PLACES: 0.7}) is Plan.PLACES


def test_of_two_plans_the_one_whose_switch_costs_less_may_be_better() -> None:
    costs = {Plan.LEASES: 2.0, Plan.HEADS: 1.0, Plan.HOMES: 0.99}
    switching = {Plan.HEADS: 0.0, Plan.HOMES: 100.0}
    assert decide(costs, switching=switching, age_us=1000) is Plan.HEADS
    assert decide(costs, switching=switching, age_us=10_000) is Plan.HOMES


def test_in_doubt_the_plan_is_chosen_that_can_be_left_again_soon() -> None:
    costs = {Plan.LEASES: 2.0, Plan.HEADS: 1.0, Plan.HOMES: 0.9}
    assert decide(costs, doubt=0.0) is Plan.HOMES
    assert decide(costs, doubt=0.2) is Plan.HEADS


def test_every_switch_makes_the_next_one_harder() -> None:
    costs = {Plan.LEASES: 1.0, Plan.HEADS: 0.92}
    switching = {Plan.HEADS: 0.0}
    assert decide(costs, switching=switching) is Plan.HEADS
    assert decide(costs, switching=switching, switches=1) is None
