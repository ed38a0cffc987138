"""The newest occurrence per stream of one value, maintained as occurrences are added and dropped.

Nearly every probe of a value returns just these, and many probes see the same state: the tuple is built once and
shared until it changes.
"""

from bisect import insort
from collections.abc import Iterator

from join.contract import Member, Stream
from join.reading import Stamp


class Newest:
    """One value's newest member per stream.

    Invariants:
        * `by_stream` is in ascending order of stamps, and no stamp is above `last_stamp`.
        * `_members` has the same members, oldest first, equal times by the stream's name.
    """

    __slots__ = ("_answer", "_members", "by_stream", "last_stamp")

    def __init__(self) -> None:
        self.by_stream: dict[Stream, tuple[Stamp, Member]] = {}
        self.last_stamp: Stamp = (-1, -1, -1)
        self._members: list[Member] = []
        self._answer: tuple[Member, ...] | None = None

    def put(self, stream: Stream, at_us: int, stamp: Stamp) -> None:
        """Record a stream's newest occurrence in place of its previous newest."""
        by_stream, members = self.by_stream, self._members
        known = by_stream.pop(stream, None)
        if known is not None:
            members.remove(known[1])
        member = Member(stream, at_us)
        by_stream[stream] = (stamp, member)
        if stamp > self.last_stamp:
            self.last_stamp = stamp
        else:  # handed over by another head
            self.by_stream = dict(sorted(by_stream.items(), key=_by_stamp))
        add_member(members, member)
        self._answer = None

    def drop(self, stream: Stream) -> None:
        """Remove a stream."""
        self._members.remove(self.by_stream.pop(stream)[1])
        self._answer = None

    def answer(self) -> tuple[Member, ...]:
        """All members, oldest first."""
        if self._answer is None:
            self._answer = tuple(self._members)
        return self._answer

    def stamped_from(self, stamp: Stamp) -> Iterator[Stream]:
        """The streams whose newest occurrence is stamped `stamp` or later."""
        for stream, (stamped, _) in reversed(self.by_stream.items()):
            if stamped < stamp:
                return
            yield stream


def add_member(members: list[Member], member: Member) -> None:
    """Insert a member in order of time; constant time at the end, where nearly all belong."""
    if not members or member.at_us > members[-1].at_us:
        members.append(member)
    else:
        insort(members, member, key=_by_time)


def _by_time(member: Member) -> tuple[int, str]:
    return (member.at_us, str(member.stream))


def _by_stamp(entry: tuple[Stream, tuple[Stamp, Member]]) -> Stamp:
    return entry[1][0]
