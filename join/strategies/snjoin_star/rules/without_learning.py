"""Probing rules that learn nothing from notes: all heads, an oracle, and all heads by selectivity."""

from collections import Counter
from collections.abc import Callable, Sequence

from join.strategies.snjoin_star.request import ProbeRequest
from join.strategies.snjoin_star.rules.contract import Note


class FullProbing:
    """Every head, in order of number."""

    def choose(self, request: ProbeRequest, heads: Sequence[int], now_us: int) -> tuple[int, ...]:
        """All heads."""
        del request, now_us
        return tuple(heads)

    def learn(self, note: Note, now_us: int) -> None:
        """Do nothing: the rule does not learn."""

    def forget(self, head: int) -> None:
        """Do nothing: the rule stores nothing."""


class OracleProbing:
    """Exactly the heads that hold a partner: the lower bound that no rule can beat at full recall.

    Its knowledge comes from the simulator, not from messages. Heads with most partners come last, since partners travel
    with the request.
    """

    def __init__(self, matches: Callable[[int, ProbeRequest], int]) -> None:
        self._matches = matches

    def choose(self, request: ProbeRequest, heads: Sequence[int], now_us: int) -> tuple[int, ...]:
        """The heads that hold a partner now, fewest partners first."""
        del now_us
        found = [(self._matches(head, request), head) for head in heads]
        return tuple(head for matches, head in sorted(found) if matches)

    def learn(self, note: Note, now_us: int) -> None:
        """Do nothing: the oracle needs no notes."""

    def forget(self, head: int) -> None:
        """Do nothing: the oracle stores nothing."""


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
        """Do nothing: there are no notes; see `observe`."""

    def observe(self, head: int, size: int) -> None:
        """Learn how many partners a head contributed to a request."""
        self._probes[head] += 1
        self._matches[head] += bool(size)

    def forget(self, head: int) -> None:
        """Remove a node that is no longer a head."""
        del self._probes[head], self._matches[head]

    def _selectivity(self, head: int) -> float:
        probes = self._probes[head]
        return self._matches[head] / probes if probes else 1.0
