"""What a metric is: a small function of facts about a run and of aggregates over its trace.

An *aggregate* is a sum, a count, a least or a greatest over trace tables. Whoever computes metrics supplies
aggregates and nothing else: Spark SQL in `analysis.metrics.spark`, Arrow and NumPy in `analysis.metrics.arrow`,
the counts of a manifest in `analysis.metrics.counts`. Name, unit and formula stand in the metric, once.

A metric is null where it is not defined (a mean of nothing, a mote that did not die) or where the run did not
record a table that it needs; it is 0 only where 0 was counted.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from sim.trace.tables import AnswerLevel
from sim.units import US_PER_MS, US_PER_S

Number: TypeAlias = int | float

SHARE: Final = "share"
"""The unit of a number between 0 and 1."""

OF_RESULTS: Final = (AnswerLevel.RESULTS,)
"""For metrics of join results."""
OF_SETS: Final = (AnswerLevel.RESULTS, AnswerLevel.SETS)
"""For metrics of the motes in the answer."""
OF_COUNTS: Final = (AnswerLevel.COUNT, AnswerLevel.OCCUPANCY)
"""For metrics of how many motes are in the answer."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that the manifest says of a run before anything is measured."""

    name: str
    label: str
    what: str
    type: type[int] | type[float] | type[str]


@dataclass(frozen=True, slots=True)
class Where:
    """Rows whose `column` has one of `values`, or none of them if `negated`."""

    column: str
    values: tuple[str | int, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One number over trace tables of a run; the node numbers in it leave out the sink unless `what` says so."""

    name: str
    """The table, a dot, and what is taken from it."""
    tables: tuple[str, ...]
    what: str


@dataclass(frozen=True, slots=True)
class Sum(Aggregate):
    """The sum of a column of integers of one table; 0 without rows."""

    column: str
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Count(Aggregate):
    """The rows of one table; with a column, those in which it is not null."""

    column: str | None = None
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Distinct(Aggregate):
    """The different combinations of some columns of integers of one table."""

    columns: tuple[str, ...]
    where: Where | None = None


Total: TypeAlias = Sum | Count | Distinct
"""An aggregate of one table that every engine computes from its declaration alone."""


def columns_of(totals: Iterable[Total]) -> list[str]:
    """The columns of their table that totals are computed from, each once."""
    needed: dict[str, None] = {}
    for total in totals:
        if total.where is not None:
            needed[total.where.column] = None
        match total:
            case Distinct():
                needed |= dict.fromkeys(total.columns)
            case Sum() | Count() if total.column is not None:
                needed[total.column] = None
    return list(needed)


@dataclass(frozen=True, slots=True)
class Special(Aggregate):
    """An aggregate that each engine has a step of its own for; a step gives several."""

    step: str
    empty: Number | None
    """What it is if the tables are there and the step found nothing."""

    @property
    def column(self) -> str:
        """What the step calls it."""
        return self.name.partition(".")[2]


Input: TypeAlias = Fact | Aggregate


def as_is(number: Number) -> Number:
    """{0}."""
    return number


def ratio(part: Number, whole: Number) -> float | None:
    """{0} / {1}."""
    return part / whole if whole else None


def difference(whole: Number, part: Number) -> Number:
    """{0} − {1}."""
    return whole - part


def seconds(us: int) -> float:
    """{0} / 1,000,000."""
    return us / US_PER_S


def milliseconds(us: int) -> float:
    """{0} / 1,000."""
    return us / US_PER_MS


def mean_milliseconds(us: int, count: int) -> float | None:
    """{0} / {1} / 1,000."""
    return us / count / US_PER_MS if count else None


def seconds_between(first_us: int, last_us: int) -> float:
    """({1} − {0}) / 1,000,000."""
    return (last_us - first_us) / US_PER_S


@dataclass(frozen=True, slots=True)
class Metric:
    """One number about a run, declared once.

    `value` takes what `needs` names, in this order, none of it null; its docstring is the formula, with
    {0}, {1}, … for the names.
    """

    name: str
    """Its column in metrics.csv."""
    label: str
    """What people read."""
    unit: str
    needs: tuple[Input, ...]
    value: Callable[..., Number | None] = as_is
    what: str = ""
    """A sentence or two: what it says about the run."""
    null: str = ""
    """When it is not defined although its tables were recorded."""
    whole: bool = False
    """Whether it is an integer."""
    main: bool = False
    """Whether it is shown when nobody asks for particular metrics."""
    least: Callable[[Mapping[str, Any]], float | None] | None = None
    """Of what had not happened by the run's end: the least that it can be, from the run's row of metrics.csv."""
    levels: tuple[AnswerLevel, ...] = ()
    """The levels of answers (`join.answer`) at which it is defined; none: at all of them."""

    @property
    def title(self) -> str:
        """The label as it begins a line."""
        return self.label[:1].upper() + self.label[1:]

    @property
    def heading(self) -> str:
        """Label and unit, for a column of numbers."""
        if self.unit == SHARE or self.unit in self.label.split():
            return self.label
        return f"{self.label} ({self.unit})"

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """What it needs of the trace."""
        return tuple(need for need in self.needs if isinstance(need, Aggregate))

    @property
    def tables(self) -> tuple[str, ...]:
        """The trace tables that it needs."""
        return tuple(dict.fromkeys(table for each in self.aggregates for table in each.tables))

    def of(self, known: Mapping[str, Any]) -> Number | None:
        """Its value, from inputs by name; None if one of them is not known, or at other levels than its own."""
        if self.levels and known.get("answer") not in self.levels:
            return None
        values = [known.get(need.name) for need in self.needs]
        return None if any(value is None for value in values) else self.value(*values)


def aggregates_of(metrics: Iterable[Metric]) -> list[Aggregate]:
    """The aggregates that some metrics need, each once."""
    return list(dict.fromkeys(each for metric in metrics for each in metric.aggregates))


def with_empty(
    aggregates: Iterable[Aggregate], found: Mapping[str, Any], recorded: Iterable[str]
) -> dict[str, Any]:
    """What was `found`, null where tables were not recorded, and 0 where nothing was counted."""
    tables = set(recorded)
    known = {}
    for each in aggregates:
        value = found.get(each.name)
        if value is None:
            value = each.empty if isinstance(each, Special) else 0
        known[each.name] = value if tables.issuperset(each.tables) else None
    return known
