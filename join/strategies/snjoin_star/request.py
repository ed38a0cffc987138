"""The probe request PR of SNJoin* (SNJoin Fig. 3): a reading on its way by several heads to the sink."""

from join.contract import Partner, Value
from join.reading import Stamp


class ProbeRequest:
    """A reading on its way by the heads of its probing sequence to the sink."""

    __slots__ = (
        "_counts",
        "_partners",
        "at_us",
        "attempt",
        "bytes",
        "closing",
        "completed",
        "hops",
        "initiator",
        "known",
        "origin",
        "partial",
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
        """Heads of the sequence that have answered or were skipped."""
        self._counts: list[int] = []
        self._partners: list[tuple[Partner, ...]] = []
        self.partners_bytes = 0
        self.hops = 0
        """Transmissions so far, including those over relays."""
        self.bytes = 0
        """Bytes on air in these, without a MAC's repetitions."""
        self.partial = False
        """Whether it is known that heads of the sequence did not answer."""
        self.version = 0
        """Version of the sink's note on this value that the initiator used; 0 is none."""
        self.completed = False
        """Whether the sink has already sent it to further heads."""
        self.known = 0
        """How many heads the initiator could choose from."""
        self.passed_over: list[int] = []
        """Heads of the sequence that were found dead."""
        self.parts = 1
        """How many parts it was split into: one per head and the initiator's own."""
        self.attempt = 0
        """How often the initiator had sent it before."""
        self.closing = False
        """Whether it is the initiator's last message on a reading: its own cluster's partners, no reply expected."""

    @property
    def counts(self) -> list[int]:
        """|r| of the initiator and of each head so far: how many partners it contributed."""
        self._fill()
        return self._counts

    @property
    def partners(self) -> list[tuple[Partner, ...]]:
        """R: the partners from the initiator and each head, in the order of `counts`; empty where |r| = 0."""
        self._fill()
        return self._partners

    @property
    def found(self) -> int:
        """Partners found so far."""
        return sum(self._counts)

    @property
    def heads_matched(self) -> int:
        """Heads of the sequence that contributed a partner."""
        return sum(1 for count in self._counts[1:] if count)

    @property
    def asked(self) -> tuple[int, ...]:
        """The heads of the sequence that have answered or were skipped."""
        return self.sequence[: self.position]

    def add(self, matches: tuple[Partner, ...], count: int, size: int) -> None:
        """Append r of the initiator, or of the head now being probed, to R: partners of `count` sensors, `size` bytes."""
        if self._counts:
            self._fill()
        self._counts.append(count)
        self._partners.append(matches)
        self.partners_bytes += size

    def _fill(self) -> None:
        """Enter the heads that contributed nothing: they only advance `position`, since most probes find nothing."""
        missing = self.position + 1 - len(self._counts)
        if missing > 0:
            self._counts += [0] * missing
            self._partners += [()] * missing

    def restarted(self, sequence: tuple[int, ...]) -> "ProbeRequest":
        """A new request of the same reading, for the heads of `sequence`.

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
        """Skip the next head of the sequence, which is dead; returns that head."""
        dead = self.sequence[self.position]
        self.passed_over.append(dead)
        self.add((), 0, 0)
        self.position += 1
        return dead
