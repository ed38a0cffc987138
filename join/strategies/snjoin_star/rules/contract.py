"""Which heads to probe: the contract of probing rules.

A rule runs at a head. It chooses a probing sequence for each reading and learns from the notes that the sink
returns. The sink's side of a rule (`join.strategies.snjoin_star.rules.notes`) decides what a note contains and whether
one is sent. A new rule is a file that calls `join.strategies.snjoin_star.rules.registry.register`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from join.contract import Value
from join.strategies.snjoin_star.request import ProbeRequest


@dataclass(frozen=True, slots=True)
class RuleSettings:
    """A scenario's settings for probing rules; each rule uses what it needs."""

    window_us: int
    buckets: int
    """Rows of the memory that a rule keeps, over which values are hashed."""
    selection: str
    weights: str
    exploration: float
    """Least chance of a head to be probed."""
    target_recall: float | None
    """The share of partners to deliver; None: all."""
    base_relevance: float = 0.5
    """Chance of a head of which nothing has been learnt, to be probed; 0.5 is what SNJoin §4 gives as an example."""


@dataclass(frozen=True, slots=True)
class Note:
    """What the sink sends back to the initiator of a probe request."""

    value: Value
    heads: tuple[int, ...]
    """The heads probed."""
    weights: tuple[float, ...]
    """Each one's weight in the result (SNJoin §4)."""
    sizes: tuple[int, ...]
    """How many partners each contributed."""
    holders: tuple[tuple[int, int], ...] | None = None
    """All heads that hold the value, with how many of their sensors do; None if the sink keeps no such
    directory."""
    version: int = 0
    """Sequence number among the notes to this initiator on this value."""


class ProbingRule(Protocol):
    """Chooses the heads to probe for a reading."""

    def choose(self, request: ProbeRequest, heads: Sequence[int], now_us: int) -> tuple[int, ...]:
        """The probing sequence for a reading that has been joined in its own cluster."""

    def learn(self, note: Note, now_us: int) -> None:
        """Learn from a note."""

    def forget(self, head: int) -> None:
        """Forget a node that is no longer a head."""
