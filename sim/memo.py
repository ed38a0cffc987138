"""A memoised function that is used like a dict: a value computed before costs no call."""

from collections.abc import Callable
from typing import TypeVar

Key = TypeVar("Key")
Found = TypeVar("Found")


class Memo(dict[Key, Found]):
    """The values of `function` for the keys so far; `memo[key]` computes a missing one.

    With `most`, all are forgotten when there are so many: for keys that go on changing as long as a run lasts.
    """

    def __init__(self, function: Callable[[Key], Found], most: int | None = None) -> None:
        super().__init__()
        self._function = function
        self._most = most

    def __missing__(self, key: Key) -> Found:
        if len(self) == self._most:
            self.clear()
        found = self[key] = self._function(key)
        return found
