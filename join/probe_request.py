"""The probe request PR of SNJoin* (SNJoin Fig. 3): a reading on its way past heads to the sink."""

from join.contract import Member, Value
from join.value_table import Stamp


class ProbeRequest:
    """A reading on its way past the heads of its probing sequence to the sink."""

    __slots__ = (
        "at_us",
        "bytes",
        "completed",
        "counts",
        "hops",
        "initiator",
        "origin",
        "partial",
        "partners",
        "partners_bytes",
        "position",
        "sequence",
        "stamp",
        "value",
        "version",
    )

    def __init__(
        self,
        *,
        value: Value,
        origin: int,
        at_us: int,
        stamp: Stamp,
        initiator: int,
    ) -> None:
        self.value = value
        self.origin = origin
        """The mote whose reading it is."""
        self.at_us = at_us
        self.stamp = stamp
        self.initiator = initiator
        self.sequence: tuple[int, ...] = ()
        """The heads to probe, in order."""
        self.position = 0
        """Heads of the sequence that have answered or were passed over."""
        self.counts: list[int] = []
        """|r| of the initiator and of each head so far: how many partners it gave."""
        self.partners: list[tuple[Member, ...]] = []
        """R: what the initiator and each head gave, in the order of `counts`; empty where |r| = 0."""
        self.partners_bytes = 0
        self.hops = 0
        self.bytes = 0
        self.partial = False
        """Whether it is known that heads of the sequence did not answer."""
        self.version = 0
        """Which of the sink's notes on this value the initiator went by; 0 is none."""
        self.completed = False
        """Whether the sink has already sent it past further heads."""

    @property
    def found(self) -> int:
        """Partners found so far."""
        return sum(self.counts)

    @property
    def heads_matched(self) -> int:
        """Heads of the sequence that gave a partner."""
        return sum(1 for count in self.counts[1:] if count)

    @property
    def asked(self) -> tuple[int, ...]:
        """The heads of the sequence that have answered or were passed over."""
        return self.sequence[: self.position]

    def add(self, matches: tuple[Member, ...], count: int, size: int) -> None:
        """Append one head's r to R: partners of `count` sensors, `size` bytes on the wire."""
        self.counts.append(count)
        self.partners.append(matches)
        self.partners_bytes += size

    def pass_over(self) -> int:
        """Go on without the next head of the sequence, which is dead; returns that head."""
        dead = self.sequence[self.position]
        self.add((), 0, 0)
        self.position += 1
        return dead
