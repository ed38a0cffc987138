"""What the join's messages weigh: bytes of body, by what they carry.

Field widths are ours (the papers give none): a mote's number and a value fit two bytes, a time four
(milliseconds for seven weeks), a count and a weight one.
"""

from collections.abc import Iterable

from join.contract import Member

NODE_BYTES = 2
VALUE_BYTES = 2
TIME_BYTES = 4
COUNT_BYTES = 1
WEIGHT_BYTES = 1

READING_BYTES = VALUE_BYTES + TIME_BYTES
"""A member's reading; who sent it stands in the header."""

RELAYED_READING_BYTES = READING_BYTES + NODE_BYTES
"""A reading passed on by a head: whose it is must be said."""

STAMP_BYTES = TIME_BYTES + NODE_BYTES + COUNT_BYTES
HEAD_COUNT_BYTES = NODE_BYTES + COUNT_BYTES
"""One (head, |r|) of a probe request."""


def request_bytes(*, heads: int, partners_bytes: int) -> int:
    """A probe request or result: SeqNo, the reading, its stamp, (head, |r|) of each head, R."""
    reading = VALUE_BYTES + TIME_BYTES + NODE_BYTES
    return COUNT_BYTES + reading + STAMP_BYTES + heads * HEAD_COUNT_BYTES + partners_bytes


def latest_bytes(members: tuple[Member, ...]) -> int:
    """Partners in the form `latest`: each node with one time."""
    return len(members) * (NODE_BYTES + TIME_BYTES)


def factorised_bytes(members: tuple[Member, ...]) -> int:
    """Partners in the form `factorised`: each node once, with a count and its times."""
    nodes = len({member.stream for member in members})
    return nodes * (NODE_BYTES + COUNT_BYTES) + len(members) * TIME_BYTES


def feedback_bytes(heads: int) -> int:
    """A relevance feedback note: the reading's value, then (head, weight) of each head probed."""
    return VALUE_BYTES + heads * (NODE_BYTES + WEIGHT_BYTES)


def distinct_streams(members: Iterable[Member]) -> int:
    """How many streams the members come from."""
    return len({member.stream for member in members})
