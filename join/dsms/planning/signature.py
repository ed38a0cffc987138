"""Signatures of window joins: equal for equal streams and join conditions, whatever the aliases (Shared §2.2)."""

from collections.abc import Sequence

from join.dsms.language.render import render
from join.dsms.language.syntax import Column, Expression, rewrite
from join.dsms.planning.plan import PlannedSource, Signature
from join.dsms.planning.scope import Scope


def sign(
    sources: Sequence[PlannedSource],
    keys: tuple[tuple[Expression, ...], ...],
    conditions: tuple[Expression, ...],
    scope: Scope,
) -> tuple[tuple[int, int], Signature]:
    """Which source is side 0 and which side 1, and the signature.

    Both orders of the two streams are rendered, and the one that sorts first is used: queries that name
    the streams in different order then agree.
    """
    candidates = []
    for order in ((0, 1), (1, 0)):
        names = {sources[place].alias: f"side{side}" for side, place in enumerate(order)}
        streams = (sources[order[0]].stream, sources[order[1]].stream)
        texts: list[tuple[str, ...]] = [
            tuple(_text(part, names, scope) for part in keys[place]) if keys else ()
            for place in order
        ]
        paired = sorted(zip(*texts, strict=True))
        left, right = (tuple(p[0] for p in paired), tuple(p[1] for p in paired))
        written = tuple(sorted(_text(condition, names, scope) for condition in conditions))
        candidates.append((streams, (left, right), written, order))
    streams, both, written, order = min(candidates)
    return order, Signature(streams, both, written)


def _text(node: Expression, names: dict[str, str], scope: Scope) -> str:
    """An expression with sides in place of aliases and columns as the catalog spells them."""

    def canonical(each: Expression) -> Expression | None:
        if not isinstance(each, Column):
            return None
        slot = scope.resolve(each)
        return Column(names[slot.alias], slot.name) if slot else None

    return render(rewrite(node, canonical))
