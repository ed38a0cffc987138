"""Sizes of the records in readings, reports and packed messages: plain, or compact.

Plain records have the fields of `join.strategies.message_sizes`. In compact ones a value is a number of variable length
(seven bits a byte, as in Protocol Buffers), and a time is the age in milliseconds, of variable length too: the same
precision in fewer bytes while readings are young.
"""

from join.strategies.message_sizes import COUNT_BYTES, NODE_BYTES, TIME_BYTES, VALUE_BYTES
from sim.units import US_PER_MS

SEQUENCE_BYTES = 2
"""The number of a report, which shows gaps, and of the head's start."""
RECORD_KIND_BYTES = 1
CHECKSUM_BYTES = 4
DIGEST_BYTES = RECORD_KIND_BYTES + COUNT_BYTES + CHECKSUM_BYTES
"""What a head holds: how many, and a checksum."""
RESYNC_BYTES = 1


def varint_bytes(number: int) -> int:
    """Bytes of a whole number of variable length; a negative one takes as many as the largest."""
    return max(1, -(-number.bit_length() // 7)) if number >= 0 else 10


class RecordSizes:
    """Bytes of records, in the encoding of the scenario."""

    def __init__(self, *, compact: bool) -> None:
        self._compact = compact

    def value(self, value: int) -> int:
        """A value."""
        return varint_bytes(value) if self._compact else VALUE_BYTES

    def time(self, at_us: int, now_us: int) -> int:
        """A time, sent now."""
        if not self._compact:
            return TIME_BYTES
        return varint_bytes(max(0, (now_us - at_us) // US_PER_MS))

    def reading(self, value: int, at_us: int, now_us: int) -> int:
        """A reading whose mote is in the header."""
        return self.value(value) + self.time(at_us, now_us)

    def relayed_reading(self, value: int, at_us: int, now_us: int) -> int:
        """A reading with the number of its mote."""
        return NODE_BYTES + self.reading(value, at_us, now_us)

    def mote_record(self, value: int) -> int:
        """A report's record of one mote, without a time."""
        return RECORD_KIND_BYTES + NODE_BYTES + self.value(value)

    def timed_mote_record(self, value: int, at_us: int, now_us: int) -> int:
        """A report's record of one mote, with the time of a reading."""
        return self.mote_record(value) + self.time(at_us, now_us)

    def count_record(self, value: int) -> int:
        """A report's record of how many motes."""
        return RECORD_KIND_BYTES + self.value(value) + COUNT_BYTES
