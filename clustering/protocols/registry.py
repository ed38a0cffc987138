"""All clustering protocols by name, those that ship and those that users register."""

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from clustering.protocols.dca.options import DCA
from clustering.protocols.each_alone.options import NONE
from clustering.protocols.grid.options import GRID
from clustering.protocols.heed.options import HEED
from clustering.protocols.k_means.options import K_MEANS
from clustering.protocols.leach.options import LEACH
from clustering.protocols.max_min.options import MAX_MIN
from clustering.protocols.options import ClusteringProtocol, Option
from sim.errors import InputError

AnyProtocol: TypeAlias = ClusteringProtocol[Any]

_protocols: dict[str, AnyProtocol] = {
    each.name: each for each in (HEED, LEACH, DCA, MAX_MIN, GRID, K_MEANS, NONE)
}


@dataclass(frozen=True, slots=True)
class SharedOption:
    """An option, and the protocols that have it."""

    option: Option
    protocols: tuple[str, ...]

    @property
    def meaning(self) -> str:
        """Its protocols and its meaning, for help and documents."""
        return f"{', '.join(self.protocols)}: {self.option.meaning}"


def register(protocol: AnyProtocol) -> None:
    """Make a protocol available to scenario files and `motejoin cluster`.

    Raises:
        InputError: the name is taken, or another protocol declares an option of the same name differently.
    """
    if _protocols.get(protocol.name, protocol) is not protocol:
        raise InputError(f"clustering protocol {protocol.name!r}: there is one of that name")
    known = protocol_options()
    for option in protocol.declared():
        shared = known.get(option.key)
        if shared is not None and shared.option != option:
            raise InputError(
                f"clustering protocol {protocol.name!r}: its option {option.key!r} is declared differently"
                f" by {', '.join(shared.protocols)}"
            )
    _protocols[protocol.name] = protocol


def registered() -> tuple[AnyProtocol, ...]:
    """All protocols, in the order of their registration."""
    return tuple(_protocols.values())


def protocol_named(name: str) -> AnyProtocol:
    """The protocol of that name, which must be registered."""
    return _protocols[name]


def protocol_options() -> dict[str, SharedOption]:
    """The options of all protocols by their key; several protocols may have the same."""
    found: dict[str, SharedOption] = {}
    for protocol in registered():
        for option in protocol.declared():
            before = found.get(option.key, SharedOption(option, ()))
            found[option.key] = replace(before, protocols=(*before.protocols, protocol.name))
    return found


def option_flags() -> dict[str, str]:
    """The command-line names of the options, by key."""
    return {
        key: f"--{shared.option.flag or key.replace('_', '-')}"
        for key, shared in protocol_options().items()
        if shared.option.flag is not None
    }
