"""Projection to columns and expressions, for all three kinds of change (PWindow §5.1)."""

from join.dsms.changes import Batch, Delta, Mapper


class Projection:
    """Maps each row to another. Stateless.

    An update stays an update even if the columns that are left did not change: the row is confirmed, as for
    sensor 3 at time 6 in PWindow Example 1.
    """

    def __init__(self, mapper: Mapper) -> None:
        self._mapper = mapper

    def apply(self, batch: Batch) -> list[Delta]:
        """The changes of the mapped rows due to the batch."""
        mapper = self._mapper
        return [
            Delta(None if old is None else mapper(old), None if new is None else mapper(new))
            for old, new in batch
        ]
