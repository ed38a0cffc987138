"""The MACs by name: what each is made from, and its traits. A new one calls `register`."""

from collections.abc import Callable
from dataclasses import dataclass

from network.mac.bare import BareAir, is_bare
from network.mac.base import Mac, MacParts, MacTraits
from network.mac.csma import CsmaAir, CsmaOptions
from network.mac.duty_cycled import DutyCycledAir
from network.mac.ideal import IdealAir
from network.mac.lpl import LplAir, LplOptions
from network.mac.tdma import TdmaAir, TdmaOptions


@dataclass(frozen=True, slots=True)
class MacOptions:
    """The settings of a scenario's `[radio]` table for MACs."""

    csma: CsmaOptions
    tdma: TdmaOptions
    lpl: LplOptions
    duty_cycled: bool
    """Whether radios are on for a share of the time only."""


@dataclass(frozen=True, slots=True)
class MacKind:
    """A MAC that a scenario can name."""

    name: str
    traits: MacTraits
    make: Callable[[MacParts, MacOptions], Mac]
    repeats_us: Callable[[MacOptions], int] = lambda _options: 0
    """How long a sender repeats a frame at most, to reach radios that sleep; 0 if none has to be repeated for that."""


MACS: dict[str, MacKind] = {}
"""By the name that scenario files use."""


def register(kind: MacKind) -> None:
    """Make a MAC available to scenario files as `radio.mac = "NAME"`."""
    assert kind.name not in MACS, kind.name
    MACS[kind.name] = kind


def _ideal(parts: MacParts, options: MacOptions) -> Mac:
    if options.duty_cycled:
        return DutyCycledAir(parts)
    return BareAir(parts) if is_bare(parts) else IdealAir(parts)


register(MacKind("ideal", IdealAir.traits, _ideal))
register(MacKind("tdma", TdmaAir.traits, lambda parts, options: TdmaAir(parts, options.tdma)))
register(MacKind("csma", CsmaAir.traits, lambda parts, options: CsmaAir(parts, options.csma)))
register(
    MacKind(
        "lpl",
        LplAir.traits,
        lambda parts, options: LplAir(parts, options.lpl),
        repeats_us=lambda options: options.lpl.wake_up_us,
    )
)
