"""Which heads the sink calls for candidates: those that hold readings of a value which another head holds too."""

from typing import NamedTuple

from join.strategies.two_phase.head import NOT_CALLED_US


class Call(NamedTuple):
    """The sink calls for a head's readings of a value up to a time."""

    head: int
    value: int
    until_us: int


class _Source:
    """A head that has readings of a value."""

    __slots__ = ("called_us", "newest_us")

    def __init__(self, newest_us: int) -> None:
        self.newest_us = newest_us
        """The time of its newest reading known."""
        self.called_us = NOT_CALLED_US
        """Up to what time it has been called."""


class Calls:
    """The sink's side of `two-phase`: a head is called for what may join readings of other heads."""

    def __init__(self, *, window_us: int, margin_us: int, slack_us: int) -> None:
        """Set up the sink.

        Args:
            window_us: ω.
            margin_us: How long before a call lapses the next one is sent.
            slack_us: How much longer than a window a head is taken to hold readings: what is to come may be on its way.
        """
        self._window_us = window_us
        self._margin_us = margin_us
        self._active_us = window_us + slack_us
        self._values: dict[int, dict[int, _Source]] = {}

    def hear(self, value: int, head: int, at_us: int, now_us: int) -> list[Call]:
        """Take a reading that a head has sent; returns the calls to send now."""
        sources = self._values.setdefault(value, {})
        source = sources.get(head)
        if source is None:
            sources[head] = _Source(at_us)
        else:
            source.newest_us = max(source.newest_us, at_us)
        return self._due(value, now_us)

    def forget(self, now_us: int) -> None:
        """Forget values that no head has readings of any more."""
        for value in list(self._values):
            self._forget_sources(value, now_us)
            if not self._values[value]:
                del self._values[value]

    def _forget_sources(self, value: int, now_us: int) -> None:
        sources = self._values[value]
        for head in [h for h, s in sources.items() if s.newest_us + self._active_us < now_us]:
            del sources[head]

    def _due(self, value: int, now_us: int) -> list[Call]:
        """The calls to send now: each up to a window from the others' newest reading."""
        self._forget_sources(value, now_us)
        sources = self._values[value]
        if len(sources) < 2:
            return []
        second_us, first_us = sorted(source.newest_us for source in sources.values())[-2:]
        leader = next(head for head, source in sources.items() if source.newest_us == first_us)
        calls = []
        for head, source in sources.items():
            until_us = (second_us if head == leader else first_us) + self._window_us
            if until_us > source.called_us and source.called_us - self._margin_us <= now_us:
                source.called_us = until_us
                calls.append(Call(head, value, until_us))
        return calls
