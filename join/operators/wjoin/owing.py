"""W-joins whose tuples may wait for others: FEW-join, and both modes of MW-join and FEW-join as published."""

from abc import abstractmethod

from join.contract import Result, Stream
from join.operators.wjoin.base import WJoin


class Owing(WJoin):
    """A W-join that may owe results of tuples that wait: it forms them before its streams change."""

    _due: tuple[Result, ...] = ()
    """Results that were formed between calls."""

    def add_stream(self, stream: Stream) -> None:
        """Add `stream`; results require it from now on."""
        self._settle()
        super().add_stream(stream)

    def remove_stream(self, stream: Stream) -> None:
        """Remove `stream`; results no longer require it."""
        self._settle()
        super().remove_stream(stream)

    @abstractmethod
    def _settle(self) -> None:
        """Add the results of the tuples so far over the current streams to `_due`; the caller rebuilds the state."""

    def _take_due(self) -> tuple[Result, ...]:
        due, self._due = self._due, ()
        return due
