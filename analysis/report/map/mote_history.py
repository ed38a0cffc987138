"""What motes do over time, for the replay: messages on their way, readings, messages sent and received, events.

A page has room for some ten thousand messages and readings; of more, every k-th is kept, and the page says so.
"""

from typing import Any, Final

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from analysis.metrics.registry import number
from analysis.report.figure import layers
from analysis.report.map.packing import packed
from analysis.report.replay import Frames
from analysis.report.series import ELECTIONS
from analysis.trace.reader import TraceTables, codes
from sim.trace.kinds import CONTROL_KINDS
from sim.trace.manifest import Manifest
from sim.trace.tables import SINK, Event, Outcome
from sim.units import US_PER_S

PULSES_MOST: Final = 40_000
READINGS_MOST: Final = 60_000
TRAFFIC_CELLS_MOST: Final = 120_000
TRAFFIC_BINS_MOST: Final = 60
COUNT_MOST: Final = 65_535
MARKS_MOST: Final = 200
"""Deaths and crashes closer together than this share of the run are one mark."""
BROADCAST: Final = -2
NARROW_MOST: Final = 32_767
"""Up to this many motes, two bytes hold a mote's number."""
PHASES: Final = 255
LOST: Final = 0x80
"""Added to a message's kind if nobody received it."""


def pulses(tables: TraceTables, manifest: Manifest, frames: Frames) -> dict[str, Any] | None:
    """Messages by the frame in which they were sent; None if the run did not record them."""
    if not tables.has("messages"):
        return None
    every = -(-manifest.rows["messages"] // PULSES_MOST) or 1
    names: list[str] = []
    parts: list[list[NDArray[np.int64]]] = [[] for _ in range(5)]
    seen = 0
    columns = ("at_us", "kind", "source", "target", "outcome")
    for batch in tables.batches("messages", *columns):
        rows = np.arange(-seen % every, len(batch), every)
        seen += len(batch)
        at_us, kind, source, target, outcome = batch.take(rows).columns
        which, kinds = codes(kind)
        shown = [ELECTIONS if each in CONTROL_KINDS else each for each in kinds]
        names += [each for each in dict.fromkeys(shown) if each not in names]
        position = np.array([names.index(each) for each in shown], np.int64)
        ended, outcomes = codes(outcome)
        received = np.array([o in {Outcome.DELIVERED, Outcome.PARTIAL} for o in outcomes])
        lost = np.where(received[ended], 0, LOST) if len(outcomes) else np.zeros(len(rows))
        time_us = at_us.to_numpy()
        for gathered, column in zip(
            parts,
            (
                time_us // frames.step_us,
                time_us % frames.step_us * PHASES // frames.step_us,
                position[which] + lost,
                source.to_numpy(),
                target.fill_null(BROADCAST).to_numpy(zero_copy_only=False),
            ),
            strict=True,
        ):
            gathered.append(column.astype(np.int64))
    frame, phase, kind_of, sources, targets = (
        np.concatenate(part) if part else np.empty(0, np.int64) for part in parts
    )
    order = np.argsort(frame, kind="stable")
    starts = np.searchsorted(frame[order], np.arange(frames.count + 1))
    wide = int(manifest.scenario["motes"]["count"]) > NARROW_MOST
    return {
        "every": every,
        "kinds": [
            {"name": each["name"], "slot": each["slot"]}
            for each in layers({name: () for name in names})
        ],
        "starts": packed(starts, "<u4"),
        "phase": packed(phase[order], "<u1"),
        "kind": packed(kind_of[order], "<u1"),
        "wide": wide,
        "source": packed(sources[order], "<i4" if wide else "<i2"),
        "target": packed(targets[order], "<i4" if wide else "<i2"),
    }


def readings(tables: TraceTables, manifest: Manifest) -> dict[str, Any] | None:
    """Readings with a value, by mote; None if the run did not record them."""
    if not tables.has("readings"):
        return None
    valued = manifest.counts["readings_with_value"]
    every = -(-valued // READINGS_MOST) or 1
    parts: list[list[NDArray[np.int64]]] = [[] for _ in range(3)]
    seen = 0
    for whole in tables.batches("readings", "at_us", "node", "value"):
        batch = whole.filter(pc.is_valid(whole.column("value")))
        rows = np.arange(-seen % every, len(batch), every)
        seen += len(batch)
        for gathered, column in zip(parts, batch.take(rows).columns, strict=True):
            gathered.append(column.to_numpy(zero_copy_only=False).astype(np.int64))
    at_us, node, value = (np.concatenate(p) if p else np.empty(0, np.int64) for p in parts)
    order = np.argsort(node, kind="stable")
    motes = int(manifest.scenario["motes"]["count"])
    labels, which = np.unique(value, return_inverse=True)
    return {
        "every": every,
        "labels": [manifest.values.get(str(each), str(each)) for each in labels.tolist()],
        "starts": packed(np.searchsorted(node[order], np.arange(motes + 1)), "<u4"),
        "at_s": packed(at_us[order] / US_PER_S, "<f4"),
        "value": packed(which[order], "<u4"),
    }


def traffic_by_mote(tables: TraceTables, manifest: Manifest) -> dict[str, Any] | None:
    """Messages that each mote sent and received per span of time; None if the run did not record traffic."""
    if not tables.has("traffic"):
        return None
    motes = int(manifest.scenario["motes"]["count"])
    seconds = max(1, int(np.ceil(manifest.simulated_s)))
    bins = min(seconds, TRAFFIC_BINS_MOST, max(8, TRAFFIC_CELLS_MOST // motes))
    width_s = -(-seconds // bins)
    bins = -(-seconds // width_s)
    counts = np.zeros((2, motes * bins), np.int64)
    for batch in tables.batches("traffic", "at_s", "node", "sent", "received"):
        at_s, node, sent, received = (
            column.to_numpy().astype(np.int64) for column in batch.columns
        )
        mote = node != SINK
        cells = node[mote] * bins + np.minimum(at_s[mote] // width_s, bins - 1)
        np.add.at(counts[0], cells, sent[mote])
        np.add.at(counts[1], cells, received[mote])
    sent, received = (packed(np.minimum(each, COUNT_MOST), "<u2") for each in counts)
    return {"width_s": width_s, "bins": bins, "sent": sent, "received": received}


def events(
    tables: TraceTables, manifest: Manifest, *, most: tuple[int, int] | None = None
) -> list[dict[str, Any]]:
    """What to mark on the slider, in order of time: appeared, found, elections, deaths, crashes.

    `most` is when most motes were inside, in seconds, and how many.
    """
    tracking = manifest.counts.get("tracking") or {}
    marks = []
    for kind, key, text in (
        ("appeared", "appeared_s", "first mote inside"),
        ("found", "detected_s", "found: first result at the sink"),
    ):
        if tracking.get("inside_most") and tracking.get(key) is not None:
            marks.append({"at_s": float(tracking[key]), "kind": kind, "text": text})
    if most is not None:
        most_s, inside = most
        text = f"most motes inside, {number(inside)}"
        marks.append({"at_s": float(most_s), "kind": "most", "text": text})
    if tables.has("elections"):
        at_us, rounds = tables.arrays("elections", "at_us", "round")
        for each in np.unique(rounds).tolist():
            at_s = float(at_us[rounds == each].max() / US_PER_S)
            marks.append({"at_s": at_s, "kind": "election", "text": "election of heads"})
    gap_s = manifest.simulated_s / MARKS_MOST
    if tables.has("deaths"):
        marks += _merged(tables.arrays("deaths", "at_us")[0], gap_s, "death", "died")
    if tables.has("faults"):
        crashed = [
            batch.column(0).to_numpy()[np.array(batch.column(1).to_pylist()) == Event.CRASH.value]
            for batch in tables.batches("faults", "at_us", "event")
        ]
        if crashed:
            marks += _merged(np.concatenate(crashed), gap_s, "crash", "crashed")
    return sorted(marks, key=lambda mark: mark["at_s"])


def _merged(at_us: NDArray[Any], gap_s: float, kind: str, verb: str) -> list[dict[str, Any]]:
    """Marks of many events, those that would lie on each other as one."""
    if not len(at_us):
        return []
    at_s = np.sort(at_us.astype(np.float64)) / US_PER_S
    spans, first, counts = np.unique(at_s // gap_s, return_index=True, return_counts=True)
    assert len(spans) == len(first)
    return [
        {
            "at_s": float(at_s[start]),
            "kind": kind,
            "text": f"{number(int(count))} mote{'s' if count > 1 else ''} {verb}",
        }
        for start, count in zip(first.tolist(), counts.tolist(), strict=True)
    ]
