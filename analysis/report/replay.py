"""What the replay of a report shows: who was inside, who was in the answer, who led, who worked.

The replay is a sequence of frames at equal times. Sets of motes are kept as toggle lists: for each frame,
the motes that entered or left since the frame before. A toggle list is its own inverse, so the page walks
it forwards and backwards alike. A cloud moves slowly compared with the frames: a run of 2,000 motes and
600 s comes to some tens of kilobytes. Energy, which changes everywhere, is what costs room; it is kept in
255 steps per battery, at as many sample times as `ENERGY_CELLS_MOST` allows.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.report.energy import EnergyHistory
from analysis.report.map.packing import packed
from analysis.trace.reader import TraceTables, lists
from sim.trace.manifest import Manifest
from sim.trace.tables import SINK, Event
from sim.units import US_PER_S

FRAMES_MOST = 1_200
ENERGY_CELLS_MOST = 400_000
NO_HEAD = -1

Nodes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Frames:
    """The instants of the replay, from 0 to the last one before the run ends."""

    step_s: int
    count: int

    @classmethod
    def over(cls, duration_s: float) -> "Frames":
        """Whole seconds, because that is when the truth is known; fewer in a long run."""
        step_s = max(1, ceil(duration_s / FRAMES_MOST))
        return cls(step_s, max(1, ceil(duration_s / step_s)))

    @property
    def step_us(self) -> int:
        """Time between frames."""
        return self.step_s * US_PER_S

    def times_s(self) -> list[int]:
        """The time of each frame."""
        return [frame * self.step_s for frame in range(self.count)]

    def first_seeing(self, at_us: NDArray[np.int64]) -> NDArray[np.int64]:
        """The first frame that shows what happened at `at_us`; may lie behind the last."""
        return -(-at_us // self.step_us)


@dataclass(frozen=True, slots=True)
class Toggles:
    """A set of motes over the frames, as the motes that enter or leave it at each."""

    starts: NDArray[np.int64]
    """Frame f's motes are nodes[starts[f] : starts[f + 1]]."""
    nodes: Nodes

    @classmethod
    def of(cls, per_frame: Iterable[Nodes]) -> "Toggles":
        """Join the lists of all frames."""
        parts = list(per_frame)
        starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
        return cls(starts, np.concatenate(parts).astype(np.int64))


@dataclass(frozen=True, slots=True)
class AnswerHistory:
    """The answer at the sink over the frames, by value and as a whole."""

    whole: Toggles
    by_value: dict[int, Toggles]
    """Empty if there are too many values to tell apart."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many motes are in a set at each frame; None for sets that the trace does not have."""

    inside: NDArray[np.int64] | None
    answered: NDArray[np.int64] | None
    both: NDArray[np.int64] | None

    def most_s(self, frames: Frames) -> int:
        """When most motes were inside, or else in the answer."""
        sizes = self.answered if self.inside is None else self.inside
        return 0 if sizes is None else int(sizes.argmax()) * frames.step_s

    def most_inside(self, frames: Frames) -> tuple[int, int] | None:
        """When most motes were inside, and how many; None if none ever was."""
        if self.inside is None or not self.inside.any():
            return None
        return self.most_s(frames), int(self.inside.max())


def truth_toggles(tables: TraceTables, frames: Frames, *, motes: int) -> Toggles | None:
    """The motes truly inside any source, frame by frame; None if no mote ever is.

    Some phenomena have no inside; taking that for an empty truth would make every answer false.
    """
    inside: dict[int, list[Nodes]] = {}
    for batch in tables.batches("truth", "at_us", "nodes"):
        at_us = batch.column(0).to_numpy()
        lengths, elements = lists(batch.column(1))
        nodes = elements.to_numpy().astype(np.int64)
        ends = np.cumsum(lengths)
        for row in np.flatnonzero(at_us % frames.step_us == 0).tolist():
            frame = int(at_us[row]) // frames.step_us
            inside.setdefault(frame, []).append(nodes[ends[row] - lengths[row] : ends[row]])
    if not inside:
        return None
    shown = np.zeros(motes, np.bool_)
    changes = []
    for frame in range(frames.count):
        now = np.zeros(motes, np.bool_)
        for part in inside.get(frame, []):
            now[part] = True
        changes.append(np.flatnonzero(now != shown))
        shown = now
    return Toggles.of(changes)


def down_toggles(tables: TraceTables, manifest: Manifest, frames: Frames) -> Toggles | None:
    """The motes that have crashed, are taken away or not yet there, though not dead; None if all work."""
    motes = int(manifest.scenario["motes"]["count"])
    down = np.zeros(motes, np.bool_)
    added = manifest.scenario.get("faults", {}).get("added")
    if added:
        # The last by number, also those that would have come after the end of the run.
        down[motes - added["count"] :] = True
    changes: list[dict[int, bool]] = [{} for _ in range(frames.count)]
    for batch in tables.batches("faults", "at_us", "node", "event"):
        at_us, node, event = batch.columns
        seen = frames.first_seeing(at_us.to_numpy()).tolist()
        for frame, mote, what in zip(seen, node.to_pylist(), event.to_pylist(), strict=True):
            if frame < frames.count and mote != SINK:
                changes[frame][mote] = what in {Event.CRASH, Event.REMOVED}
    shown = np.zeros(motes, np.bool_)
    toggled = []
    for now in changes:
        down[list(now)] = list(now.values())
        toggled.append(np.flatnonzero(down != shown))
        shown = down.copy()
    return Toggles.of(toggled) if any(len(part) for part in toggled) else None


def members_over(toggles: Toggles, *, motes: int) -> Iterator[NDArray[np.bool_]]:
    """The set at each frame in turn, as flags; the array is reused."""
    member = np.zeros(motes, np.bool_)
    for start, end in zip(toggles.starts[:-1], toggles.starts[1:], strict=True):
        nodes = toggles.nodes[start:end]
        member[nodes] = ~member[nodes]
        yield member


def sizes_over(truth: Toggles | None, answer: Toggles | None, *, motes: int) -> Sizes:
    """How large truth, answer and what they share are at each frame."""

    def counted(toggles: Toggles | None) -> NDArray[np.int64] | None:
        if toggles is None:
            return None
        return np.array([members.sum() for members in members_over(toggles, motes=motes)], np.int64)

    both = None
    if truth and answer:
        pairs = zip(
            members_over(truth, motes=motes), members_over(answer, motes=motes), strict=True
        )
        both = np.array([(inside & answered).sum() for inside, answered in pairs], np.int64)
    return Sizes(counted(truth), counted(answer), both)


def replay_payload(
    tables: TraceTables,
    manifest: Manifest,
    frames: Frames,
    truth: Toggles | None,
    answer: AnswerHistory | None,
    energy: EnergyHistory | None,
) -> dict[str, Any] | None:
    """All that the page needs to draw the replay; None if the run did not record where motes are."""
    if not tables.has("motes"):
        return None
    node, x_m, y_m = tables.arrays("motes", "node", "x_m", "y_m")
    is_mote = node != SINK
    order = np.argsort(node[is_mote])
    field = manifest.scenario["field"]
    motes = int(is_mote.sum())
    down = down_toggles(tables, manifest, frames) if tables.has("faults") else None
    return {
        "step_s": frames.step_s,
        "frames": frames.count,
        "motes": motes,
        "field_m": [field["width_m"], field["height_m"]],
        # Left, low, right, high: motes and sinks may stand outside the field.
        "map_m": [
            float(min(0.0, x_m.min())),
            float(min(0.0, y_m.min())),
            float(max(field["width_m"], x_m.max())),
            float(max(field["height_m"], y_m.max())),
        ],
        # Whether messages for the sink go over relays that clusters do not know.
        "relayed": manifest.scenario.get("routing", {}).get("sink") == "multi-hop",
        "sink_m": [[float(x), float(y)] for x, y in zip(x_m[~is_mote], y_m[~is_mote], strict=True)],
        "x_m": packed(x_m[is_mote][order], "<f4"),
        "y_m": packed(y_m[is_mote][order], "<f4"),
        "truth": _packed_toggles(truth) if truth else None,
        "answer": _packed_toggles(answer.whole) if answer else None,
        "answers": [
            {"label": manifest.values.get(str(value), str(value)), **_packed_toggles(toggles)}
            for value, toggles in (answer.by_value.items() if answer else ())
        ],
        "rounds": _rounds(tables, frames, motes=motes) if tables.has("elections") else None,
        "deaths": _deaths(tables, frames) if tables.has("deaths") else None,
        "down": _packed_toggles(down) if down else None,
        "energy": _energy(energy) if energy else None,
    }


def _packed_toggles(toggles: Toggles) -> dict[str, str]:
    return {"starts": packed(toggles.starts, "<u4"), "nodes": packed(toggles.nodes, "<u4")}


def _rounds(tables: TraceTables, frames: Frames, *, motes: int) -> list[dict[str, Any]]:
    """For each clustering round the first frame that shows it, and the head, next hop and upper head of each mote."""
    routed = all(tables.has_column("elections", column) for column in ("via", "up"))
    at_us, number, node, head = tables.arrays("elections", "at_us", "round", "node", "head")
    via, up = (
        tables.arrays("elections", "via", "up") if routed else (head, np.full(len(head), SINK))
    )
    # Without levels a head sends straight to the sink.
    up = np.nan_to_num(up.astype(np.float64), nan=SINK)
    rounds = []
    for each in np.unique(number).tolist():
        chosen = number == each
        nodes = node[chosen].astype(np.int64)
        frame = int(frames.first_seeing(at_us[chosen].max().astype(np.int64)))
        entry: dict[str, Any] = {"frame": frame}
        for name, column in (("head", head), ("via", via), ("up", up)):
            of = np.full(motes, NO_HEAD, np.int64)
            of[nodes] = column[chosen]
            entry[name] = packed(of, "<i4")
        # What hardly ever differs is left out.
        if np.array_equal(via[chosen], head[chosen]):
            del entry["via"]
        if (up[chosen] == SINK).all():
            del entry["up"]
        rounds.append(entry)
    return rounds


def _deaths(tables: TraceTables, frames: Frames) -> dict[str, str]:
    at_us, node = tables.arrays("deaths", "at_us", "node")
    seen = frames.first_seeing(at_us.astype(np.int64))
    return {"frames": packed(seen, "<u4"), "nodes": packed(node, "<u4")}


def _energy(energy: EnergyHistory) -> dict[str, Any]:
    """Residual energy as a share of the battery, in 255 steps, one row per sample time kept."""
    samples, motes = energy.share.shape
    every = max(1, ceil(samples * motes / ENERGY_CELLS_MOST))
    return {
        "times_s": energy.times_s[::every].tolist(),
        "share": packed(np.ceil(np.clip(energy.share[::every], 0, 1) * 255), "<u1"),
    }
