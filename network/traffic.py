"""Counts traffic per second, node and message kind from the log of the air.

Batches of finished transmissions are added up with NumPy; a second is written once nothing that was
sent in it is still on air.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from math import prod

import numpy as np
from numpy.typing import NDArray

from network.contract import NodeId
from network.transmission_log import IN_FLIGHT, NONE, LogColumns, TransmissionLog
from sim.trace.recorder import Rows
from sim.units import US_PER_S

Ints = NDArray[np.int64]

SENT, SENT_BYTES, RECEIVED, RECEIVED_BYTES, LOST, ADDRESSED = range(6)


class TrafficTally:
    """Sums of traffic, and their totals over the run by kind."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._cells: dict[tuple[int, NodeId, str], list[int]] = defaultdict(lambda: [0] * 6)
        self.totals: dict[str, list[int]] = defaultdict(lambda: [0] * 6)
        """By kind: sent, sent_bytes, received, received_bytes, lost, addressed."""

    def absorb(
        self, log: TransmissionLog, receptions: list[tuple[int, str, int, list[NodeId]]]
    ) -> None:
        """Add finished transmissions and the copies of broadcasts that arrived."""
        if len(log):
            self._absorb_log(log.columns())
        if receptions:
            self._absorb_receptions(receptions)

    def write(self, before_us: int) -> None:
        """Write the seconds that ended before `before_us`, in order."""
        before_s = before_us // US_PER_S
        done = sorted(key for key in self._cells if key[0] < before_s)
        for key in done:
            cell = self._cells.pop(key)
            second, node, kind = key
            self._rows.append((second, node, kind, *cell))
            totals = self.totals[kind]
            for column, count in enumerate(cell):
                totals[column] += count

    def _absorb_log(self, log: LogColumns) -> None:
        lost = np.where(log.outcome == IN_FLIGHT, 0, log.addressed - log.received)
        sent = {
            SENT: np.ones_like(lost),
            SENT_BYTES: log.size,
            LOST: lost,
            ADDRESSED: log.addressed,
        }
        self._add(log.kinds, log.kind, log.at_us, log.source, sent)
        # Copies of broadcasts that arrived are counted as receptions.
        rows = np.flatnonzero((log.received > 0) & (log.target != NONE))
        copies = {RECEIVED: np.ones_like(rows), RECEIVED_BYTES: log.size[rows]}
        self._add(log.kinds, log.kind[rows], log.arrived_us[rows], log.target[rows], copies)

    def _absorb_receptions(self, receptions: list[tuple[int, str, int, list[NodeId]]]) -> None:
        arrived_us, kinds, sizes, heard = zip(*receptions, strict=True)
        copies = _column(map(len, heard))
        names, kind = _named(kinds)
        nodes = _column(chain.from_iterable(heard))
        received = {
            RECEIVED: np.ones_like(nodes),
            RECEIVED_BYTES: np.repeat(_column(sizes), copies),
        }
        self._add(
            names, np.repeat(kind, copies), np.repeat(_column(arrived_us), copies), nodes, received
        )

    def _add(
        self,
        names: Sequence[str],
        kinds: Ints,
        times_us: Ints,
        nodes: Ints,
        columns: dict[int, Ints],
    ) -> None:
        """Add `columns` to the cells of second, node and kind (a position in `names`)."""
        if not len(nodes):
            return
        seconds = times_us // US_PER_S
        first_s, first_node = seconds.min(), nodes.min()
        shape = (int(seconds.max() - first_s) + 1, int(nodes.max() - first_node) + 1, len(names))
        place = ((seconds - first_s) * shape[1] + (nodes - first_node)) * shape[2] + kinds
        used, group = _numbered(place, prod(shape))
        sums = {
            column: np.bincount(group, weights=cells).astype(np.int64).tolist()
            for column, cells in columns.items()
        }
        second, node, kind = np.unravel_index(used, shape)
        keys = zip(
            (second + first_s).tolist(), (node + first_node).tolist(), kind.tolist(), strict=True
        )
        for position, (at_s, who, number) in enumerate(keys):
            cell = self._cells[at_s, who, names[number]]
            for column, cells in sums.items():
                cell[column] += cells[position]


def _numbered(places: Ints, size: int) -> tuple[Ints, Ints]:
    """The distinct places, ascending, and the index of each row's place among them; all are below `size`."""
    if size > 4 * len(places):
        return np.unique(places, return_inverse=True)
    occurs = np.bincount(places) > 0  # without sorting, where most places occur
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[places]


def _named(kinds: Sequence[str]) -> tuple[list[str], Ints]:
    """The distinct kinds, and for each row the position of its kind among them."""
    names = list(dict.fromkeys(kinds))
    return names, _column(map({name: number for number, name in enumerate(names)}.get, kinds))


def _column(cells: Iterable[int | None]) -> Ints:
    return np.fromiter(cells, np.int64)
