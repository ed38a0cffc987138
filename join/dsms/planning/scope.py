"""Which names an expression may use, and where in the row their values are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from join.dsms.catalog import Catalog, Type, find
from join.dsms.language.errors import QueryFault, unknown
from join.dsms.language.syntax import Column, Expression, InTable, walk


@dataclass(slots=True)
class Moment:
    """The time that NOW means; the engine sets it."""

    now_us: int = 0


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a column is."""

    index: int
    type: Type | None
    """None: always NULL."""
    alias: str
    name: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Rows made of the columns of one or more streams, one after the other.

    Errors found while resolving names and compiling expressions are collected in `faults`.
    """

    catalog: Catalog
    moment: Moment
    sources: Sequence[tuple[str, Mapping[str, Type | None]]]
    """Alias and columns, in the order of the row."""
    faults: list[QueryFault] = field(default_factory=list)
    allows_now: bool = False
    looked_up: Mapping[InTable, int] = field(default_factory=dict)
    """Table look-ups whose results are in the row, with their index."""

    def slots(self) -> list[Slot]:
        """All columns in the order of the row."""
        slots: list[Slot] = []
        for alias, columns in self.sources:
            slots += [
                Slot(len(slots) + i, t, alias, name) for i, (name, t) in enumerate(columns.items())
            ]
        return slots

    def resolve(self, column: Column) -> Slot | None:
        """A column's slot; None and an error if it does not exist or is ambiguous."""
        slots = self.slots()
        if column.stream is not None:
            aliases = [alias for alias, _ in self.sources]
            alias = find(column.stream, aliases)
            if alias is None:
                self.faults.append(unknown("stream", column.stream, aliases, column.at))
                return None
            slots = [slot for slot in slots if slot.alias == alias]
        name = find(column.name, [slot.name for slot in slots])
        found = [slot for slot in slots if slot.name == name]
        if not found:
            where = f"column of {column.stream}" if column.stream else "column"
            names = {slot.name for slot in slots}
            self.faults.append(unknown(where, column.name, names, column.at))
            return None
        if len(found) > 1:
            both = " or ".join(f"{slot.alias}.{slot.name}" for slot in found)
            message = f"the column {column.name!r} is ambiguous: write {both}"
            self.faults.append(QueryFault(column.at, message))
            return None
        return found[0]

    def only(self, alias: str) -> "Scope":
        """The scope of one stream's rows alone."""
        sources = [source for source in self.sources if source[0] == alias]
        return Scope(self.catalog, self.moment, sources, self.faults, self.allows_now)


def aliases_of(term: Expression, scope: Scope) -> set[str]:
    """The streams whose columns an expression uses; unknown names are ignored."""
    silent = Scope(scope.catalog, scope.moment, scope.sources)
    columns = (node for node in walk(term) if isinstance(node, Column))
    return {slot.alias for column in columns if (slot := silent.resolve(column))}
