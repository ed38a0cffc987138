"""What a tuple costs the published operators, in the steps of SNJoin §6, Fig. 4, results being factorised.

Fig. 4     Here, complete arity                              variable arity (§6, §3.1)
Hash       1; the tree also each partial result it stores    the same
Insert     1; the tree also each partial result it stores    the same
Choose     MJoin sorts its k - 1 tables for each tuple       none
Probe      counted by the operator                           SNJoin 1; MJoin k - 1; the tree its own level and all above
Form       members put into results and partial results      SNJoin partners only; others one per table, NULL or not

A result is counted once for an arriving tuple, whatever the number of combinations: with Zipf values these would be
10^70 (SNJoin Definition 1 on 20 streams at 100 tuples/s).

Costs are those of `join.cpu_us` in scenario files, fixed long before these experiments; Choose, which that
table lacks, costs half of the cheapest step.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from join.contract import Arity, Occurrence, Operator, Result, Stream

HASH_US: Final = 5.0
INSERT_US: Final = 5.0
PROBE_US: Final = 20.0
FORM_US: Final = 2.0
CHOOSE_US: Final = 1.0

TREE: Final = "xjoin-tree"


class Steps(NamedTuple):
    """Steps of Fig. 4."""

    hashes: int
    inserts: int
    choices: int
    probes: int
    formed: int

    def cost_us(self) -> float:
        """What they cost."""
        costs = (HASH_US, INSERT_US, CHOOSE_US, PROBE_US, FORM_US)
        return sum(count * cost for count, cost in zip(self, costs, strict=True))


def sorting_steps(tables: int) -> int:
    """Comparisons to sort so many tables: n log n, rounded up."""
    return tables * (tables - 1).bit_length() if tables > 1 else 0


class Meter:
    """Reads off an operator what its last tuple took."""

    def __init__(
        self, name: str, operator: Operator, arity: Arity, streams: Sequence[Stream]
    ) -> None:
        self._name = name
        self._operator = operator
        self._complete = arity is Arity.COMPLETE
        self._probes = 0
        self.levels: dict[Stream, int] = {}
        self.number(streams)

    def number(self, streams: Sequence[Stream]) -> None:
        """Take note of the streams in the order of the tree's levels."""
        self.levels = {stream: level for level, stream in enumerate(streams)}

    def steps(self, occurrence: Occurrence, results: Sequence[Result]) -> Steps:
        """The steps of the tuple that was just inserted."""
        probes = self._operator.stats.probes
        made, self._probes = probes - self._probes, probes
        found = bool(results)
        others = len(self.levels) - 1
        match self._name, self._complete:
            case "snjoin", _:
                return Steps(1, 1, 0, made, results[0].arity - 1 if found else 0)
            case "mjoin", True:
                return Steps(1, 1, sorting_steps(others), made, made - (not found))
            case "mjoin", False:
                return Steps(1, 1, 0, made - 1, made - 1)
            case _, True:
                return self._tree(self.levels[occurrence.stream], made, found=found)
        # The tree with variable arity: a partial result goes up from the tuple's level whatever is found.
        level = self.levels.get(occurrence.stream, others)
        above = others - level
        return Steps(1 + above, 1 + above, 0, above + (level > 0), others)

    @staticmethod
    def _tree(level: int, made: int, *, found: bool) -> Steps:
        """Complete arity: probe the left table of the level, then store and probe level by level.

        Our tree reads members from the leaves below, a look-up each; the published one has them in its left table.
        """
        below = level if level >= 2 and made > 1 else 0
        own = 1 if level else 0
        climbed = made - below - own
        matched = bool(climbed) or found or not level
        stored = max(0, climbed - (level == 0))
        hits = climbed if found else max(0, climbed - 1)
        formed = (level if matched else 0) + hits
        return Steps(1 + stored, 1 + stored, 0, own + climbed, formed)


def worst_snjoin_us(streams: int) -> float:
    """What SNJoin spends on a tuple that joins with all other streams."""
    return Steps(1, 1, 0, 1, streams - 1).cost_us()
