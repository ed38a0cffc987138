"""The contract of `motejoin reproduce` figures: draw one, and check the paper's claims on it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Verdict:
    """One claim of a paper, and our result."""

    claim: str
    paper: str
    """What the paper reports, in its words or numbers."""
    ours: str
    holds: bool | None
    """Whether our numbers support the claim; None: a number to compare with the paper's, not a claim."""


@dataclass(slots=True)
class Request:
    """How to draw a figure."""

    directory: Path
    """Where its files go."""
    quick: bool
    """Fewer tuples, for a first look."""
    report: Callable[[str], None]
    """Shows a line of progress to the user."""
    memo: dict[object, object] = field(default_factory=dict)
    """Results that figures of one invocation share."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a paper."""

    name: str
    title: str
    draw: Callable[[Request], list[Verdict]]
    """Writes NAME.png and NAME.csv and returns the verdicts."""
