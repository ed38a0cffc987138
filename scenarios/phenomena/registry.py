"""All kinds of phenomena by name, those that ship and those that users register."""

from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from scenarios.phenomena.contract import (
    Phenomenon,
    PhenomenonKind,
    PhenomenonTable,
    Surroundings,
)
from scenarios.phenomena.data_centre import DATA_CENTRE
from scenarios.phenomena.gas.cloud import GAS_CLOUD
from scenarios.phenomena.moving_objects import MOVING_OBJECTS
from scenarios.phenomena.replay.readings import REPLAY
from scenarios.phenomena.zipf import ZIPF
from sim.errors import InputError

AnyKind: TypeAlias = PhenomenonKind[Any]

_kinds: dict[str, AnyKind] = {
    kind.name: kind for kind in (GAS_CLOUD, MOVING_OBJECTS, DATA_CENTRE, ZIPF, REPLAY)
}


def register(kind: AnyKind) -> None:
    """Make a kind of phenomenon available to scenario files.

    Raises:
        InputError: there is one of that name.
    """
    if _kinds.get(kind.name, kind) is not kind:
        raise InputError(f"phenomenon {kind.name!r}: there is one of that name")
    _kinds[kind.name] = kind


def kind_of(table: PhenomenonTable) -> AnyKind:
    """The kind that a table is of."""
    return _kinds[table.kind]


def kinds() -> tuple[AnyKind, ...]:
    """All kinds, in the order of their registration."""
    return tuple(_kinds.values())


def phenomenon_tables() -> Any:  # noqa: ANN401 (typing's own object)
    """The type of any `[phenomenon]` table: a union that is discriminated by `kind`."""
    return _union(tuple(kind.table for kind in kinds()))


@cache
def _union(tables: tuple[type[PhenomenonTable], ...]) -> Any:  # noqa: ANN401
    return Annotated[Union[tables], Field(discriminator="kind")]  # noqa: UP007 (made at run time)


def build_phenomenon(table: PhenomenonTable, around: Surroundings) -> Phenomenon:
    """Make the phenomenon of a table.

    Raises:
        InputError: A recorded file cannot be used, or its number of nodes is not that of the motes.
    """
    phenomenon: Phenomenon = kind_of(table).make(table, around)
    return phenomenon


def recorded_positions_m(table: PhenomenonTable, *, base_dir: Path) -> NDArray[np.float64] | None:
    """Positions of the recorded nodes, a row (x, y) per mote; None if the phenomenon has none.

    Raises:
        InputError: A recorded file cannot be used.
    """
    positions_m = kind_of(table).positions_m
    return positions_m(table, base_dir) if positions_m else None
