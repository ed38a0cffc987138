"""A function whose values are remembered, looked up as in a dict: a known value costs no call."""

from collections.abc import Callable
from typing import TypeVar

Key = TypeVar("Key")
Found = TypeVar("Found")


class Memo(dict[Key, Found]):
    """What `function` gives for each key asked for so far; `memo[key]` asks."""

    def __init__(self, function: Callable[[Key], Found]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, key: Key) -> Found:
        found = self[key] = self._function(key)
        return found
