"""One message between nodes."""

from typing import Any, TypeAlias

from sim.trace.tables import DropReason

NodeId: TypeAlias = int


class Message:
    """One message, on one hop or on all of its hops. The body belongs to the protocol above."""

    __slots__ = ("at_us", "body", "bytes", "drop", "hops", "kind", "source", "target")

    def __init__(
        self, kind: str, source: NodeId, target: NodeId, size: int, body: object, at_us: int
    ) -> None:
        self.kind = kind
        self.source = source
        self.target = target
        self.bytes = size
        """Bytes on air, including headers, over all hops."""
        self.hops = 1
        self.body: Any = body
        self.at_us = at_us
        """When its transmission starts."""
        self.drop: DropReason | None = None
        """Why it will not arrive, if that is decided while it is on its way."""
