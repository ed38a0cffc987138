"""Relevance feedback (SNJoin §4): which heads to probe, learnt from what joined.

Paper            Here
RFBM             `RelevanceMatrix`: one row per hash bucket, one entry per other head
H                `bucket_of`
base value       `base`
RPS              what `choose` returns
w_i              `weights` of `learn`

Gaps in §4 and how we fill them:

* Entries start at "a base value (e.g., 50 %)", which the experiments do not state: `base`.
* Definition 4 makes the inclusion probabilities sum to one, yet calls 0.5 an equal chance in or out.
  `Selection.BERNOULLI` takes each head with its own probability; `Selection.PROPORTIONAL` draws without
  replacement by Definition 4, as many heads as Bernoulli would take on average.
* The update preserves the sum over the heads probed and may leave [0, 1]: entries are clamped.
* An entry at zero would never be tried again: `exploration` is a floor on the chance.
* When nobody matched all weights are zero and the paper's rule learns nothing; `with_initiator` counts
  the initiator, which did match itself, in the mean.
"""

import random
from collections.abc import Sequence
from enum import StrEnum

from join.contract import Value
from join.strategies.snjoin_star.request import ProbeRequest
from join.strategies.snjoin_star.rules.contract import Note
from sim.arithmetic import plain_sum


class Selection(StrEnum):
    """How a probing sequence is drawn from a row of the matrix."""

    BERNOULLI = "bernoulli"
    PROPORTIONAL = "proportional"


class Weights(StrEnum):
    """What a head's weight in a result is."""

    CONTRIBUTION = "contribution"
    """1 if it contributed, else 0 (for variable arity a head is in all of a reading's tuples or none)."""
    SIZE = "size"
    """Its share of the partners."""


def bucket_of(value: Value, buckets: int) -> int:
    """H: the row that a value belongs to, the same on every machine."""
    assert isinstance(value, int), value
    return ((value * 0x9E37_79B1 & 0xFFFF_FFFF) * buckets) >> 32


def weights_of(sizes: Sequence[int], kind: Weights) -> list[float]:
    """The weight of each head probed, from how many partners each contributed."""
    if kind is Weights.CONTRIBUTION:
        return [1.0 if size else 0.0 for size in sizes]
    total = sum(sizes)
    return [size / total if total else 0.0 for size in sizes]


class RelevanceMatrix:
    """One head's RFBM.

    Invariant: every entry lies in [0, 1]; a head without an entry counts as `base`.
    """

    def __init__(
        self,
        *,
        buckets: int,
        with_initiator: bool,
        selection: Selection,
        exploration: float,
        base: float,
        rng: random.Random,
    ) -> None:
        self._buckets = buckets
        self._with_initiator = with_initiator
        self._selection = selection
        self._exploration = exploration
        self._base = base
        self._random = rng.random
        self._rows: dict[int, dict[int, float]] = {}

    def relevance(self, value: Value, head: int) -> float:
        """The entry of `head` in the row of `value`."""
        return self._row(value).get(head, self._base)

    def choose(self, request: ProbeRequest, heads: Sequence[int], now_us: int) -> tuple[int, ...]:
        """The probing sequence for a reading: least relevant first.

        Partners travel with the request, so heads that probably add some come last.
        """
        del now_us
        row = self._row(request.value)
        floor, base = self._exploration, self._base
        draw = self._random
        if self._selection is Selection.BERNOULLI:
            chosen = []
            for head in heads:
                chance = row.get(head, base)
                if chance < floor:  # noqa: PLR1730 (`max` would be a call for every head)
                    chance = floor
                if draw() < chance:
                    chosen.append((chance, head))
        else:
            # Weighted draw without replacement (Efraimidis & Spirakis 2006): the largest u^(1/w).
            chances = [max(row.get(head, base), floor) for head in heads]
            keyed = [
                (draw() ** (1.0 / chance) if chance else 0.0, chance, head)
                for head, chance in zip(heads, chances, strict=True)
            ]
            keyed.sort(reverse=True)
            chosen = [(chance, head) for _, chance, head in keyed[: round(plain_sum(chances))]]
        chosen.sort()
        return tuple([head for _, head in chosen])

    def learn(self, note: Note, now_us: int) -> None:
        """Apply one feedback note: RFBM[h, i] += w_i - mean(w) over the heads probed (§4)."""
        del now_us
        if not note.heads:
            return
        if self._with_initiator:
            mean = (plain_sum(note.weights) + 1.0) / (len(note.weights) + 1)
        else:
            mean = plain_sum(note.weights) / len(note.weights)
        row = self._row(note.value)
        for head, weight in zip(note.heads, note.weights, strict=True):
            entry = row.get(head, self._base) + weight - mean
            row[head] = entry if 0.0 <= entry <= 1.0 else float(entry > 1.0)

    def forget(self, head: int) -> None:
        """Remove a node that is no longer a head; if it becomes one again it starts afresh."""
        for row in self._rows.values():
            row.pop(head, None)

    def _row(self, value: Value) -> dict[int, float]:
        return self._rows.setdefault(bucket_of(value, self._buckets), {})
