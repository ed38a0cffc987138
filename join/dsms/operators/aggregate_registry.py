"""The aggregates that queries can call, by name: those of SQL and those that users register."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from join.dsms.catalog import BUILT_IN, Type
from join.dsms.operators.aggregates import Accumulator, Average, Count, CountDistinct, Extreme, Sum
from sim.errors import InputError


class Takes(Enum):
    """What an aggregate can be taken of."""

    ANYTHING = auto()
    NUMBERS = auto()
    ORDERED = auto()
    """Numbers, text and truth values: what is smaller or larger."""


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """An aggregate of one argument, such as MAX(x)."""

    name: str
    """In small letters; queries may write it in any."""
    takes: Takes
    make: Callable[[], Accumulator]
    """Makes the state of one group."""
    returns: Type | None = None
    """None: the type of the argument."""
    make_distinct: Callable[[], Accumulator] | None = None
    """The same of DISTINCT values; None: queries may not ask for it."""
    counts_rows: bool = False
    """Whether `name(*)` counts rows, as COUNT does."""


def _largest() -> Accumulator:
    return Extreme(largest=True)


def _smallest() -> Accumulator:
    return Extreme(largest=False)


_aggregates: dict[str, AggregateFunction] = {
    function.name: function
    for function in (
        AggregateFunction(
            "count",
            Takes.ANYTHING,
            Count,
            Type.INTEGER,
            make_distinct=CountDistinct,
            counts_rows=True,
        ),
        AggregateFunction("sum", Takes.NUMBERS, Sum),
        AggregateFunction("avg", Takes.NUMBERS, Average, Type.REAL),
        # Copies make no difference to the smallest and the largest.
        AggregateFunction("min", Takes.ORDERED, _smallest, make_distinct=_smallest),
        AggregateFunction("max", Takes.ORDERED, _largest, make_distinct=_largest),
    )
}


def register(function: AggregateFunction) -> None:
    """Make an aggregate available to all queries.

    Raises:
        InputError: its name is taken, or not in small letters.
    """
    name = function.name
    if name != name.lower() or not name.isidentifier():
        raise InputError(f"aggregate {name!r}: expected a name in small letters")
    taken = name in {each.name for each in BUILT_IN}
    if taken or _aggregates.get(name, function) is not function:
        raise InputError(f"aggregate {name!r}: there is a function of that name")
    _aggregates[name] = function


def aggregate_named(name: str) -> AggregateFunction | None:
    """The aggregate of that name, in small or capital letters."""
    return _aggregates.get(name.lower())


def aggregate_names() -> tuple[str, ...]:
    """The names of all aggregates."""
    return tuple(_aggregates)
