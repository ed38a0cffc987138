"""The one protocol of every join operator, and the types that go in and come out.

The sink, the cluster heads, the command line and the tests all drive operators through `Operator`, so
that a new operator is one file.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from math import prod
from typing import NamedTuple, Protocol

Stream = Hashable
"""Who produced a tuple: a node number in the simulator, a name in recorded streams."""

Value = Hashable
"""What tuples join on."""


class Arity(StrEnum):
    """Who must take part in a result."""

    COMPLETE = "complete"
    """Every stream (SNJoin Definition 1)."""
    VARIABLE = "variable"
    """All streams that have a partner, at least two in total (SNJoin Definition 2)."""


class Occurrence(NamedTuple):
    """A tuple of a stream: the value it carries and when it was produced."""

    stream: Stream
    value: Value
    at_us: int


class Member(NamedTuple):
    """One stream's part in a result."""

    stream: Stream
    at_us: int


class Result:
    """What one arriving tuple joined with, factorised: the product of the partners' times.

    `origin` is that tuple: one object for all results of one arrival, another for those of the next, equal or not.

    The expanded results are all ways to pick one time per partner stream. With thousands of streams
    they are too many to list, so they are counted without listing and listed lazily.

    An operator may answer with a view of its own state, which is made in constant time. A view is to be
    read before the operator is called again; after that it raises `StaleResultError`. `frozen` gives a
    copy that can be kept.
    """

    __slots__ = ("_partners", "origin")

    def __init__(self, origin: Occurrence, partners: Mapping[Stream, Sequence[int]]) -> None:
        self.origin = origin
        self._partners = partners

    @property
    def partners(self) -> Mapping[Stream, Sequence[int]]:
        """Each partner stream's times, oldest first; never empty."""
        return self._partners

    @property
    def arity(self) -> int:
        """Streams in each expanded result, the origin's included."""
        return len(self.partners) + 1

    @property
    def count(self) -> int:
        """How many expanded results there are, exactly."""
        return prod(map(len, self.partners.values()))

    def expand(self) -> Iterator[tuple[Member, ...]]:
        """Every result, members ordered by stream."""
        streams = [(self.origin.stream, (self.origin.at_us,)), *self.partners.items()]
        streams.sort(key=lambda entry: str(entry[0]))
        return product(*([Member(stream, at) for at in times] for stream, times in streams))

    def latest(self) -> tuple[Member, ...]:
        """One result: the newest time of each stream, members ordered by stream."""
        members = [Member(stream, times[-1]) for stream, times in self.partners.items()]
        members.append(Member(self.origin.stream, self.origin.at_us))
        return tuple(sorted(members, key=_by_stream))

    def frozen(self) -> "Result":
        """This result, safe to keep."""
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Result):
            return NotImplemented
        return self.origin == other.origin and self.partners == other.partners

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Result({self.origin!r}, {self.partners!r})"


def latest_of(results: Sequence[Result]) -> tuple[Member, ...]:
    """One expanded result of many with the same origin: the widest, then the one of the newest members.

    A late tuple's results come in several parts (see `join.operators.forming`). Taking the best over all of them
    makes the `latest` form the same for every operator.
    """
    assert results
    if len(results) == 1:
        return results[0].latest()
    candidates = (result.latest() for result in results)
    return max(candidates, key=_width_and_times)


def _width_and_times(members: tuple[Member, ...]) -> tuple[int, list[int], tuple[str, ...]]:
    times = sorted((member.at_us for member in members), reverse=True)
    return (len(members), times, tuple(f"{member.stream} {member.at_us}" for member in members))


def _by_stream(member: Member) -> str:
    return str(member.stream)


class StaleResultError(RuntimeError):
    """A view of an operator's state was read after the operator went on: freeze it to keep it."""


@dataclass(frozen=True, slots=True)
class Stats:
    """What an operator has done so far."""

    arrived: int
    """Tuples given to `insert`."""
    late: int
    """Of these, dropped because they came later than the allowed lateness."""
    refused: int
    """Of these, refused because their time lies absurdly far ahead."""
    probes: int
    """Look-ups in a hash table, or scans of a buffer where there is no table."""
    comparisons: int
    """Held tuples that were looked at to see whether they join."""
    held_peak: int
    """Most tuples in memory at any time, intermediate results included."""
    spilled: int
    """Tuples written to disk for want of memory."""


class Operator(Protocol):
    """A join operator: a pure core without clock, randomness or network.

    Whatever the operator and the order of arrival, the expanded results of all calls together are those
    of `join.reference`, each once.
    """

    @property
    def stats(self) -> Stats:
        """What was done so far."""

    def insert(self, occurrence: Occurrence) -> Sequence[Result]:
        """Accept one tuple and return the results that it completes.

        Results are to be read, or frozen, before the next call.
        """

    def advance(self, at_us: int) -> Sequence[Result]:
        """Note that no tuple older than `at_us` less the allowed lateness will come; let state go.

        Operators that put work off, to disk or until a time has passed, do some of it here.
        """

    def add_stream(self, stream: Stream) -> None:
        """From now on `stream` takes part; complete results need it."""

    def remove_stream(self, stream: Stream) -> None:
        """From now on `stream` sends nothing; complete results go without it.

        With variable arity what it sent before stays a partner until it leaves the window.
        """

    def close(self) -> Iterable[Result]:
        """The input has ended: all results that are still owed. Ends the operator's life."""
