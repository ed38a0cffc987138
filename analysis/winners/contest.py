"""Which contender has the lowest metric at each variant of a sweep, and by how much it leads."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

TIE: float = 0.05
"""A lead of less than this share of the winner's value is a tie."""


class Entry(NamedTuple):
    """A contender's result in one run."""

    variant: str
    contender: str
    seed: int
    value: float


@dataclass(frozen=True, slots=True)
class Contest:
    """The outcome at one variant."""

    variant: str
    means: Mapping[str, float]
    """By contender, over the seeds that all of them have."""
    seeds: int

    @property
    def order(self) -> list[str]:
        """The contenders, the best first."""
        return sorted(self.means, key=lambda contender: (self.means[contender], contender))

    @property
    def winner(self) -> str:
        """The contender with the lowest mean."""
        return self.order[0]

    @property
    def lead(self) -> float | None:
        """How much more the second needs, as a share of what the winner needs; None if there is no second."""
        if len(self.order) == 1:
            return None
        first, second = (self.means[contender] for contender in self.order[:2])
        return second / first - 1.0 if first else None

    def is_close(self, contender: str) -> bool:
        """Whether a contender ties with the winner."""
        return self.means[contender] <= (1.0 + TIE) * self.means[self.winner]


def contests(entries: Iterable[Entry]) -> list[Contest]:
    """The contests of all variants, in the order of their first entries."""
    values: dict[str, dict[str, dict[int, float]]] = {}
    for variant, contender, seed, value in entries:
        values.setdefault(variant, {}).setdefault(contender, {})[seed] = value
    found = []
    for variant, by_contender in values.items():
        seeds = sorted(set.intersection(*(set(by_seed) for by_seed in by_contender.values())))
        if seeds:
            means = {
                contender: fmean(by_seed[seed] for seed in seeds)
                for contender, by_seed in by_contender.items()
            }
            found.append(Contest(variant, means, len(seeds)))
    return found


def ratios(own: Sequence[Contest], contender: str) -> dict[str, float]:
    """By variant: what a contender needs, as a multiple of what the best of the others needs."""
    return {
        each.variant: each.means[contender]
        / min(value for other, value in each.means.items() if other != contender)
        for each in own
        if contender in each.means and len(each.means) > 1
    }
