"""A toy MAC: unicasts start on a tick of ten milliseconds that all motes share, and never collide."""

from typing import ClassVar, Final

from network.contract import NodeId
from network.mac.base import MacTraits
from network.mac.ideal import IdealAir
from network.mac.registry import MacKind, register

TICK_US: Final = 10_000


class TickingAir(IdealAir):
    """The ideal MAC, but each unicast waits for the next tick."""

    traits: ClassVar[MacTraits] = MacTraits()

    def unicast(
        self, kind: str, source: NodeId, target: NodeId, body_bytes: int, body: object, at_us: int
    ) -> int:
        start_us = -(-at_us // TICK_US) * TICK_US
        return super().unicast(kind, source, target, body_bytes, body, start_us)


register(MacKind("ticking", TickingAir.traits, lambda parts, _options: TickingAir(parts)))
