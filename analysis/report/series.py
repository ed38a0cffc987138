"""Sums over time for the plots of a report, read batch by batch from the trace."""

from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from analysis.metrics.arrow.totals import grouped
from analysis.trace.reader import TraceTables, codes
from sim.trace.kinds import CONTROL_KINDS
from sim.trace.tables import Fate
from sim.units import US_PER_S

BINS_MOST = 300
BIN_WIDTHS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21600, 43200, 86400)

ELECTIONS = "elections"
"""What the plots call all message kinds that keep the clustering going."""

Sums = dict[str, NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Bins:
    """Equal spans of time that cover a run; the last may be cut short by its end."""

    width_s: int
    count: int
    duration_s: float

    @classmethod
    def over(cls, duration_s: float) -> "Bins":
        """The finest bins that a plot has room for."""
        fits = (w for w in BIN_WIDTHS_S if duration_s <= w * BINS_MOST)
        width_s = next(fits, BIN_WIDTHS_S[-1])
        return cls(width_s, max(1, int(-(-duration_s // width_s))), duration_s)

    def of_us(self, at_us: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bin of each time; the very end belongs to the last one, and what a slow clock shows to the first."""
        found: NDArray[np.int64] = np.clip(at_us // (self.width_s * US_PER_S), 0, self.count - 1)
        return found

    def edges_s(self) -> list[float]:
        """Where bins begin, and where the last one ends."""
        starts = [float(number * self.width_s) for number in range(self.count)]
        return [*starts, max(self.duration_s, starts[-1])]


def traffic_bytes(tables: TraceTables, bins: Bins) -> Sums:
    """Bytes put on air per bin, by message kind; those of elections as one."""
    sums: Sums = {}
    for batch in tables.batches("traffic", "at_s", "kind", "sent_bytes"):
        at_s, kind, sent_bytes = batch.columns
        _add(
            sums,
            bins,
            at_s.to_numpy().astype(np.int64) * US_PER_S,
            codes(kind),
            sent_bytes.to_numpy(),
        )
    grouped: Sums = {}
    for kind, values in sums.items():
        name = ELECTIONS if kind in CONTROL_KINDS else kind
        grouped[name] = grouped.get(name, 0) + values
    return grouped


def fates_of_readings(tables: TraceTables, bins: Bins) -> Sums:
    """Readings that had a value per bin in which they were taken, by what became of them."""
    sums: Sums = {}
    for batch in tables.batches("fates", "origin_at_us", "fate", "reason"):
        at_us, fate, reason = batch.columns
        fates, fate_names = codes(fate)
        reasons, reason_names = codes(reason)
        labels = [*fate_names, *(f"{Fate.DROPPED}: {name}" for name in reason_names)]
        which = np.where(reasons >= 0, len(fate_names) + reasons, fates)
        _add(sums, bins, at_us.to_numpy(), (which, labels), None)
    return sums


def drops_by_reason(tables: TraceTables, bins: Bins) -> Sums:
    """Readings, messages and held readings dropped per bin, by reason."""
    sums: Sums = {}
    for batch in tables.batches("drops", "at_us", "reason"):
        _add(sums, bins, batch.column(0).to_numpy(), codes(batch.column(1)), None)
    return sums


def probes_over_time(tables: TraceTables, bins: Bins) -> Sums:
    """Readings whose probe requests reached the sink, per bin, and the heads probed for them and found matching.

    A reading counts once, at its first request.
    """
    columns = ("at_us", "origin", "origin_at_us", "heads_probed", "heads_matched")
    arrays = (column.astype(np.int64) for column in tables.arrays("probes", *columns))
    at_us, origin, origin_at_us, probed, matched = arrays
    order, starts = grouped(origin, origin_at_us)
    first_us = np.minimum.reduceat(at_us[order], starts) if len(starts) else at_us
    positions = bins.of_us(at_us)
    return {
        "readings": np.bincount(bins.of_us(first_us), minlength=bins.count),
        "heads_probed": _weighted(positions, probed, bins.count),
        "heads_matched": _weighted(positions, matched, bins.count),
    }


def delays_ms(tables: TraceTables) -> NDArray[np.float64]:
    """Each result's delay: from the reading to the answer at the sink.

    Rows that amend an earlier result of the same reading are not results of their own.
    """
    parts = [np.empty(0)]
    flags = ["amends"] if tables.has_column("results", "amends") else []
    for batch in tables.batches("results", "delay_us", *flags):
        delays_us, *amends = batch.columns
        if amends:
            delays_us = delays_us.filter(pc.invert(amends[0]))
        parts.append(delays_us.drop_null().to_numpy(zero_copy_only=False) / 1000)
    return np.concatenate(parts)


@dataclass(frozen=True, slots=True)
class Round:
    """One clustering round."""

    at_s: float
    sizes: NDArray[np.int64]
    """Motes in each cluster, its head included."""


def clustering_rounds(tables: TraceTables) -> list[Round]:
    """All rounds, in turn."""
    rounds = []
    for _, at_us, head in tables.runs("elections", "round", "at_us", "head"):
        _, sizes = np.unique(head, return_counts=True)
        rounds.append(Round(int(at_us.max()) / US_PER_S, sizes.astype(np.int64)))
    return rounds


def _add(
    sums: Sums,
    bins: Bins,
    at_us: NDArray[np.int64],
    groups: tuple[NDArray[np.int64], list[str]],
    weights: NDArray[np.int64] | None,
) -> None:
    """Add a batch to the sums of its groups; without weights, each row counts one."""
    positions, names = groups
    cells = positions * bins.count + bins.of_us(at_us)
    size = len(names) * bins.count
    if weights is None:
        totals = np.bincount(cells, minlength=size)
    else:
        totals = _weighted(cells, weights, size)
    for name, row in zip(names, totals.reshape(len(names), bins.count), strict=True):
        if row.any():
            sums[name] = sums.get(name, 0) + row


def _weighted(
    positions: NDArray[np.int64], weights: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    """Sums of integers by position; exact, which sums of floating-point weights are not for ever."""
    totals = np.zeros(size, np.int64)
    np.add.at(totals, positions, weights.astype(np.int64))
    return totals
