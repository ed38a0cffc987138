"""The one protocol of every join operator, and the types that go in and come out.

The sink, the cluster heads, the command line and the tests all drive operators through `Operator`, so
that a new operator is one file.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class Result:
    """What one arriving tuple joined with, factorised: the product of the partners' times.

    The expanded results are all ways to pick one time per partner stream. With thousands of streams
    they are too many to list, so they are counted without listing and listed lazily.
    """

    origin: Occurrence
    partners: Mapping[Stream, Sequence[int]]
    """Each partner stream's times, oldest first; never empty."""

    @property
    def arity(self) -> int:
        """Streams in each expanded result, the origin's included."""
        return len(self.partners) + 1

    @property
    def count(self) -> int:
        """How many expanded results there are, exactly."""
        return prod(len(times) for times in self.partners.values())

    def expand(self) -> Iterator[tuple[Member, ...]]:
        """Every result, members ordered by stream."""
        streams = [(self.origin.stream, (self.origin.at_us,)), *self.partners.items()]
        streams.sort(key=lambda entry: str(entry[0]))
        names = [stream for stream, _ in streams]
        for times in product(*(times for _, times in streams)):
            yield tuple(map(Member, names, times))

    def latest(self) -> tuple[Member, ...]:
        """One result: the newest time of each stream, members ordered by stream."""
        members = [Member(stream, times[-1]) for stream, times in self.partners.items()]
        members.append(Member(self.origin.stream, self.origin.at_us))
        return tuple(sorted(members, key=lambda member: str(member.stream)))


class Operator(Protocol):
    """A join operator: a pure core without clock, randomness or network."""

    def insert(self, occurrence: Occurrence) -> Sequence[Result]:
        """Accept one tuple and return the results that it completes."""

    def advance(self, at_us: int) -> Sequence[Result]:
        """Note that no tuple older than `at_us` less the allowed lateness will come; let state go."""
