"""When to switch plans, by hand-made costs."""

from collections.abc import Mapping

from join.strategies.automatic.decision import better_plan
from join.strategies.automatic.plans import Plan, overlap_us

PLANS = (Plan.LEASES, Plan.HEADS, Plan.HOMES)
WINDOW_US = 10


def decide(
    costs: Mapping[Plan, float],
    *,
    present: Plan = Plan.LEASES,
    announcing: float = 100.0,
    seen_us: int = 1000,
    sampled: bool = False,
) -> Plan | None:
    return better_plan(
        costs,
        PLANS,
        present,
        announcing=announcing,
        overlap_us=lambda new: overlap_us(present, new, WINDOW_US),
        seen_us=seen_us,
        sampled=sampled,
    )


def test_the_cheapest_plan_is_switched_to() -> None:
    assert decide({Plan.LEASES: 2.0, Plan.HEADS: 1.0, Plan.HOMES: 3.0}) is Plan.HEADS


def test_the_present_plan_is_kept_if_it_is_the_cheapest() -> None:
    assert decide({Plan.LEASES: 1.0, Plan.HEADS: 2.0, Plan.HOMES: 3.0}) is None


def test_a_switch_waits_until_staying_has_cost_half_as_much_in_excess() -> None:
    costs = {Plan.LEASES: 2.0, Plan.HEADS: 1.0, Plan.HOMES: 9.0}
    assert decide(costs, announcing=2001.0) is None
    assert decide(costs, announcing=1999.0) is Plan.HEADS


def test_small_savings_are_none() -> None:
    assert decide({Plan.LEASES: 1.0, Plan.HEADS: 0.96, Plan.HOMES: 9.0}, announcing=0.0) is None


def test_savings_seen_at_some_homes_only_must_be_large() -> None:
    costs = {Plan.LEASES: 0.8, Plan.HEADS: 9.0, Plan.HOMES: 1.0}
    assert decide(costs, present=Plan.HOMES, sampled=True) is None
    costs[Plan.LEASES] = 0.7
    assert decide(costs, present=Plan.HOMES, sampled=True) is Plan.LEASES


def test_following_both_plans_for_a_window_counts() -> None:
    # Homes would be cheaper by 1 % but for the window in which motes follow both plans.
    costs = {Plan.LEASES: 2.0, Plan.HEADS: 1.0, Plan.HOMES: 0.99}
    assert decide(costs, seen_us=100, announcing=0.0) is Plan.HEADS
    assert decide(costs, seen_us=10_000, announcing=0.0) is Plan.HOMES
