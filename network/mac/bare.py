"""The ideal MAC where the air is bare: nothing is lost, delayed or overheard, and idle radios cost nothing.

Messages that visit mote after mote then take the short way of `network.mac.bare_visit`.
"""

from network.contract import Processors, Service
from network.mac.bare_visit import BareParts, BareVisits
from network.mac.base import MacParts
from network.mac.ideal import IdealAir
from network.processor import Cpus


class BareAir(IdealAir):
    """Broadcasts and unicasts without contention or loss."""

    def __init__(self, parts: MacParts) -> None:
        assert is_bare(parts)
        super().__init__(parts)

    def attach_service(self, kind: str, service: Service, cpus: Processors) -> None:
        """Have motes serve messages of `kind` on their CPUs and send them on."""
        super().attach_service(kind, service, cpus)
        assert isinstance(cpus, Cpus), cpus
        assert kind not in self._control, kind
        parts = BareParts(
            kernel=self._kernel,
            ledger=self._ledger,
            log=self.log,
            receive_j_per_byte=self._receive_j_per_byte,
            transmit_j_per_byte=self._transmit_j_per_byte_from,
            flights=self._flights,
            arrive=self._arrive,
            unicast=self.unicast,
        )
        self._arrivals[kind] = BareVisits(kind, service, parts, cpus).arrival


def is_bare(parts: MacParts) -> bool:
    """Whether nothing is lost, delayed or overheard, and idle radios cost nothing."""
    return parts.medium is None and parts.listening is None and not parts.overhearing
