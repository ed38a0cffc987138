"""Probing tactics: how a request gets to the heads of its sequence, and its parts back together."""

from collections.abc import Iterable
from typing import Protocol

from join.strategies.snjoin_star.request import ProbeRequest


class ProbingTactic(Protocol):
    """From head to head (`Chain`), or to all heads at once (`FanOut`)."""

    def send(self, request: ProbeRequest, at_us: int) -> None:
        """The initiator sends a request out."""

    def gather(self, request: ProbeRequest, at_us: int) -> ProbeRequest | None:
        """A request, or a part of one, has reached the sink; returns the request to take as a result now."""

    def send_past(self, request: ProbeRequest, heads: tuple[int, ...], at_us: int) -> bool:
        """The sink sends a request past further heads, if it can; returns whether it did."""

    def shorten(self, request: ProbeRequest) -> None:
        """The initiator gives up on the heads of the sequence: only what its own cluster gave is left."""

    def close(self) -> Iterable[ProbeRequest]:
        """The run ends: requests whose parts were still being gathered."""
