"""The records that heads report to the sink, and their sizes."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias
from zlib import crc32

from join.strategies.message_sizes import NODE_BYTES
from join.strategies.record_sizes import DIGEST_BYTES, SEQUENCE_BYTES, RecordSizes


class Enter(NamedTuple):
    """A mote is active in a value for a window from its reading at `read_us`; then it lapses by itself."""

    value: int
    mote: int
    read_us: int


class Hold(NamedTuple):
    """A mote is active in a value until it leaves, as long as its head confirms it now and then."""

    value: int
    mote: int
    read_us: int
    """Not sent: for the trace alone."""


class Leave(NamedTuple):
    """A mote that was held is held no longer: it lapses a window after its reading at `read_us`."""

    value: int
    mote: int
    read_us: int


class Count(NamedTuple):
    """So many of the head's motes are active in a value, until it reports another number."""

    value: int
    motes: int


class Snapshot(NamedTuple):
    """All that the head has reported and that still stands."""

    records: tuple["Enter | Hold | Count", ...]


class Digest(NamedTuple):
    """What the head holds: how many records, and their checksum. It has no number of its own."""

    held: int
    checksum: int


Record: TypeAlias = Enter | Hold | Leave | Count | Snapshot | Digest


class Report(NamedTuple):
    """A record on its way to the sink."""

    head: int
    boot: int
    """How often the head had started before: one that crashed has forgotten what it reported."""
    number: int
    """Counts the head's records; of a digest or a plain record, the number that comes next."""
    record: Record
    plain: bool
    """Whether it is an `Enter` without a number, which takes no more than a reading: the head holds nothing."""
    sent_us: int
    """When the message that caused it was first sent. For measuring alone: it is not in the message."""


def checksum(held: Iterable[Hold | Count]) -> int:
    """The checksum of what a head holds."""
    keys = sorted((record.value, record[1]) for record in held)
    return crc32(repr(keys).encode())


def record_bytes(record: Record, sizes: RecordSizes, now_us: int) -> int:
    """Bytes of a record that is sent now."""
    match record:
        case Enter() | Leave():
            return sizes.timed_mote_record(record.value, record.read_us, now_us)
        case Hold():
            return sizes.mote_record(record.value)
        case Count():
            return sizes.count_record(record.value)
        case Snapshot():
            return sum(record_bytes(each, sizes, now_us) for each in record.records)
        case Digest():
            return DIGEST_BYTES


def report_bytes(reports: Sequence[Report], sizes: RecordSizes, now_us: int, *, named: bool) -> int:
    """Bytes of a message with these reports; `named`: it says whose they are, as its sender does not."""
    numbered = [report for report in reports if not report.plain]
    heads = {report.head for report in numbered}
    head_bytes = SEQUENCE_BYTES + (NODE_BYTES if named else 0)
    body = sum(record_bytes(report.record, sizes, now_us) for report in numbered)
    for report in reports:
        if report.plain:
            assert isinstance(report.record, Enter), report
            value, _, read_us = report.record
            body += sizes.relayed_reading(value, read_us, now_us)
    return len(heads) * head_bytes + body


def motes_in(record: Record) -> int:
    """How many motes a record names."""
    match record:
        case Enter() | Hold() | Leave():
            return 1
        case Snapshot():
            return sum(motes_in(each) for each in record.records)
        case _:
            return 0
