"""When to switch plans: when that pays off before the run is three times as old.

A switch costs its announcement, what the new plan has to learn in the beginning, and the time in which both are followed. Of several
plans that is chosen which will have cost least by then.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from join.strategies.automatic.plans import Plan

AHEAD = 2.0
"""A switch has to pay off while the run goes on for so many times as long as it has."""
HIDDEN = (Plan.HOMES, Plan.PLACES)
"""Under these, few readings get to the sink: it takes long to see that another plan were better. In doubt, they are not chosen."""
SAVED_LEAST = 0.05
"""A plan that saves less than this share is as good as another."""
SAVED_LEAST_UNCERTAIN = 0.25
"""The same if costs are not known so well."""


class Decide(Protocol):
    """Decides on the plan to switch to; see `better_plan`."""

    def __call__(
        self,
        costs: Mapping[Plan, float],
        plans: Sequence[Plan],
        present: Plan,
        *,
        switching: Callable[[Plan], float],
        age_us: int,
        doubt: float,
        switches: int,
    ) -> Plan | None:
        """The plan to switch to; None: keep the present one."""


def better_plan(
    costs: Mapping[Plan, float],
    plans: Sequence[Plan],
    present: Plan,
    *,
    switching: Callable[[Plan], float],
    age_us: int,
    doubt: float,
    switches: int,
) -> Plan | None:
    """The plan to switch to; None: keep the present one.

    Args:
        costs: What each plan costs, in bytes per microsecond.
        plans: Those to choose from.
        present: The one that is followed.
        switching: Bytes that it takes to switch to another one.
        age_us: How long ago the first reading was.
        doubt: By which share costs may be off, as they have been seen for so short a time.
        switches: How many there have been: each makes the next one harder, so that plans do not take turns.
    """

    def ahead(plan: Plan) -> float:
        """What a plan will cost from now on, until the run is three times as old."""
        cost = AHEAD * age_us * costs[plan]
        if plan is present:
            return cost
        if plan in HIDDEN:
            cost *= 1.0 + doubt
        return switching(plan) + cost

    best = min(plans, key=lambda plan: (ahead(plan), plan))
    # Homes see parts only, and how many readings there would be to place is estimated, too.
    uncertain = present in HIDDEN or best is Plan.PLACES
    least = (SAVED_LEAST_UNCERTAIN if uncertain else SAVED_LEAST) * (1 + switches)
    return best if costs[best] < (1.0 - least) * costs[present] else None
