"""A figure of a paper: independent points to compute, a picture of them, and a judge for each of the paper's claims.

A figure is declared, not programmed: `points` lists the parameters of each point, `measure` computes one, and
`scenarios/reproduce/points.py` runs them in any order, in parallel, and again only if they are missing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from scenarios.reproduce.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

Point = dict[str, Any]
"""Parameters of one point by name: text, numbers and true or false only."""
Row = dict[str, Any]
"""Measured values by name, likewise."""


class Size(StrEnum):
    """How large an experiment is."""

    QUICK = "quick"
    """All figures in minutes: fewer streams, motes, tuples and seeds."""
    FULL = "full"
    """As the paper states, or as near as we can afford; the figure's deviations say where not."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A comparative sentence of a paper's evaluation, in our own words."""

    name: str
    """Unique among all papers."""
    section: str
    sentence: str
    printed: str = ""
    """The number that the paper prints for it, if any."""
    unjudged: str = ""
    """Why we do not judge it; empty if a figure does."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether a claim holds in our numbers."""

    holds: bool
    ours: str
    """The numbers it was judged by."""
    why: str = ""
    """Why it does not hold, with the measurement that shows it; empty if it holds."""


Judge = Callable[[Table], Finding]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure or table of a paper."""

    name: str
    source: str
    """Paper, section and figure."""
    title: str
    points: Callable[[Size], Sequence[Point]]
    measure: Callable[[Point], Sequence[Row]]
    """The rows of one point: a pure function of its parameters, importable by its name."""
    draw: Callable[[Table], "Canvas"]
    judges: Mapping[str, Judge]
    """By name of the claim."""
    deviations: tuple[str, ...] = ()
    """What we do differently from the paper, and why; sentences."""


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper, what it claims and what we reproduce of it."""

    name: str
    title: str
    claims: tuple[Claim, ...]
    figures: tuple[Figure, ...]
