"""A result built in constant time: a view of the table's own lists.

At 2,000 streams that share values a result has thousands of partners, and most callers need only its width
or its count. So nothing is copied until it is requested. A view that outlives the state it shows raises
`StaleResultError`.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from math import prod

from join.contract import Member, Occurrence, Result, StaleResultError, Stream
from join.operators.forming import Reach
from join.operators.table import Held


class Clock:
    """Counts the changes of an operator's state."""

    __slots__ = ("changes",)

    def __init__(self) -> None:
        self.changes = 0


class View(Result):
    """The product of a table's occurrences of one value, for a tuple that is the newest of them."""

    __slots__ = ("_changes", "_clock", "_held", "_reach")

    def __init__(
        self, origin: Occurrence, held: Mapping[Stream, Held], reach: Reach | None, clock: Clock
    ) -> None:
        """A view of `held`, which may contain the origin's own stream.

        With `reach`, occurrences older than a stream's window are left out; without it, none are.
        """
        self.origin = origin
        self._held = held
        self._reach = reach
        self._clock = clock
        self._changes = clock.changes

    @property
    def partners(self) -> Mapping[Stream, Sequence[int]]:
        """Each partner stream's times, oldest first; never empty."""
        return {
            stream: [record[0] for record in records] for stream, records in self._lists().items()
        }

    @property
    def arity(self) -> int:
        """Streams in each expanded result, the origin's included."""
        self._check()
        own, reach, at_us = self.origin.stream, self._reach, self.origin.at_us
        if reach is None:
            return len(self._held) + (own not in self._held)
        return 1 + sum(
            records[-1][0] >= at_us - reach(stream)
            for stream, records in self._held.items()
            if stream != own
        )

    @property
    def count(self) -> int:
        """The exact number of expanded results."""
        return prod(map(len, self._lists().values()))

    def latest(self) -> tuple[Member, ...]:
        """One result: the newest time of each stream, members ordered by stream."""
        members = [Member(stream, records[-1][0]) for stream, records in self._lists().items()]
        members.append(Member(self.origin.stream, self.origin.at_us))
        members.sort(key=lambda member: str(member.stream))
        return tuple(members)

    def frozen(self) -> Result:
        """This result, safe to keep; costs one step per partner tuple."""
        return Result(self.origin, self.partners)

    def _check(self) -> None:
        if self._changes != self._clock.changes:
            raise StaleResultError(
                f"the result of {self.origin} was read after a later call to the operator; use frozen()"
            )

    def _lists(self) -> dict[Stream, Held]:
        self._check()
        own, reach, at_us = self.origin.stream, self._reach, self.origin.at_us
        if reach is None:
            return {stream: records for stream, records in self._held.items() if stream != own}
        lists: dict[Stream, Held] = {}
        for stream, records in self._held.items():
            if stream == own:
                continue
            oldest_us = at_us - reach(stream)
            if records[0][0] >= oldest_us:
                lists[stream] = records
            elif records[-1][0] >= oldest_us:
                lists[stream] = records[bisect_left(records, (oldest_us,)) :]
        return lists
