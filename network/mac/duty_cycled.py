"""The ideal MAC under a duty cycle: messages sent while radios are off wait until they are on."""

from collections.abc import Sequence

from network.contract import NodeId
from network.mac.base import Hearing
from network.mac.ideal import IdealAir


class DutyCycledAir(IdealAir):
    """Ideal transmissions, each at the first time that radios are awake for it."""

    def unicast(
        self, kind: str, source: NodeId, target: NodeId, body_bytes: int, body: object, at_us: int
    ) -> int:
        """Send one message as soon as radios are awake from `at_us` on; returns its bytes on air."""
        at_us = self._awake_us(at_us, body_bytes)
        return super().unicast(kind, source, target, body_bytes, body, at_us)

    def broadcast(
        self,
        kind: str,
        source: NodeId,
        listeners: Sequence[NodeId],
        range_m: float,
        body_bytes: int,
        at_us: int,
        on_heard: Hearing,
    ) -> None:
        """Announce as soon as radios are awake from `at_us` on."""
        at_us = self._awake_us(at_us, body_bytes)
        super().broadcast(kind, source, listeners, range_m, body_bytes, at_us, on_heard)

    def _awake_us(self, at_us: int, body_bytes: int) -> int:
        airtime_us = self._airtime_us[self._profile.on_air_bytes(body_bytes)]
        assert self._listening is not None, "a duty cycle needs its account of radios"
        return self._listening.next_start(at_us, airtime_us)
