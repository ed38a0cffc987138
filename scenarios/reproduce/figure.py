"""What `motejoin reproduce` asks of a figure: draw it, and judge it beside the paper's."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Verdict:
    """One claim of a paper, and what we see."""

    claim: str
    paper: str
    """What the paper reports, in its words or numbers."""
    ours: str
    holds: bool | None
    """Whether our numbers bear the claim out; None: a number to stand beside the paper's, nothing to judge."""


@dataclass(slots=True)
class Request:
    """What a figure is asked for."""

    directory: Path
    """Where its files go."""
    quick: bool
    """Fewer tuples, for a first look."""
    report: Callable[[str], None]
    """Says what is being done."""
    memo: dict[object, object] = field(default_factory=dict)
    """Results that figures of one invocation share."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a paper."""

    name: str
    title: str
    draw: Callable[[Request], list[Verdict]]
    """Writes NAME.png and NAME.csv and returns the verdicts."""
