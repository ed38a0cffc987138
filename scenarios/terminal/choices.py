"""The values that a command's option accepts, looked up only when they are needed."""

from collections.abc import Callable, Iterable, Iterator


class Choices:
    """Lazy `choices` for argparse: loaded only for a command's own help and for its checks.

    Give the option a `metavar` too, or argparse lists them at once; `%(choices)s` in its help does so late.
    """

    def __init__(self, load: Callable[[], Iterable[str]]) -> None:
        self._load = load

    def __iter__(self) -> Iterator[str]:
        return map(str, self._load())

    def __contains__(self, name: object) -> bool:
        return name in list(self)
