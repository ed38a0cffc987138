"""The conditions of WHERE, sorted by the streams they speak of: what a join can use, and what comes after it."""

from collections.abc import Sequence
from dataclasses import dataclass

from join.dsms.catalog import TIME_COLUMN
from join.dsms.language.syntax import (
    AllOf,
    Arithmetic,
    Column,
    Comparison,
    Expression,
    Literal,
    PairWindow,
)
from join.dsms.planning.plan import PlannedSource, reads_table
from join.dsms.planning.scope import Scope, aliases_of


@dataclass(frozen=True, slots=True)
class Equality:
    """`left = right` between two streams."""

    term: Expression
    aliases: tuple[str, str]
    sides: tuple[Expression, Expression]

    def oriented(self, right: str) -> tuple[Expression, Expression]:
        """Both sides, that of the stream `right` last."""
        first, second = self.sides
        return (first, second) if self.aliases[1] == right else (second, first)


def conjuncts(where: Expression | None) -> list[Expression]:
    """The conditions that WHERE joins with AND."""
    if where is None:
        return []
    return list(where.terms) if isinstance(where, AllOf) else [where]


def sort_conditions(
    terms: Sequence[Expression], sources: Sequence[PlannedSource], scope: Scope
) -> tuple[dict[str, list[Expression]], list[Equality], list[Expression]]:
    """Conditions on one stream, by its alias, equalities between two, and all others."""
    own: dict[str, list[Expression]] = {source.alias: [] for source in sources}
    equal, other = [], []
    for term in terms:
        used = aliases_of(term, scope)
        if len(used) == 1 and not reads_table(term):
            own[used.pop()].append(term)
        elif equality := _equality(term, scope):
            equal.append(equality)
        else:
            other.append(term)
    return own, equal, other


def common_keys(
    equal: Sequence[Equality], sources: Sequence[PlannedSource]
) -> tuple[tuple[tuple[Expression, ...], ...], list[Expression]]:
    """Per stream the parts of a key that runs through all streams, and the conditions it covers."""
    classes: list[tuple[dict[str, Expression], list[Expression]]] = []
    for equality in equal:
        sides = dict(zip(equality.aliases, equality.sides, strict=True))
        found = [c for c in classes if any(c[0].get(a) == side for a, side in sides.items())]
        merged, terms = dict(sides), [equality.term]
        fits = True
        for members, covered in found:
            fits = fits and all(merged.get(a, side) == side for a, side in members.items())
            merged.update(members)
            terms += covered
        if fits:
            classes = [c for c in classes if c not in found] + [(merged, terms)]
    complete = [c for c in classes if len(c[0]) == len(sources)]
    if not complete:
        return (), []
    keys = tuple(tuple(c[0][source.alias] for c in complete) for source in sources)
    return keys, [term for _, terms in complete for term in terms]


def is_pairwise(term: Expression, scope: Scope) -> bool:
    """Whether a condition speaks of two streams and of no table."""
    return len(aliases_of(term, scope)) == 2 and not reads_table(term)


def time_condition(pair: PairWindow) -> Expression:
    """A window between two streams as a condition on their times."""
    first, second = Column(pair.first, TIME_COLUMN), Column(pair.second, TIME_COLUMN)
    apart = Arithmetic("-", second, first)
    least = 0 if pair.directed else -pair.window_us
    return AllOf(
        (Comparison("<=", apart, Literal(pair.window_us)), Comparison(">=", apart, Literal(least)))
    )


def _equality(term: Expression, scope: Scope) -> Equality | None:
    if not isinstance(term, Comparison) or term.operator != "=":
        return None
    left, right = aliases_of(term.left, scope), aliases_of(term.right, scope)
    if len(left) != 1 or len(right) != 1 or left == right or reads_table(term):
        return None
    return Equality(term, (left.pop(), right.pop()), (term.left, term.right))
