"""How a protocol declares its options: each once, with its default and limits.

Scenario files (keys of `[clustering]`) and `motejoin cluster` (options of the command line) are both derived from these
declarations. Modules of options import no NumPy, so that the command line can refuse an unknown option at once;
`elect` imports its algorithm when an election is held.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from enum import StrEnum
from types import NoneType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    import numpy as np

    from clustering.contract import Election, Situation


@dataclass(frozen=True, slots=True)
class Limits:
    """The values an option accepts; for a list of numbers, those of its entries."""

    above: float | None = None
    least: float | None = None
    below: float | None = None
    most: float | None = None
    up_to_motes: bool = False
    """At most the number of motes."""
    ascends_from_range: bool = False
    """A list that ascends, its first entry above the cluster range."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a protocol."""

    key: str
    """Its name in scenario files."""
    kind: type
    """float, int, bool, a StrEnum, or tuple for a list of numbers."""
    optional: bool
    """Whether it may be left open (None)."""
    default: Any
    meaning: str
    limits: Limits
    flag: str | None
    """Its name on the command line, that of the key if empty; None: it has no command-line option."""
    only_here: str
    """Why other protocols refuse it; if empty, they ignore it."""

    @property
    def choices(self) -> list[str]:
        """The names it accepts; empty if it accepts numbers."""
        return [str(name) for name in self.kind] if issubclass(self.kind, StrEnum) else []

    def value(self, given: Any) -> Any:  # noqa: ANN401 (whatever the option takes)
        """The value as the protocol gets it, from a checked value of a file or command line."""
        return given if given is None else self.kind(given)


class ProtocolOptions:
    """Base of every protocol's options: a frozen dataclass whose fields are made by `option`."""

    __slots__ = ()

    @property
    def levels(self) -> int:
        """Levels of heads: with more than one, heads send to the heads of the next level."""
        return 1

    @property
    def has_trees(self) -> bool:
        """Whether messages are forwarded inside clusters or from level to level."""
        return self.levels > 1


OptionsT = TypeVar("OptionsT", bound=ProtocolOptions)


@dataclass(frozen=True, slots=True)
class ClusteringProtocol(Generic[OptionsT]):
    """A registered protocol."""

    name: str
    """Its name in scenario files and on the command line."""
    meaning: str
    """How heads are chosen, in a few words."""
    options: type[OptionsT]
    elect: Callable[[OptionsT, "Situation", "np.random.Generator"], "Election"]
    """Starts an election in the given situation; all randomness comes from the generator."""

    def declared(self) -> Iterator[Option]:
        """Its options, in the order of their declaration."""
        hints = get_type_hints(self.options)
        for each in fields(self.options):  # type: ignore[arg-type]  # it is a dataclass
            alternatives = get_args(hints[each.name]) or (hints[each.name],)
            is_list = get_origin(hints[each.name]) is tuple
            yield Option(
                key=each.name,
                kind=tuple if is_list else alternatives[0],
                optional=NoneType in alternatives,
                default=each.default,
                **each.metadata,
            )


def option(
    default: object,
    meaning: str,
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    *,
    flag: str | None = "",
    only_here: str = "",
) -> Any:  # noqa: ANN401 (typed by the field that it declares)
    """A field of a protocol's options.

    Args:
        default: The value if the user gives none; None leaves it open.
        meaning: For help and documents.
        limits: The values it accepts.
        flag: Its name on the command line, if not that of the field; None: it has no command-line option.
        only_here: Why other protocols refuse it; if empty, they ignore it.
    """
    return field(
        default=default,
        metadata={"meaning": meaning, "limits": limits, "flag": flag, "only_here": only_here},
    )
