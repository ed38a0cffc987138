"""Checks whether an IN and an OUT predicate can both be true (PWindow §4.4 forbids it), by searching a witness.

Predicates that compare columns with constants change their value only at those constants. So it is enough to try,
for each column, the constants and one value in each gap between them.
"""

from itertools import pairwise, product

from join.dsms.catalog import Type
from join.dsms.changes import Predicate, Row, Scalar
from join.dsms.language.syntax import (
    AllOf,
    AnyOf,
    Column,
    Comparison,
    Expression,
    InList,
    IsNull,
    Literal,
    Not,
    walk,
)
from join.dsms.planning.scope import Scope

_TRIALS_MAX = 20_000


def overlap_witness(
    enters: Expression, leaves: Expression, both: tuple[Predicate, Predicate], scope: Scope
) -> dict[str, Scalar] | None:
    """Values of columns that satisfy both predicates; None: none exist, or the check cannot decide."""
    constants: dict[int, set[Scalar]] = {}
    for node in (*walk(enters), *walk(leaves)):
        match node:
            case Comparison(_, Column() as column, Literal(value)) | Comparison(
                _, Literal(value), Column() as column
            ):
                _note(constants, column, [value], scope)
            case InList(Column() as column, literals):
                _note(constants, column, [literal.value for literal in literals], scope)
            case Column():
                _note(constants, node, [], scope)
            case AllOf() | AnyOf() | Not() | Literal() | IsNull(Column()):
                pass
            case _:
                return None
    slots = scope.slots()
    places = sorted(constants)
    choices = [_trials(slots[place].type, constants[place]) for place in places]
    trials = 1
    for choice in choices:
        trials *= len(choice)
    if trials > _TRIALS_MAX:
        return None
    for picked in product(*choices):
        trial: list[Scalar] = [None] * len(slots)
        for place, scalar in zip(places, picked, strict=True):
            trial[place] = scalar
        row: Row = tuple(trial)
        if both[0](row) and both[1](row):
            return {slots[place].name: row[place] for place in places}
    return None


def _note(
    constants: dict[int, set[Scalar]], column: Column, values: list[Scalar], scope: Scope
) -> None:
    slot = scope.resolve(column)
    if slot is not None:
        constants.setdefault(slot.index, set()).update(v for v in values if v is not None)


def _trials(kind: Type | None, constants: set[Scalar]) -> list[Scalar]:
    """Each constant, a value in each gap between them, and NULL."""
    if kind is None:
        return [None]
    if kind is Type.BOOLEAN:
        return [True, False, None]
    if kind is Type.TEXT:
        texts = sorted(each for each in constants if isinstance(each, str))
        # No text lies between t and t + NUL; t + "a" reads better where it suffices.
        after = [text + end for end in ("a", "\0") for text in texts]
        return [*texts, *after, "", None]
    if kind is Type.OTHER:
        return [(), None]
    numbers = sorted(each for each in constants if isinstance(each, int | float)) or [0]
    if kind is Type.INTEGER:
        return [*{round(number) + step for number in numbers for step in (-1, 0, 1)}, None]
    gaps = [(a + b) / 2 for a, b in pairwise(numbers)]
    return [*numbers, *gaps, numbers[0] - 1, numbers[-1] + 1, None]
