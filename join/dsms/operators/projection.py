"""Projection to columns and expressions, for all three kinds of change (PWindow §5.1)."""

from join.dsms.changes import Batch, Delta, Mapper


class Projection:
    """Each row mapped to another. Holds no state.

    An update stays an update even if the columns that are left did not change: the row is confirmed, as for
    sensor 3 at time 6 in PWindow Example 1.
    """

    def __init__(self, mapper: Mapper) -> None:
        self._mapper = mapper

    def apply(self, batch: Batch) -> list[Delta]:
        """What the batch does to the mapped rows."""
        mapper = self._mapper
        return [
            Delta(None if old is None else mapper(old), None if new is None else mapper(new))
            for old, new in batch
        ]
