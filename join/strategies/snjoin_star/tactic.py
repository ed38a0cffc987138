"""Probing tactics: how a request reaches the heads of its sequence, and how its parts are gathered."""

from collections.abc import Iterable
from typing import Protocol

from join.strategies.snjoin_star.request import ProbeRequest


class ProbingTactic(Protocol):
    """From head to head (`Chain`), or to all heads at once (`FanOut`)."""

    def send(self, request: ProbeRequest, at_us: int) -> None:
        """Send a request from its initiator."""

    def gather(self, request: ProbeRequest, at_us: int) -> ProbeRequest | None:
        """Receive a request, or a part of one, at the sink; returns the request to record as a result now."""

    def send_past(self, request: ProbeRequest, heads: tuple[int, ...], at_us: int) -> bool:
        """Send a request from the sink to further heads, if possible; returns whether it was sent."""

    def shorten(self, request: ProbeRequest) -> None:
        """Give up on the heads of the sequence, and keep only the partners of the initiator's own cluster."""

    def close(self) -> Iterable[ProbeRequest]:
        """End the run; returns the requests whose parts were still being gathered."""
