"""Counts traffic per second, node and message kind from the log of the air.

Batches of finished transmissions are added up with NumPy; a second is written once nothing that was
sent in it is still on air.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from math import prod

import numpy as np
from numpy.typing import NDArray

from network.contract import NodeId
from network.transmission_log import IN_FLIGHT, NONE, LogColumns, TransmissionLog
from sim.trace.cells import Cells
from sim.units import US_PER_S

Ints = NDArray[np.int64]

SECOND, NODE, KIND, SENT, SENT_BYTES, RECEIVED, RECEIVED_BYTES, LOST, ADDRESSED = range(9)
"""The rows of a block: its columns are cells of second, node and kind, with their counts."""


class TrafficTally:
    """Sums of traffic, and their totals over the run by kind."""

    def __init__(self, write: Callable[[Sequence[Cells]], None]) -> None:
        """`write` takes rows of `traffic` as columns."""
        self._write = write
        self._kinds: list[str] = []
        """The names that kinds are numbered by."""
        self._blocks: list[Ints] = []
        """What has been counted and not yet written."""
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
        if not self._blocks:
            return
        counted = np.concatenate(self._blocks, axis=1)
        is_over = counted[SECOND] < before_us // US_PER_S
        self._blocks = [counted[:, ~is_over]]
        cells = counted[:, is_over]
        if not cells.size:
            return
        by_name = np.argsort(np.argsort(self._kinds))[cells[KIND]]
        cells = cells[:, np.lexsort((by_name, cells[NODE], cells[SECOND]))]
        is_first = np.any(np.diff(cells[:SENT], axis=1, prepend=NONE) != 0, axis=0)
        counts = np.add.reduceat(cells[SENT:], np.flatnonzero(is_first), axis=1)
        second, node, kind = cells[:SENT, is_first]
        names = tuple(self._kinds)
        self._write([Cells(second), Cells(node), Cells(kind, names=names), *map(Cells, counts)])
        for number in np.unique(kind).tolist():
            of_kind = counts[:, kind == number].sum(axis=1).tolist()
            totals = self.totals[names[number]]
            totals[:] = map(sum, zip(totals, of_kind, strict=True))

    def _absorb_log(self, log: LogColumns) -> None:
        kinds = self._numbers(log.kinds)[log.kind]
        lost = np.where(log.outcome == IN_FLIGHT, 0, log.addressed - log.received)
        sent = {
            SENT: np.ones_like(lost),
            SENT_BYTES: log.size,
            LOST: lost,
            ADDRESSED: log.addressed,
        }
        self._add(kinds, log.at_us, log.source, sent)
        # Copies of broadcasts that arrived are counted as receptions.
        rows = np.flatnonzero((log.received > 0) & (log.target != NONE))
        copies = {RECEIVED: np.ones_like(rows), RECEIVED_BYTES: log.size[rows]}
        self._add(kinds[rows], log.arrived_us[rows], log.target[rows], copies)

    def _absorb_receptions(self, receptions: list[tuple[int, str, int, list[NodeId]]]) -> None:
        arrived_us, kinds, sizes, heard = zip(*receptions, strict=True)
        copies = _column(map(len, heard))
        nodes = _column(chain.from_iterable(heard))
        received = {
            RECEIVED: np.ones_like(nodes),
            RECEIVED_BYTES: np.repeat(_column(sizes), copies),
        }
        kind = np.repeat(self._numbers(kinds), copies)
        self._add(kind, np.repeat(_column(arrived_us), copies), nodes, received)

    def _add(self, kinds: Ints, times_us: Ints, nodes: Ints, columns: dict[int, Ints]) -> None:
        """Add `columns` to the cells of second, node and kind."""
        if not len(nodes):
            return
        seconds = times_us // US_PER_S
        first_s, first_node = seconds.min(), nodes.min()
        shape = (
            int(seconds.max() - first_s) + 1,
            int(nodes.max() - first_node) + 1,
            len(self._kinds),
        )
        place = ((seconds - first_s) * shape[1] + (nodes - first_node)) * shape[2] + kinds
        used, group = _numbered(place, prod(shape))
        block = np.zeros((ADDRESSED + 1, len(used)), np.int64)
        block[SECOND], block[NODE], block[KIND] = np.unravel_index(used, shape)
        block[SECOND] += first_s
        block[NODE] += first_node
        for column, cells in columns.items():
            block[column] = np.bincount(group, weights=cells)
        self._blocks.append(block)

    def _numbers(self, kinds: Sequence[str]) -> Ints:
        """The number of each kind."""
        for kind in dict.fromkeys(kinds):
            if kind not in self._kinds:
                self._kinds.append(kind)
        return _column(map(self._kinds.index, kinds))


def _numbered(places: Ints, size: int) -> tuple[Ints, Ints]:
    """The distinct places, ascending, and the index of each row's place among them; all are below `size`."""
    if size > 4 * len(places):
        return np.unique(places, return_inverse=True)
    occurs = np.bincount(places) > 0  # without sorting, where most places occur
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[places]


def _column(cells: Iterable[int]) -> Ints:
    return np.fromiter(cells, np.int64)
