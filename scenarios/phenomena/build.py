"""From a `[phenomenon]` table to the phenomenon."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, assert_never

import numpy as np
from numpy.typing import NDArray

from scenarios.phenomena.bursts import Bursty
from scenarios.phenomena.contract import Phenomenon
from scenarios.phenomena.data_centre import DataCentre, Failure, Quantity
from scenarios.phenomena.gas.cloud import GasCloud
from scenarios.phenomena.gas.tables import GasCloudTable
from scenarios.phenomena.moving_objects import GivenPath, MovingObjects, RandomWaypoint, Track
from scenarios.phenomena.recording import read_recording
from scenarios.phenomena.replay import Replay
from scenarios.phenomena.tables import (
    BurstTable,
    DataCentreTable,
    MovingObjectsTable,
    PhenomenonTable,
    ReplayTable,
    ZipfTable,
)
from scenarios.phenomena.zipf import ZipfStreams
from sim.errors import InputError
from sim.rng import RandomStreams

Floats = NDArray[np.float64]
Size = tuple[float, float]

# Places of Zipf streams: as many to a side as this, unless the scenario gives their size.
_CELLS_PER_SIDE: Final = 5
# Range of a mote that senses objects, and radius of a failure, as shares of the field's shorter side.
_RANGE_SHARE: Final = 0.1
_FAILURE_SHARE: Final = 0.15
_ABSOLUTE_ZERO_C: Final = -273.15


def build_phenomenon(
    table: PhenomenonTable,
    *,
    positions_m: Floats,
    field_m: Size,
    streams: RandomStreams,
    base_dir: Path,
) -> Phenomenon:
    """What motes at `positions_m` (a row each) sense in a field of the given width and height.

    Args:
        table: A checked table.
        positions_m: Mote i stands at row i.
        field_m: Width and height.
        streams: Where all chance comes from.
        base_dir: The scenario file's folder, from which recorded files are found.

    Raises:
        InputError: A recorded file cannot be used, or has not as many nodes as there are motes.
    """
    match table:
        case GasCloudTable():
            return GasCloud(table, positions_m=positions_m, field_m=field_m, streams=streams)
        case ReplayTable():
            return _replay(table, motes=len(positions_m), base_dir=base_dir)
        case ZipfTable():
            phenomenon: Phenomenon = ZipfStreams(
                domain=table.domain,
                skews=(table.skew_min, table.skew_max),
                permuted=table.ranks == "permuted",
                locality=table.locality,
                cell_m=table.cell_m or max(field_m) / _CELLS_PER_SIDE,
                positions_m=positions_m,
                field_m=field_m,
                streams=streams,
            )
        case MovingObjectsTable():
            phenomenon = MovingObjects(
                list(_tracks(table, field_m, streams)),
                range_m=table.range_m or _RANGE_SHARE * min(field_m),
                missed_share=table.missed_share,
                positions_m=positions_m,
                streams=streams,
            )
        case DataCentreTable():
            phenomenon = _data_centre(table, positions_m, field_m, streams)
        case _:
            assert_never(table)
    if table.burst is None:
        return phenomenon
    return _bursty(phenomenon, table.burst, len(positions_m), streams)


def recorded_positions_m(table: PhenomenonTable, *, base_dir: Path) -> Floats | None:
    """Where the recorded nodes stood, a row (x, y) per mote; None if the phenomenon does not tell.

    Raises:
        InputError: A recorded file cannot be used.
    """
    if not isinstance(table, ReplayTable):
        return None
    return read_recording(table, base_dir).positions_m


def _replay(table: ReplayTable, *, motes: int, base_dir: Path) -> Replay:
    recording = read_recording(table, base_dir)
    if len(recording.nodes) != motes:
        raise InputError(
            f"{table.file}: expected as many recorded nodes as motes: "
            f"it has {len(recording.nodes)}, the scenario {motes}"
        )
    return Replay(
        recording,
        attribute=table.attribute,
        by_level=table.value == "level",
        threshold=table.threshold,
        level_ratio=table.level_ratio,
        level_count=table.levels,
        hysteresis=table.hysteresis,
        hold_s=table.hold_s / table.speed,
    )


def _tracks(table: MovingObjectsTable, field_m: Size, streams: RandomStreams) -> Iterator[Track]:
    paths = len(table.path)
    for name, path in zip(table.names[:paths], table.path, strict=True):
        yield GivenPath(
            name=name,
            points_m=path.points_m,
            speed_m_per_s=path.speed_m_per_s,
            start_s=path.start_s,
            loop=path.loop,
        )
    for wanderer, name in enumerate(table.names[paths:]):
        yield RandomWaypoint(
            name=name,
            field_m=field_m,
            speeds_m_per_s=(table.speed_m_per_s_min, table.speed_m_per_s_max),
            pause_s_max=table.pause_s,
            stream=streams.vector("phenomenon.objects.way", wanderer),
        )


def _data_centre(
    table: DataCentreTable, positions_m: Floats, field_m: Size, streams: RandomStreams
) -> DataCentre:
    return DataCentre(
        rack_rows=table.rack_rows,
        racks_per_row=table.racks_per_row,
        quantities=(
            Quantity(
                mean=table.temperature_c,
                alarm=table.alarm_c,
                step=table.step_c,
                load=table.load_c,
                noise=table.noise_c,
                lowest=_ABSOLUTE_ZERO_C,
                highest=np.inf,
            ),
            Quantity(
                mean=table.humidity_percent,
                alarm=table.alarm_percent,
                step=table.step_percent,
                load=table.load_percent,
                noise=table.noise_percent,
                lowest=0.0,
                highest=100.0,
            ),
        ),
        failures=tuple(
            Failure(
                at_s=failure.at_s,
                duration_s=failure.duration_s,
                x_m=0.5 * field_m[0] if failure.x_m is None else failure.x_m,
                y_m=0.5 * field_m[1] if failure.y_m is None else failure.y_m,
                radius_m=failure.radius_m or _FAILURE_SHARE * min(field_m),
                rises=(failure.rise_c, failure.rise_percent),
                rise_s=failure.rise_s,
            )
            for failure in table.failure
        ),
        load_s=table.load_s,
        by_rack=table.value == "rack",
        positions_m=positions_m,
        field_m=field_m,
        streams=streams,
    )


def _bursty(
    phenomenon: Phenomenon, burst: BurstTable, motes: int, streams: RandomStreams
) -> Phenomenon:
    return Bursty(
        phenomenon,
        motes=motes,
        on_s=burst.on_s,
        off_s=burst.off_s,
        shape=burst.shape,
        together=burst.together,
        streams=streams,
    )
