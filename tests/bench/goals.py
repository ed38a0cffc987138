"""One line for each goal: what was measured, the goal, and their ratio."""

from collections.abc import Callable
from statistics import median


def print_goal(
    what: str, measured: float, goal: float, unit: str, *, at_least: bool = False
) -> None:
    """Print a measurement beside its goal."""
    met = measured >= goal if at_least else measured <= goal
    sign = ">=" if at_least else "<="
    print(
        f"{what}: {measured:.3g} {unit}, goal {sign} {goal:g}, ratio {measured / goal:.2f}:"
        f" {'met' if met else 'NOT MET'}",
        flush=True,
    )


def middle(measure: Callable[[], float], repeats: int) -> float:
    """The median of several measurements."""
    return median(measure() for _ in range(repeats))
