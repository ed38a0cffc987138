"""Counts traffic per second, node and message kind from the log of the air.

Batches of finished transmissions are added up with NumPy; a second is written once nothing that was
sent in it is still on air.
"""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from network.base_air import LogRow
from network.contract import NodeId
from sim.kernel import US_PER_S
from sim.recorder import Rows
from sim.records import Outcome

SENT, SENT_BYTES, RECEIVED, RECEIVED_BYTES, LOST, ADDRESSED = range(6)


class TrafficTally:
    """Sums of traffic, and their totals over the run by kind."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._cells: dict[tuple[int, NodeId, str], list[int]] = defaultdict(lambda: [0] * 6)
        self.totals: dict[str, list[int]] = defaultdict(lambda: [0] * 6)
        """By kind: sent, sent_bytes, received, received_bytes, lost, addressed."""

    def absorb(
        self, log: list[LogRow], receptions: list[tuple[int, str, int, list[NodeId]]]
    ) -> None:
        """Add finished transmissions and the copies of broadcasts that arrived."""
        by_kind: dict[str, list[LogRow]] = defaultdict(list)
        for row in log:
            by_kind[row[1]].append(row)
        for kind, rows in by_kind.items():
            self._absorb_kind(kind, rows)
        for arrived_us, kind, size, heard in receptions:
            second = arrived_us // US_PER_S
            for node in heard:
                cell = self._cells[second, node, kind]
                cell[RECEIVED] += 1
                cell[RECEIVED_BYTES] += size

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

    def _absorb_kind(self, kind: str, rows: list[LogRow]) -> None:
        count = len(rows)
        at_us, _, sources, targets, sizes, outcomes, arrived_us, addressed, received = zip(
            *rows, strict=True
        )
        size = np.fromiter(sizes, np.int64, count)
        wanted = np.fromiter(addressed, np.int64, count)
        got = np.fromiter(received, np.int64, count)
        in_flight = np.fromiter((o is Outcome.IN_FLIGHT for o in outcomes), np.bool_, count)
        self._add(
            kind,
            np.fromiter(at_us, np.int64, count) // US_PER_S,
            np.fromiter(sources, np.int64, count),
            {
                SENT: np.ones(count, np.int64),
                SENT_BYTES: size,
                LOST: np.where(in_flight, 0, wanted - got),
                ADDRESSED: wanted,
            },
        )
        unicast = [i for i, target in enumerate(targets) if target is not None and got[i]]
        self._add(
            kind,
            np.array([arrived_us[i] for i in unicast], np.int64) // US_PER_S,
            np.array([targets[i] for i in unicast], np.int64),
            {RECEIVED: np.ones(len(unicast), np.int64), RECEIVED_BYTES: size[unicast]},
        )

    def _add(
        self,
        kind: str,
        seconds: NDArray[np.int64],
        nodes: NDArray[np.int64],
        columns: dict[int, NDArray[np.int64]],
    ) -> None:
        """Add `columns` to the cells of (second, node)."""
        keys, group = np.unique(seconds * 0x1_0000_0000 + nodes, return_inverse=True)
        sums = {
            column: np.bincount(group, weights=cells, minlength=len(keys)).astype(np.int64).tolist()
            for column, cells in columns.items()
        }
        for position, key in enumerate(keys.tolist()):
            # Adding one before and taking it off after makes the sink's -1 divide like the others.
            second, node = divmod(key + 1, 0x1_0000_0000)
            cell = self._cells[second, node - 1, kind]
            for column, cells in sums.items():
                cell[column] += cells[position]
