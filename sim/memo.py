"""A memoised function that is used like a dict: a value computed before costs no call."""

from collections.abc import Callable
from typing import TypeVar

Key = TypeVar("Key")
Found = TypeVar("Found")


class Memo(dict[Key, Found]):
    """The values of `function` for all keys so far; `memo[key]` computes a missing one."""

    def __init__(self, function: Callable[[Key], Found]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, key: Key) -> Found:
        found = self[key] = self._function(key)
        return found
