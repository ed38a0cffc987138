"""Sizes of the join's messages: bytes of body, by content.

Field widths are ours (the papers give none): a mote's number and a value fit two bytes, a time four
(milliseconds for seven weeks), a count and a weight one.
"""

from join.contract import Partner
from join.strategies.snjoin_star.rules.contract import Note

NODE_BYTES = 2
VALUE_BYTES = 2
TIME_BYTES = 4
COUNT_BYTES = 1
WEIGHT_BYTES = 1

READING_BYTES = VALUE_BYTES + TIME_BYTES
"""A member's reading; its sender is in the header."""

RELAYED_READING_BYTES = READING_BYTES + NODE_BYTES
"""A reading forwarded by a head, with the number of its mote."""

STAMP_BYTES = TIME_BYTES + NODE_BYTES + COUNT_BYTES
HEAD_COUNT_BYTES = NODE_BYTES + COUNT_BYTES
"""One (head, |r|) of a probe request."""


HELD_READING_BYTES = VALUE_BYTES + TIME_BYTES + NODE_BYTES + STAMP_BYTES
"""A reading that changes heads, with its processing stamp."""

ACK_BYTES = COUNT_BYTES
"""The sink's acknowledgement of a request: its number."""

REQUEST_BYTES = COUNT_BYTES + VALUE_BYTES + TIME_BYTES + NODE_BYTES + STAMP_BYTES
"""A probe request without heads and partners: SeqNo, the reading, its mote, its stamp."""


def request_bytes(heads: int, partners_bytes: int) -> int:
    """A probe request or result: with (head, |r|) of the initiator and each head, and R."""
    return REQUEST_BYTES + (heads + 1) * HEAD_COUNT_BYTES + partners_bytes


def latest_bytes(members: tuple[Partner, ...]) -> int:
    """Partners in the form `latest`: each node with one time."""
    return len(members) * (NODE_BYTES + TIME_BYTES)


def factorised_bytes(members: tuple[Partner, ...]) -> int:
    """Partners in the form `factorised`: each node once, with a count and its times."""
    nodes = len({stream for stream, _ in members})
    return nodes * (NODE_BYTES + COUNT_BYTES) + len(members) * TIME_BYTES


def note_bytes(note: Note) -> int:
    """A relevance feedback note: which request it answers, then (head, weight) of each head probed.

    A note from the directory lists holders with counts instead of weights, and its version.
    """
    size = VALUE_BYTES + COUNT_BYTES
    if note.holders is None:
        return size + len(note.heads) * (NODE_BYTES + WEIGHT_BYTES)
    return size + COUNT_BYTES + len(note.holders) * (NODE_BYTES + COUNT_BYTES)
