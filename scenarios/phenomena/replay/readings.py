"""Recorded data as a phenomenon: each mote replays one recorded node."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from scenarios.phenomena.contract import (
    NOTHING,
    Phenomenon,
    PhenomenonKind,
    Samples,
    Surroundings,
)
from scenarios.phenomena.gas.sensors import LevelMeter, distinct_rounds
from scenarios.phenomena.replay.table import ReplayTable
from sim.errors import InputError
from sim.units import US_PER_S

if TYPE_CHECKING:
    from scenarios.phenomena.replay.recording import Recording

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Replay(Phenomenon):
    """A reading holds until the node's next one, but no longer than `hold_s` of simulated time.

    The joined value is the reading's level, or the reading itself if it is a whole number.
    """

    def __init__(
        self,
        recording: "Recording",
        *,
        attribute: str,
        by_level: bool,
        threshold: float,
        level_ratio: float,
        level_count: int,
        hysteresis: float,
        hold_s: float,
    ) -> None:
        self.attribute = attribute
        self.recording = recording
        self._by_level = by_level
        self._threshold = threshold
        self._levels = level_count
        self._hold_us = round(hold_s * US_PER_S)
        motes = len(recording.nodes)
        self._meter = LevelMeter(
            motes=motes,
            threshold=threshold,
            ratio=level_ratio,
            count=level_count,
            hysteresis=hysteresis,
        )
        # One ascending key for (node, time), so that one search finds the readings of all samples.
        self._first_us = int(recording.at_us.min())
        self._span_us = int(recording.at_us.max()) - self._first_us + 1
        self._keys = recording.node * self._span_us + (recording.at_us - self._first_us)

    def sample(self, nodes: Ints, at_us: Ints) -> Samples:
        """The value and the recorded reading that each mote has at the time."""
        readings = self._held(nodes, at_us)
        values = np.full(len(nodes), NOTHING, dtype=np.int64)
        if self._by_level:
            for rows in distinct_rounds(nodes):
                present = np.nan_to_num(readings[rows], nan=0.0)
                levels = self._meter.read(nodes[rows], present)
                values[rows] = np.where(levels > 0, levels, NOTHING)
        else:
            whole = (readings >= 0.0) & (readings == np.floor(readings))
            values[whole] = readings[whole].astype(np.int64)
        return Samples(values=values, levels=readings)

    def truth(self, at_us: int) -> Mapping[str, Ints]:
        """The motes whose recorded reading is at or above the threshold; none for recorded values."""
        if not self._by_level:
            return {}
        nodes = np.arange(len(self.recording.nodes))
        readings = self._held(nodes, np.full(len(nodes), at_us, dtype=np.int64))
        return {self.attribute: np.flatnonzero(readings >= self._threshold)}

    def labels(self) -> Mapping[int, str]:
        """The levels; recorded values speak for themselves."""
        if not self._by_level:
            return {}
        return {level: f"level {level}" for level in range(1, self._levels + 1)}

    def places_m(self) -> Mapping[int, tuple[float, float]]:
        """A recorded value belongs to the middle of the motes that recorded it, if they have positions."""
        motes_m, recording = self.recording.positions_m, self.recording
        if self._by_level or motes_m is None:
            return {}
        whole = (recording.reading >= 0.0) & (recording.reading == np.floor(recording.reading))
        values = recording.reading[whole].astype(np.int64)
        nodes = recording.node[whole]
        return {
            int(value): tuple(motes_m[np.unique(nodes[values == value])].mean(axis=0).tolist())
            for value in np.unique(values)
        }

    def inputs(self) -> Mapping[str, str]:
        """The recorded files and their digests."""
        return self.recording.digests

    def recording_counts(self) -> Mapping[str, int]:
        """How many recorded readings there are, and what was wrong with others."""
        return self.recording.counts

    def _held(self, nodes: Ints, at_us: Ints) -> Floats:
        """The last reading of each node, not-a-number where it is too old or there is none."""
        since_us = np.minimum(at_us - self._first_us, self._span_us - 1)
        rows = np.searchsorted(self._keys, nodes * self._span_us + since_us, side="right") - 1
        found = np.maximum(rows, 0)
        own = (rows >= 0) & (self.recording.node[found] == nodes)
        fresh = at_us - self.recording.at_us[found] <= self._hold_us
        return np.where(own & fresh & (since_us >= 0), self.recording.reading[found], np.nan)


def _make(table: ReplayTable, around: Surroundings) -> Replay:
    # Readers of files are imported by scenarios that have a recording.
    from scenarios.phenomena.replay.recording import read_recording

    recording = read_recording(table, around.base_dir)
    if len(recording.nodes) != len(around.positions_m):
        raise InputError(
            f"{table.file}: expected as many recorded nodes as motes: "
            f"it has {len(recording.nodes)}, the scenario {len(around.positions_m)}"
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


def _positions_m(table: ReplayTable, base_dir: Path) -> Floats | None:
    from scenarios.phenomena.replay.recording import read_recording

    return read_recording(table, base_dir).positions_m


REPLAY: Final = PhenomenonKind(ReplayTable, _make, positions_m=_positions_m)
