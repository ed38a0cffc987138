"""When to switch plans: once staying has cost half as much in excess as a switch costs (the rule of rent or buy).

A run is as likely as not to go on for as long as it has lasted, so that as much excess is still to come. A switch never costs more than
twice what staying has cost already.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from join.strategies.automatic.plans import Plan

SAVED_LEAST = 0.05
"""A plan that saves less than this share is as good as another."""


class Decide(Protocol):
    """Decides on the plan to switch to; see `better_plan`."""

    def __call__(
        self,
        costs: Mapping[Plan, float],
        plans: Sequence[Plan],
        present: Plan,
        *,
        announcing: float,
        overlap_us: int,
        seen_us: int,
    ) -> Plan | None:
        """The plan to switch to; None: keep the present one."""


def better_plan(
    costs: Mapping[Plan, float],
    plans: Sequence[Plan],
    present: Plan,
    *,
    announcing: float,
    overlap_us: int,
    seen_us: int,
) -> Plan | None:
    """The plan to switch to; None: keep the present one.

    Args:
        costs: What each plan costs, in bytes per microsecond.
        plans: Those to choose from.
        present: The one that is followed.
        announcing: Bytes that it takes to announce another one.
        overlap_us: How long both plans are followed after a switch.
        seen_us: For how long costs have been seen.
    """
    best = min(plans, key=lambda plan: (costs[plan], plan))
    saved = costs[present] - costs[best]
    if saved <= SAVED_LEAST * costs[present]:
        return None
    switch = announcing + overlap_us * costs[best]
    return best if 2 * saved * seen_us >= switch else None
