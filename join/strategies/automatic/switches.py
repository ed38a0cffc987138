"""Switches from one plan to another: which ones each mote knows of, and which plans a reading is joined under.

For a window after a switch, readings may be joined under both plans. Of a pair that both find, the old one reports it, and the new one
records what becomes of a reading. So a switch loses and doubles nothing.
"""

from typing import NamedTuple

from join.reading import Reading
from join.strategies.automatic.plans import Plan, overlap_us

FORGOTTEN = -1
"""The number of a switch back to the first plan, by a mote that knows no other."""


class Switch(NamedTuple):
    """From `at_us` on, `new` holds in place of `old`."""

    number: int
    at_us: int
    old: Plan
    new: Plan


class Switches:
    """All switches, as the sink has made them and as motes know them."""

    def __init__(self, first: Plan, window_us: int) -> None:
        self._first = first
        self._window_us = window_us
        self.made: list[Switch] = []
        """By the sink."""
        self._known: dict[int, list[Switch]] = {}
        """By mote: the switches that it knows of."""

    def make(self, at_us: int, old: Plan, new: Plan) -> None:
        """Let the sink switch plans."""
        self.made.append(Switch(len(self.made), at_us, old, new))

    def learn(self, node: int, switch: Switch, local_us: int) -> bool:
        """Let a mote know of a switch, at `local_us` by its clock; returns whether that is new to it."""
        known = self._known.setdefault(node, [])
        if known and known[-1].number >= switch.number:
            return False
        if local_us >= switch.at_us:  # too late to follow both plans from the beginning
            old = known[-1].new if known else self._first
            if old is switch.new:
                return False
            switch = switch._replace(at_us=local_us + 1, old=old)
        known.append(switch)
        return True

    def forget(self, node: int, local_us: int) -> None:
        """Let a mote forget all switches: readings that it takes after `local_us` follow the first plan.

        One that it takes at that instant does not: sending it may have been the mote's death.
        """
        if node in self._known:
            self._known[node].append(Switch(FORGOTTEN, local_us + 1, self._first, self._first))

    def knows_last(self, node: int) -> bool:
        """Whether a mote knows of the last switch."""
        last = self.made[-1].number
        return any(switch.number == last for switch in self._known.get(node, ()))

    def plans_of(self, reading: Reading) -> tuple[Plan, ...]:
        """The plans that a reading is joined under: the one that its mote follows, and for a while after a switch the one before."""
        switch = self._before(reading)
        if switch is None:
            return (self._first,)
        both_us = switch.at_us + overlap_us(switch.old, switch.new, self._window_us)
        if switch.old is switch.new or reading.at_us >= both_us:
            return (switch.new,)
        return (switch.new, switch.old)

    def reports(self, plan: Plan, origin: Reading, partner: Reading) -> bool:
        """Whether a plan reports a pair that it found: of two that have both readings the one before the later reading's switch."""
        if not self.made:
            return True
        first, last = sorted((origin, partner), key=lambda reading: reading.at_us)
        *_, old = self.plans_of(last)
        return plan is old or old not in self.plans_of(first)

    def is_copy(self, plan: Plan, reading: Reading) -> bool:
        """Whether another plan has the reading too and records its fate."""
        switch = self._before(reading)
        return switch is not None and switch.new is not plan

    def _before(self, reading: Reading) -> Switch | None:
        """The last switch before a reading that its mote knows of."""
        for switch in reversed(self._known.get(reading.node, ())):
            if switch.at_us <= reading.at_us:
                return switch
        return None
