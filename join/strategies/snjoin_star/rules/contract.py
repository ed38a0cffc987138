"""Whom a head probes: the contract of probing rules, and the two that need no learning.

A rule sits at a head. It chooses a probing sequence for each reading and takes in the notes that the sink
returns. The sink's side of a rule (`join.strategies.snjoin_star.rules.notes`) decides what a note says and whether there is one.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from join.contract import Value
from join.strategies.snjoin_star.request import ProbeRequest


@dataclass(frozen=True, slots=True)
class Note:
    """What the sink tells the initiator of a probe request."""

    value: Value
    heads: tuple[int, ...]
    """The heads probed."""
    weights: tuple[float, ...]
    """Each one's weight in the result (SNJoin §4)."""
    sizes: tuple[int, ...]
    """How many partners each gave."""
    holders: tuple[tuple[int, int], ...] | None = None
    """All heads that hold the value, with how many of their sensors do; None if the sink keeps no such
    directory."""
    version: int = 0
    """Counts what the sink has told this initiator of this value."""


class ProbingRule(Protocol):
    """Chooses the heads that a reading is joined at."""

    def choose(self, request: ProbeRequest, heads: Sequence[int], now_us: int) -> tuple[int, ...]:
        """The probing sequence for a reading that has been joined in its own cluster."""

    def learn(self, note: Note, now_us: int) -> None:
        """Take in what the sink says."""

    def forget(self, head: int) -> None:
        """Note that a head is no longer one."""


class FullProbing:
    """Every head, in order of number."""

    def choose(self, request: ProbeRequest, heads: Sequence[int], now_us: int) -> tuple[int, ...]:
        """All heads."""
        del request, now_us
        return tuple(heads)

    def learn(self, note: Note, now_us: int) -> None:
        """There is nothing to learn."""

    def forget(self, head: int) -> None:
        """There is nothing to forget."""


class OracleProbing:
    """Exactly the heads that hold a partner: the lower bound that no rule can beat at full recall.

    It is told by the simulator, not by messages. Heads that give most come last, since partners travel with
    the request.
    """

    def __init__(self, matches: Callable[[int, ProbeRequest], int]) -> None:
        self._matches = matches

    def choose(self, request: ProbeRequest, heads: Sequence[int], now_us: int) -> tuple[int, ...]:
        """The heads that hold a partner now, fewest partners first."""
        del now_us
        found = [(self._matches(head, request), head) for head in heads]
        return tuple(head for matches, head in sorted(found) if matches)

    def learn(self, note: Note, now_us: int) -> None:
        """An oracle knows."""

    def forget(self, head: int) -> None:
        """An oracle knows."""


class BySelectivity:
    """Every head, those that matched the largest share of probes first (distributed MJoin, SNJoin §7.3)."""

    def __init__(self) -> None:
        self._probes: Counter[int] = Counter()
        self._matches: Counter[int] = Counter()

    def choose(self, request: ProbeRequest, heads: Sequence[int], now_us: int) -> tuple[int, ...]:
        """All heads, in descending order of selectivity as observed; unknown ones first."""
        del request, now_us
        return tuple(sorted(heads, key=lambda head: (-self._selectivity(head), head)))

    def learn(self, note: Note, now_us: int) -> None:
        """Nobody sends notes: see `observe`."""

    def observe(self, head: int, size: int) -> None:
        """A request that came past shows how many partners a head gave it."""
        self._probes[head] += 1
        self._matches[head] += bool(size)

    def forget(self, head: int) -> None:
        """Remove a head that is no longer one."""
        del self._probes[head], self._matches[head]

    def _selectivity(self, head: int) -> float:
        probes = self._probes[head]
        return self._matches[head] / probes if probes else 1.0
