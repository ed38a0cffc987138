"""The search of the multi-way W-joins: one stream after the other, in a shrinking period (SSDBM, BEW).

Paper                                              Here
period, twice the window around the new tuple      `lows[k]`, `highs[k]`: what stream k may contribute
the period shrinks to what is near all chosen      `_shrunk`
iteration over combinations                        `_search`, depth first

With one window for all streams the period of every stream is [TSmax - w, TSmin + w].
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence

from join.contract import Result
from join.operators.wjoin.base import Item, WJoin


class Backtracking(WJoin):
    """A W-join that searches per arriving tuple; subclasses provide a stream's candidate tuples."""

    @abstractmethod
    def _candidates(self, index: int, low_us: int, high_us: int, item: Item) -> list[Item]:
        """The tuples of a stream within a period; with equality, only those of the item's value."""

    def _found(self, index: int, item: Item) -> list[Result]:
        """All results of a tuple with the stored tuples."""
        size = len(self._streams)
        order = [(index + step) % size for step in range(1, size)]
        at_us, bounds = item[0], self._bounds
        lows = [at_us - bounds[k][index] for k in range(size)]
        highs = [at_us + bounds[index][k] for k in range(size)]
        return list(self._search(index, item, order, {}, lows, highs))

    def _search(
        self,
        index: int,
        item: Item,
        order: Sequence[int],
        chosen: dict[int, Item],
        lows: Sequence[int],
        highs: Sequence[int],
    ) -> Iterator[Result]:
        depth = len(chosen)
        if depth == len(order):
            yield from self._refined(index, item, {})
            return
        k = order[depth]
        candidates = self._candidates(k, lows[k], highs[k], item)
        if self._predicate is not None:
            members = [(index, item[2]), *((place, other[2]) for place, other in chosen.items())]
            candidates = [c for c in candidates if self._agrees(members, k, c[2])]
        if not candidates:
            return
        if depth == len(order) - 1:
            choices = {place: [other[0]] for place, other in chosen.items()}
            choices[k] = sorted(candidate[0] for candidate in candidates)
            yield from self._refined(index, item, choices)
            return
        self._formed += len(candidates)
        for candidate in candidates:
            shrunk = self._shrunk(lows, highs, k, candidate[0])
            yield from self._search(index, item, order, {**chosen, k: candidate}, *shrunk)

    def _shrunk(
        self, lows: Sequence[int], highs: Sequence[int], chosen: int, at_us: int
    ) -> tuple[list[int], list[int]]:
        """The periods when stream `chosen` contributes a tuple of `at_us`."""
        bounds = self._bounds
        row = bounds[chosen]
        return (
            [max(low, at_us - bounds[k][chosen]) for k, low in enumerate(lows)],
            [min(high, at_us + row[k]) for k, high in enumerate(highs)],
        )
