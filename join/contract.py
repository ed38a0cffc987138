"""The protocol that every join operator implements, and its input and output types.

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
"""Source of a tuple: a node number in the simulator, a name in recorded streams."""

Value = Hashable
"""The join attribute's value."""


class Arity(StrEnum):
    """Which streams a result must contain."""

    COMPLETE = "complete"
    """Every stream (SNJoin Definition 1)."""
    VARIABLE = "variable"
    """Every stream that has a partner, at least two in total (SNJoin Definition 2)."""


class Occurrence(NamedTuple):
    """A tuple of a stream: the value it carries and when it was produced."""

    stream: Stream
    value: Value
    at_us: int


class Member(NamedTuple):
    """One stream's tuple in a result."""

    stream: Stream
    at_us: int


Partner = tuple[Stream, int]
"""A member as heads send it to the sink: an exact tuple, which compiled code reads field by field without a call."""


class Result:
    """The results of one arriving tuple, factorised: the product of the partners' times.

    `origin` is that tuple. All results of one arrival share one origin object; the next arrival has another,
    even if the two are equal.

    The expanded results are all ways to pick one time per partner stream. With thousands of streams
    they are too many to list, so they are counted without listing and listed lazily.

    An operator may return a view of its own state, made in constant time. Read a view before calling the
    operator again; after that it raises `StaleResultError`. `frozen` returns a copy that can be kept.
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
        """The exact number of expanded results."""
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
    """One expanded result of those with the same origin: the widest, then the one with the newest members.

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
    """A view of an operator's state was read after a later call to the operator; freeze a result to keep it."""


@dataclass(frozen=True, slots=True)
class Stats:
    """Counters of an operator's work so far."""

    arrived: int
    """Tuples given to `insert`."""
    late: int
    """Of these, tuples dropped because they arrived later than the allowed lateness."""
    refused: int
    """Of these, tuples rejected because their time lies implausibly far ahead."""
    probes: int
    """Look-ups in a hash table, or scans of a buffer where there is no table."""
    comparisons: int
    """Stored tuples that were tested as partners; of hash-table joins only if they are counted."""
    held_peak: int
    """Peak number of tuples in memory, intermediate results included."""
    spilled: int
    """Tuples written to disk because memory was full."""
    hashes: int = 0
    """Values hashed: of tuples and of intermediate results (SNJoin Fig. 4, Hash); if counted.

    FEW by hashing in its published modes: also look-ups in mode 2.
    """
    inserts: int = 0
    """Tuples and intermediate results put into a table or buffer (Fig. 4, Insert); if counted."""
    choices: int = 0
    """Steps of ordering tables into a probing sequence (Fig. 4, Choose); if counted."""
    formed: int = 0
    """Results formed, partial ones included (Fig. 4, Form); if counted.

    With complete arity each expanded result counts, with variable arity each factorised one.
    """
    mode_1: int = 0
    """Tuples met while no N-tuple lay within the windows, so that no predicate was evaluated (MW, FEW)."""
    mode_2: int = 0
    """Tuples joined within the period of an N-tuple (MW, FEW)."""


class Operator(Protocol):
    """A join operator: a pure core without clock, randomness or network.

    For every operator and order of arrival, the expanded results of all calls together are exactly those
    of `join.reference`, each once.
    """

    @property
    def stats(self) -> Stats:
        """Counters of the work so far."""

    def insert(self, occurrence: Occurrence) -> Sequence[Result]:
        """Accept one tuple and return the results that it completes.

        Read or freeze the results before the next call.
        """

    def advance(self, at_us: int) -> Sequence[Result]:
        """Advance event time to `at_us` and drop expired state; older tuples, less the allowed lateness, are late.

        Operators that postpone work, on disk or until a time has passed, do some of it here.
        """

    def add_stream(self, stream: Stream) -> None:
        """Add `stream`; complete results require it from now on."""

    def remove_stream(self, stream: Stream) -> None:
        """Remove `stream`; complete results no longer require it.

        With variable arity its earlier tuples stay partners until they leave the window.
        """

    def close(self) -> Iterable[Result]:
        """End the input and return all pending results. The operator cannot be used afterwards."""
