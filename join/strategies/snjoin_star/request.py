"""The probe request PR of SNJoin* (SNJoin Fig. 3): a reading on its way past heads to the sink."""

from join.contract import Member, Value
from join.reading import Stamp


class ProbeRequest:
    """A reading on its way past the heads of its probing sequence to the sink."""

    __slots__ = (
        "at_us",
        "attempt",
        "bytes",
        "closing",
        "completed",
        "counts",
        "hops",
        "initiator",
        "known",
        "origin",
        "partial",
        "partners",
        "partners_bytes",
        "parts",
        "passed_over",
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
        """Transmissions so far, those over relays included."""
        self.bytes = 0
        """On air in these, without what a MAC repeats."""
        self.partial = False
        """Whether it is known that heads of the sequence did not answer."""
        self.version = 0
        """Which of the sink's notes on this value the initiator went by; 0 is none."""
        self.completed = False
        """Whether the sink has already sent it past further heads."""
        self.known = 0
        """How many heads the initiator could choose from."""
        self.passed_over: list[int] = []
        """Heads of the sequence that were found dead."""
        self.parts = 1
        """How many parts it was split into, for as many heads at once and the initiator's own."""
        self.attempt = 0
        """How often the initiator had sent it before."""
        self.closing = False
        """The initiator's last word on a reading: what its own cluster gave, no reply wanted."""

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

    def restarted(self, sequence: tuple[int, ...]) -> "ProbeRequest":
        """A request of the same reading that has been nowhere yet, to go past `sequence`.

        It has the same stamp, so that it finds what the first one would have found; R is empty.
        """
        request = ProbeRequest(
            value=self.value,
            origin=self.origin,
            at_us=self.at_us,
            stamp=self.stamp,
            initiator=self.initiator,
        )
        request.sequence = sequence
        request.version = self.version
        request.known = self.known
        request.attempt = self.attempt
        return request

    def pass_over(self) -> int:
        """Go on without the next head of the sequence, which is dead; returns that head."""
        dead = self.sequence[self.position]
        self.passed_over.append(dead)
        self.add((), 0, 0)
        self.position += 1
        return dead
