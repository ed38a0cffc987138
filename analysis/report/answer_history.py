"""The answer at the sink at each frame of a replay, read from the results of a trace."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from analysis.report.replay import AnswerHistory, Frames, Nodes, Toggles
from analysis.trace.reader import TraceTables, codes, lists
from sim.trace.tables import Change

VALUES_MOST = 6
"""With more joined values than this, the page shows their answers as one."""


class _AnswerRecorder:
    """The answer of each value while the results are read, and what the frames have shown of it.

    Each value has a row in two matrices. The row is used again once the answer has dissolved and a
    frame has shown that, so that memory follows the values that are alive, not all values ever seen.
    """

    def __init__(self, frames: Frames, motes: int) -> None:
        self._frames = frames
        self._motes = motes
        self._frame = 0
        self._row_of: dict[int, int] = {}
        self._free: list[int] = []
        self._now = np.zeros((0, motes), np.bool_)
        self._shown = np.zeros((0, motes), np.bool_)
        self._shown_whole: NDArray[np.bool_] = np.zeros(motes, np.bool_)
        self._whole: dict[int, Nodes] = {}
        self._by_value: dict[int, dict[int, Nodes]] = {}

    def enter(self, values: NDArray[np.int64], lengths: NDArray[np.int64], nodes: Nodes) -> None:
        """Take `lengths[i]` of the nodes into the answer of `values[i]`, for all i in turn."""
        distinct, which = np.unique(values, return_inverse=True)
        rows = np.array([self._row(value) for value in distinct.tolist()], np.int64)
        self._now[np.repeat(rows[which], lengths), nodes] = True

    def leave(self, value: int, nodes: Nodes, *, dissolved: bool) -> None:
        """Take nodes, or everybody, out of the answer of a value."""
        row = self._row(value)
        if dissolved:
            self._now[row] = False
        else:
            self._now[row, nodes] = False

    def show_before(self, frame: int) -> None:
        """Show all frames before `frame` what has happened so far."""
        if self._frame >= min(frame, self._frames.count):
            return
        changed = self._now != self._shown
        for value, row in list(self._row_of.items()):
            nodes = np.flatnonzero(changed[row])
            if len(nodes):
                self._by_value.setdefault(value, {})[self._frame] = nodes
            if not self._now[row].any():
                del self._row_of[value]
                self._free.append(row)
        whole: NDArray[np.bool_] = np.any(self._now, axis=0)
        self._whole[self._frame] = np.flatnonzero(whole != self._shown_whole)
        self._shown, self._shown_whole = self._now.copy(), whole
        self._frame = frame

    def history(self) -> AnswerHistory:
        """All that was shown, to the last frame."""
        self.show_before(self._frames.count)
        few = self._by_value if len(self._by_value) <= VALUES_MOST else {}
        return AnswerHistory(
            self._toggles(self._whole),
            {value: self._toggles(few[value]) for value in sorted(few)},
        )

    def _toggles(self, changes: dict[int, Nodes]) -> Toggles:
        nothing = np.empty(0, np.int64)
        return Toggles.of(changes.get(frame, nothing) for frame in range(self._frames.count))

    def _row(self, value: int) -> int:
        if value not in self._row_of:
            if not self._free:
                known = len(self._now)
                more = np.zeros((max(4, known), self._motes), np.bool_)
                self._now = np.concatenate([self._now, more])
                self._shown = np.concatenate([self._shown, more])
                self._free = list(range(known, len(self._now)))
            self._row_of[value] = self._free.pop()
        return self._row_of[value]


@dataclass(frozen=True, slots=True)
class _Members:
    """The motes that each row of a batch lists."""

    lengths: NDArray[np.int64]
    nodes: Nodes
    ends: NDArray[np.int64]

    def of(self, first: int, last: int) -> Nodes:
        """Those of the rows from `first` to before `last`."""
        return self.nodes[self.ends[first] - self.lengths[first] : self.ends[last - 1]]


def _members(column: pa.ListArray) -> _Members:
    lengths, members = lists(column)
    nodes = members.field("node").to_numpy().astype(np.int64)
    return _Members(lengths, nodes, np.cumsum(lengths))


def answer_history(tables: TraceTables, frames: Frames, *, motes: int) -> AnswerHistory:
    """The answer at each frame, from the results with their partners.

    A result puts its origin and partners into the answer of its value. A row without an origin lists those that
    left and, where sets are asked for, those that came; when the answer dissolves, whoever was left alone leaves
    too, without being listed.
    """
    recorder = _AnswerRecorder(frames, motes)
    columns = ["at_us", "change", "value", "origin", "partners"]
    # A trace of an older version has no level but that of results.
    columns += ["joined"] if tables.has_column("results", "joined") else []
    for rows in tables.batches("results", *columns):
        # Rows without a value are the answers of other queries.
        batch = rows.filter(pc.is_valid(rows.column("value")))
        if not len(batch):
            continue
        at_us, change, value, origin, partners, *joined = batch.columns
        # Rows stand in the order in which the answer changed. A result's time, when the sink's CPU has
        # dealt with it, may run a little ahead of the next row's; the recorder never goes back.
        visible = frames.first_seeing(at_us.to_numpy())
        values = value.to_numpy()
        leaves = np.asarray(origin.is_null())
        changes, names = codes(change)
        dissolves = changes == (names.index(Change.REMOVE) if Change.REMOVE in names else -2)
        listed, came = _members(partners), _members(joined[0]) if joined else None
        origins = origin.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        # A stretch is one departure, or results that the same frame is the first to see.
        cuts = np.flatnonzero(leaves[1:] | leaves[:-1] | (visible[1:] != visible[:-1])) + 1
        for first, last in zip([0, *cuts.tolist()], [*cuts.tolist(), len(values)], strict=True):
            recorder.show_before(int(visible[first]))
            if leaves[first]:
                value_of, dissolved = int(values[first]), bool(dissolves[first])
                recorder.leave(value_of, listed.of(first, last), dissolved=dissolved)
                if came is not None and not dissolved:
                    counts = came.lengths[first:last]
                    recorder.enter(values[first:last], counts, came.of(first, last))
            else:
                own = np.ones(last - first, np.int64)
                recorder.enter(values[first:last], own, origins[first:last])
                recorder.enter(
                    values[first:last], listed.lengths[first:last], listed.of(first, last)
                )
    return recorder.history()
