"""Occurrences of all streams in one table, by value (SNJoin §2.1, Fig. 1): for operators over recorded streams.

`join.state.value_table` is the table of a cluster head.
"""

from collections.abc import KeysView, Mapping
from typing import Generic

from join.contract import Stream, Value
from join.state.clean_sweep import Record, StampT, add_sorted, remove_first


class OccurrenceTable(Generic[StampT]):
    """Occurrences of all streams by value.

    Invariants:
        * Each stream's occurrences are sorted by time, then by stamp.
        * No entry and no stream of an entry is empty.
    """

    def __init__(self) -> None:
        self._entries: dict[Value, dict[Stream, list[Record[StampT]]]] = {}
        self.values: KeysView[Value] = self._entries.keys()
        """The values that occur, as they are now."""

    def find(self, value: Value) -> Mapping[Stream, list[Record[StampT]]] | None:
        """All occurrences of a value: the table's own lists; callers must not change them."""
        return self._entries.get(value)

    def add(self, record: Record[StampT]) -> bool:
        """Store one occurrence (Fig. 2 steps 1 to 3); returns whether it is its stream's newest."""
        entry = self._entries.get(record[3])
        if entry is None:
            self._entries[record[3]] = {record[2]: [record]}
            return True
        held = entry.get(record[2])
        if held is None:
            entry[record[2]] = [record]
            return True
        return add_sorted(held, record)

    def forget(self, record: Record[StampT]) -> None:
        """Drop one occurrence, and its entry when that was the last (Fig. 2 step 6)."""
        _, _, stream, value = record
        entry = self._entries[value]
        held = entry[stream]
        if len(held) > 1:
            remove_first(held, record)
            return
        assert held == [record], (held, record)
        del entry[stream]
        if not entry:
            del self._entries[value]
