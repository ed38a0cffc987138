"""The contract of phenomena: sampled values, and the truth that answers are compared with.

A kind of phenomenon is a table (its keys in a scenario), a class (what motes sense) and a function that makes
the second from the first; `scenarios.phenomena.registry` has all kinds.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from scenarios.schema.base import Table
from sim.rng import RandomStreams

if TYPE_CHECKING:
    from analysis.report.map.scenery import Scenery

NOTHING: Final = -1
"""The value of a sample with nothing to join (null in traces)."""


class PhenomenonTable(Table):
    """`[phenomenon]`: each kind has its own table, with `kind` as a literal, and any further keys."""

    kind: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a phenomenon happens."""

    positions_m: NDArray[np.float64]
    """Row i is the position of mote i."""
    field_m: tuple[float, float]
    """Width and height."""
    streams: RandomStreams
    """The source of all randomness."""
    base_dir: Path
    """The scenario file's folder, which paths of recorded files are relative to."""


@dataclass(frozen=True, slots=True)
class Samples:
    """What some motes sensed, in the order of the request."""

    values: NDArray[np.int64]
    """The joined value of each sample, 0 or more; `NOTHING` where there is nothing to join."""
    levels: NDArray[np.float64]
    """The physical magnitude (say g/m³); NaN where there is none."""


class Phenomenon(ABC):
    """Something that motes sense.

    The simulator samples in batches of increasing time. A sample depends only on its mote, its time and that
    mote's earlier samples: neither on batches, nor on other motes, nor on the state of the
    network, so that every strategy gets the same readings.
    """

    attribute: str
    """What queries call the joined value, such as "gas"."""

    @abstractmethod
    def sample(self, nodes: NDArray[np.int64], at_us: NDArray[np.int64]) -> Samples:
        """What `nodes[i]` senses at `at_us[i]`, for all i at once; `at_us` ascends, also between calls."""

    def truth(self, at_us: int) -> Mapping[str, NDArray[np.int64]]:
        """For each source (such as a gas), the motes truly inside it at `at_us`; empty if not defined.

        Asked at ascending times, independently of `sample`.
        """
        del at_us
        return {}

    def labels(self) -> Mapping[int, str]:
        """What each joined value means, for people; values without a label are shown as they are."""
        return {}

    def places_m(self) -> Mapping[int, tuple[float, float]]:
        """Where values belong, of those that belong to a place: the middle of where motes can sense them."""
        return {}

    def inputs(self) -> Mapping[str, str]:
        """The files it read, as the scenario names them, each with the BLAKE2b digest of its bytes."""
        return {}

    def recording_counts(self) -> Mapping[str, int]:
        """Numbers of recorded readings, usable and not; empty if nothing recorded is replayed."""
        return {}


TableT = TypeVar("TableT", bound=PhenomenonTable)


class Draw(Protocol):
    """Draws a phenomenon at several times."""

    def __call__(
        self,
        phenomenon: Any,  # noqa: ANN401 (what the same kind makes)
        motes_m: NDArray[np.float64],
        path: Path,
        *,
        times_s: Sequence[float],
        duration_s: float,
        title: str,
    ) -> None:
        """Write the picture to `path`; without `times_s`, choose times that show something."""


class MakeScenery(Protocol):
    """Computes what a report's map shows of a phenomenon beside motes."""

    def __call__(
        self,
        phenomenon: Any,  # noqa: ANN401 (what the same kind makes)
        times_us: NDArray[np.int64],
        snapshots: Sequence[int],
        *,
        duration_s: float,
    ) -> "Scenery":
        """The scenery at `times_us`, with contours at those of them whose positions are `snapshots`."""


@dataclass(frozen=True, slots=True)
class PhenomenonKind(Generic[TableT]):
    """A registered kind of phenomenon."""

    table: type[TableT]
    make: Callable[[TableT, Surroundings], Phenomenon]
    """Raises InputError if a file that the table names cannot be used."""
    positions_m: Callable[[TableT, Path], NDArray[np.float64] | None] | None = None
    """For `motes.placement = "recorded"`: positions of the motes, a row each, if the files in the folder have them."""
    draw: Draw | None = None
    """For `motejoin scenarios --picture`."""
    scenery: MakeScenery | None = None
    """For `motejoin report`."""

    @property
    def name(self) -> str:
        """What scenarios write as `kind`."""
        (name,) = get_args(self.table.model_fields["kind"].annotation)
        return str(name)
