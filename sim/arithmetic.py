"""Sums that are the same under every Python: from 3.12 on, `sum` of floats compensates for rounding."""

from collections.abc import Iterable


def plain_sum(terms: Iterable[float]) -> float:
    """The sum of `terms`, added up from left to right."""
    total = 0.0
    for term in terms:
        total += term
    return total
