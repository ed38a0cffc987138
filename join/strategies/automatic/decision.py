"""When to switch plans: once staying has cost half as much in excess as a switch costs (the rule of rent or buy).

A switch thus never costs more than twice what staying has cost already. Of several plans that is chosen which will have cost least
when the run has gone on for twice as long as costs have been seen, the switch included.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from join.strategies.automatic.plans import Plan

SAVED_LEAST = 0.05
"""A plan that saves less than this share is as good as another."""
SAVED_LEAST_SAMPLED = 0.25
"""The same if costs are known of some homes only, those with most to do."""


class Decide(Protocol):
    """Decides on the plan to switch to; see `better_plan`."""

    def __call__(
        self,
        costs: Mapping[Plan, float],
        plans: Sequence[Plan],
        present: Plan,
        *,
        announcing: float,
        overlap_us: Callable[[Plan], int],
        seen_us: int,
        sampled: bool,
    ) -> Plan | None:
        """The plan to switch to; None: keep the present one."""


def better_plan(
    costs: Mapping[Plan, float],
    plans: Sequence[Plan],
    present: Plan,
    *,
    announcing: float,
    overlap_us: Callable[[Plan], int],
    seen_us: int,
    sampled: bool,
) -> Plan | None:
    """The plan to switch to; None: keep the present one.

    Args:
        costs: What each plan costs, in bytes per microsecond.
        plans: Those to choose from.
        present: The one that is followed.
        announcing: Bytes that it takes to announce another one.
        overlap_us: How long both plans are followed after a switch to one.
        seen_us: For how long costs have been seen.
        sampled: Whether they are those of some homes only.
    """

    def ahead(plan: Plan) -> float:
        """What a plan will cost from now on, if the run goes on for twice as long as costs have been seen."""
        switch = 0.0
        if plan is not present:
            switch = announcing + overlap_us(plan) * costs[plan]
        return switch + 2 * seen_us * costs[plan]

    best = min(plans, key=lambda plan: (ahead(plan), plan))
    least = SAVED_LEAST_SAMPLED if sampled else SAVED_LEAST
    return best if costs[best] < (1.0 - least) * costs[present] else None
