"""Chain probing (SNJoin Fig. 3): a request goes from head to head, gathering partners, and then to the sink."""

from collections.abc import Iterable

from join.strategies.snjoin_star.forwarding import Forwarding
from join.strategies.snjoin_star.request import ProbeRequest
from sim.trace.tables import SINK


class Chain:
    """Sends a request to one head after another."""

    def __init__(self, forwarding: Forwarding) -> None:
        self._forward = forwarding.forward

    def send(self, request: ProbeRequest, at_us: int) -> None:
        """Send the request to the first head of its sequence."""
        self._forward(request.initiator, request, at_us)

    def gather(self, request: ProbeRequest, at_us: int) -> ProbeRequest | None:
        """Return the request as it is: it has visited all heads."""
        del at_us
        return request

    def send_past(self, request: ProbeRequest, heads: tuple[int, ...], at_us: int) -> bool:
        """Send the request to further heads."""
        request.completed = True
        request.sequence = (*request.sequence, *heads)
        self._forward(SINK, request, at_us)
        return True

    def shorten(self, request: ProbeRequest) -> None:
        """Send the request straight to the sink."""
        request.sequence = ()

    def close(self) -> Iterable[ProbeRequest]:
        """Return nothing: no parts are gathered."""
        return ()
