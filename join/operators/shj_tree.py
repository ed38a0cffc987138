"""Left-deep tree of symmetric hash joins, complete and variable-arity (SNJoin §7, §8).

Paper                                     Here
binary join node (Wilschut & Apers 1991)  level k joins the streams before k (left) with stream k (right)
right hash table of level k               `_leaves[k]`
left hash table of level k                `_partials[k]`: the values on which the streams before k join
variable arity: results go up even if     `probe`, variable: every level is probed
no match is found at a step (SNJoin §3.1)

A tuple of stream k probes the left table of its level; the partial result then goes up and probes the right
table of each level above. Partial results are factorised: a node stores only *that* the streams below join on
a value, and how recent the best such partial result is; the members are read from the leaves when needed.
Materialised, they would be exponential in the height of the tree. The tree is rebuilt when a stream is added
or removed.
"""

from collections.abc import Iterable, Mapping
from functools import partial

from join.contract import Arity, Stream, Value
from join.operators.table import Held, TableWindows, Work
from join.operators.table_join import TableJoin
from join.state.clean_sweep import Record, add_sorted, remove_first
from join.windows import LastTuples


class TreeTable:
    """The tree's tables, level by level.

    Invariants, complete arity:
        * If a level's left table has a value, so has that of each level below, down to level 2. (The left
          table of level 1 is the leaf of level 0.)
        * A value is in the left table of level k only if all leaves before k hold it.
    """

    def __init__(self, arity: Arity, streams: Iterable[Stream], windows: TableWindows) -> None:
        self._complete = arity is Arity.COMPLETE
        self._reach = None if isinstance(windows, LastTuples) else windows.reach_us
        self._streams = dict.fromkeys(streams)
        self._leaves: dict[Stream, dict[Value, Held]] = {stream: {} for stream in streams}
        self._levels: list[tuple[Stream, dict[Value, Held]]] = []
        self._level_of: dict[Stream, int] = {}
        self._partials: list[dict[Value, int]] = []
        """By level and value: the last time at which the best partial result can be joined."""
        self.probes = 0
        self.comparisons = 0
        self.work = Work()
        self._build()

    def probe(self, record: Record[int]) -> Mapping[Stream, Held] | None:
        """Each stream's tuples that match on the way up; updates the left tables."""
        if self._complete:
            return self._climb(record)
        _, _, own, value = record
        self.probes += len(self._levels)
        return {
            stream: held
            for stream, leaf in self._levels
            if (held := leaf.get(value)) is not None and stream != own
        }

    def add(self, record: Record[int]) -> None:
        """Store a tuple in its leaf."""
        leaf = self._leaves.get(record[2])
        if leaf is None:
            leaf = self._leaves[record[2]] = {}
            self._level_of[record[2]] = len(self._levels)
            self._levels.append((record[2], leaf))
        held = leaf.get(record[3])
        if held is None:
            leaf[record[3]] = [record]
        else:
            add_sorted(held, record)

    def forget(self, record: Record[int]) -> None:
        """Drop a tuple; with the last of its value, also the partial results on that value."""
        _, _, stream, value = record
        leaf = self._leaves[stream]
        held = leaf[value]
        if len(held) > 1:
            remove_first(held, record)
            return
        del leaf[value]
        if stream in self._level_of:
            for partials in self._partials[self._level_of[stream] + 1 :]:
                partials.pop(value, None)
        if not leaf and stream not in self._streams:
            del self._leaves[stream]
            self._build()

    def add_stream(self, stream: Stream) -> None:
        """Add a level for the stream on top."""
        self._streams[stream] = None
        self._leaves.setdefault(stream, {})
        self._build()

    def remove_stream(self, stream: Stream) -> None:
        """Remove the stream's level once its tuples have expired."""
        del self._streams[stream]
        if not self._leaves[stream]:
            del self._leaves[stream]
        self._build()

    def _climb(self, record: Record[int]) -> Mapping[Stream, Held] | None:
        at_us, _, own, value = record
        level = self._level_of[own]
        levels, partials = self._levels, self._partials
        until_us = self._until(record)
        # The left table of the tuple's own level: one look-up detects most misses.
        if level >= 2:
            self.probes += 1
            best_us = partials[level].get(value)
            if best_us is None or (self._reach is not None and best_us < at_us):
                return None
        found: dict[Stream, Held] = {}
        for stream, leaf in levels[:level]:
            self.probes += 1
            held = leaf.get(value)
            if held is None:
                return None
            found[stream] = held
            until_us = min(until_us, self._until(held[-1]))
        # The partial result goes up: into each left table, and against each right table.
        for above in range(level + 1, len(levels)):
            if above >= 2:
                left = partials[above]
                left[value] = max(until_us, left.get(value, until_us))
            stream, leaf = levels[above]
            self.probes += 1
            held = leaf.get(value)
            if held is None:
                return None
            found[stream] = held
            until_us = min(until_us, self._until(held[-1]))
        return found

    def _until(self, record: Record[int]) -> int:
        """The newest time that can join a tuple."""
        return 0 if self._reach is None else record[0] + self._reach(record[2])

    def _build(self) -> None:
        """Rebuild the levels, and the left tables from the leaves."""
        order = self._streams if self._complete else {**self._streams, **self._leaves}
        self._levels = [(stream, self._leaves[stream]) for stream in order]
        self._level_of = {stream: level for level, (stream, _) in enumerate(self._levels)}
        self._partials = [{} for _ in self._levels]
        if not self._complete or not self._levels:
            return
        joined = {value: self._until(held[-1]) for value, held in self._levels[0][1].items()}
        for level in range(1, len(self._levels)):
            if level >= 2:
                self._partials[level] = joined
            leaf = self._levels[level][1]
            joined = {
                value: min(until_us, self._until(leaf[value][-1]))
                for value, until_us in joined.items()
                if value in leaf
            }


shj_tree = partial(TableJoin, TreeTable)
"""A tree of symmetric hash joins, the streams joined in the order given: see `TableJoin`."""
