"""Turns SELECT lists into operators: grouping, aggregates, projection, and the names of the output columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TypeGuard

from join.dsms.catalog import Type
from join.dsms.changes import Mapper
from join.dsms.language.errors import QueryFault
from join.dsms.language.render import render
from join.dsms.language.syntax import (
    Call,
    Column,
    Expression,
    InTable,
    Item,
    Literal,
    rewrite,
    walk,
)
from join.dsms.operators.aggregate_registry import (
    AggregateFunction,
    Takes,
    aggregate_named,
    aggregate_names,
)
from join.dsms.operators.distinct import Distinct
from join.dsms.operators.group_by import Aggregate, GroupBy
from join.dsms.operators.projection import Projection
from join.dsms.operators.table_columns import TableColumns
from join.dsms.planning.expressions import Compiled, compile_expression
from join.dsms.planning.plan import Plan
from join.dsms.planning.scope import Scope, Slot
from join.dsms.running_query import Transform

RESERVED = ("at_us", "query", "change")
"""Columns that precede the selected ones."""

_GROUPED = ""
"""The alias of a grouped row's columns."""


@dataclass(frozen=True, slots=True)
class OutputColumns:
    """The last operators of a query, and the names of their output columns."""

    transforms: list[Transform]
    names: list[str]
    types: list[Type | None]
    """None: always NULL."""


def build_output(plan: Plan, scope: Scope) -> OutputColumns:
    """The operators after the join and its conditions; errors are added to the scope."""
    items = plan.items or tuple(_all_items(scope))
    if plan.is_aggregated:
        transforms, values = _grouped(plan, items, scope)
    else:
        transforms, values = _compiled([item.value for item in items], scope)
    transforms.append(Projection(_mapper(values)))
    if plan.distinct:
        transforms.append(Distinct())
    return OutputColumns(transforms, _names(items, scope), [value.type for value in values])


def _all_items(scope: Scope) -> list[Item]:
    return [Item(Column(slot.alias, slot.name), None) for slot in scope.slots()]


def _mapper(values: Sequence[Compiled]) -> Mapper:
    places = [value.place for value in values if value.place is not None]
    if len(places) == len(values) > 1:
        # Plain columns, the common case: `itemgetter` picks them in C.
        return itemgetter(*places)
    evaluates = [value.evaluate for value in values]
    if len(evaluates) == 1:
        only = evaluates[0]
        return lambda row: (only(row),)
    return lambda row: tuple([evaluate(row) for evaluate in evaluates])


def _compiled(terms: Sequence[Expression], scope: Scope) -> tuple[list[Transform], list[Compiled]]:
    transforms, looked_up = _look_up(terms, scope)
    return transforms, [compile_expression(term, looked_up) for term in terms]


def _look_up(terms: Sequence[Expression], scope: Scope) -> tuple[list[Transform], Scope]:
    """An operator that looks up the tables which the terms read, if any, and the scope of its rows.

    Tables change; the operators after this one depend on the row alone.
    """
    nodes = (node for term in terms for node in walk(term) if isinstance(node, InTable))
    looks = list(dict.fromkeys(nodes))
    if not looks:
        return [], scope
    columns = TableColumns(_mapper([compile_expression(look, scope) for look in looks]))
    places = {look: place for place, look in enumerate(looks, len(scope.slots()))}
    return [columns], replace(scope, looked_up=places)


def _grouped(
    plan: Plan, items: Sequence[Item], scope: Scope
) -> tuple[list[Transform], list[Compiled]]:
    """GROUP BY and aggregates, and the items as expressions over the groups' rows."""
    if not plan.items:
        at = plan.group_by[0].at
        scope.faults.append(
            QueryFault(at, "SELECT * shows rows, GROUP BY groups: name the columns")
        )
    calls = [node for item in items for node in walk(item.value) if _is_aggregate(node)]
    before, looked_up = _look_up(calls, scope)
    found = (scope.resolve(column) for column in plan.group_by)
    keys = list(dict.fromkeys(slot for slot in found if slot))
    grouped_columns: dict[str, Type | None] = {f"key {slot.index}": slot.type for slot in keys}
    aggregates: list[Aggregate] = []
    known: dict[Call, str] = {}

    def grouped(node: Expression) -> Expression | None:
        if _is_aggregate(node):
            if node not in known:
                kind, aggregate = _aggregate(node, looked_up)
                known[node] = f"aggregate {len(known)}"
                grouped_columns[known[node]] = kind
                aggregates.append(aggregate)
            return Column(_GROUPED, known[node], node.at)
        if isinstance(node, Column):
            return _key_column(node, keys, scope)
        return None

    rewritten = [rewrite(item.value, grouped) for item in items]
    inner = Scope(scope.catalog, scope.moment, [(_GROUPED, grouped_columns)], scope.faults)
    after, values = _compiled(rewritten, inner)
    places = [slot.index for slot in keys]
    key: Mapper | None = (lambda row: tuple([row[i] for i in places])) if plan.group_by else None
    return [*before, GroupBy(key, aggregates), *after], values


def _is_aggregate(node: Expression) -> TypeGuard[Call]:
    return isinstance(node, Call) and aggregate_named(node.function) is not None


def _key_column(node: Column, keys: Sequence[Slot], scope: Scope) -> Expression:
    slot = scope.resolve(node)
    if slot is not None and slot not in keys:
        *names, last = map(str.upper, aggregate_names())
        inside = f"{', '.join(names)} or {last}"
        message = f"{render(node)} is neither in GROUP BY nor inside {inside}"
        scope.faults.append(QueryFault(node.at, message))
    if slot is None or slot not in keys:
        # The error is reported; NULL, which fits every type, prevents follow-up errors.
        return Literal(None, node.at)
    return Column(_GROUPED, f"key {slot.index}", node.at)


def _aggregate(node: Call, scope: Scope) -> tuple[Type, Aggregate]:
    function = aggregate_named(node.function)
    assert function is not None, node
    name = function.name
    if node.star:
        if not function.counts_rows:
            scope.faults.append(QueryFault(node.at, f"{name}(*): only COUNT takes *"))
        return Type.INTEGER, Aggregate(function.make, lambda row: True)
    if len(node.arguments) != 1:
        message = f"{node.function} takes one argument, found {len(node.arguments)}"
        scope.faults.append(QueryFault(node.at, message))
        return Type.INTEGER, Aggregate(function.make, lambda row: True)
    argument = compile_expression(node.arguments[0], scope)
    make = function.make_distinct if node.distinct else function.make
    if make is None:
        scope.faults.append(
            QueryFault(node.at, f"{name} of DISTINCT values: only COUNT supports it")
        )
    if fault := _misfit(function, argument.type):
        scope.faults.append(QueryFault(node.at, f"{node.function} of {fault}"))
    kind = function.returns or argument.type or Type.INTEGER
    return kind, Aggregate(make or function.make, argument.evaluate)


def _misfit(function: AggregateFunction, argument: Type | None) -> str:
    """Why the aggregate cannot be taken of an argument; nothing if it can."""
    if function.takes is Takes.NUMBERS and argument is not None and not argument.is_number:
        return f"{argument}; expected a number"
    if function.takes is Takes.ORDERED and argument is Type.OTHER:
        return "values that have no order"
    return ""


def _names(items: Sequence[Item], scope: Scope) -> list[str]:
    """Output names: as given, else the column's or the expression's; prefixed by the stream where they clash."""
    short = [
        item.name or (item.value.name if isinstance(item.value, Column) else render(item.value))
        for item in items
    ]
    names: list[str] = []
    for item, name in zip(items, short, strict=True):
        chosen = name
        if (short.count(name) > 1 or name in RESERVED) and isinstance(item.value, Column):
            slot = Scope(scope.catalog, scope.moment, scope.sources).resolve(item.value)
            chosen = f"{slot.alias}.{name}" if slot and not item.name else name
        number = 1
        while chosen in names or chosen in RESERVED:
            number += 1
            chosen = f"{name}_{number}"
        names.append(chosen)
    return names
