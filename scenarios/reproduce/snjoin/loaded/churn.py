"""Sensors that come and go while a join runs (SNJoin §7.2, Fig. 7), and what that costs each operator.

SNJoin §7.2, §3.1                                       Here
every minute 1 to 100 sensors are added or removed      `changed`: once per window, 1 to a twentieth of the sensors
a tree must be reorganised                              the partial results at the level that is added or taken out are
                                                        hashed and inserted again, one for each stored tuple below it
MJoin must consider the change in its probing           the tables are put into sequence again
sequences
SNJoin: all readings are hashed to one table            nothing

That is the least a tree can do: all other levels are left as they are. With `rebuild` it does the most: after each
change all partial results, one for each stored tuple and level above it, are hashed and inserted again.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from join.contract import Occurrence
from join.operators.loaded import LoadedOperator
from join.operators.table_join import TableJoin
from scenarios.reproduce.figure import Point
from scenarios.reproduce.snjoin.loaded.work import (
    CHOOSE_US,
    HASH_US,
    INSERT_US,
    Meter,
    sorting_steps,
)
from sim.rng import RandomStreams
from sim.units import US_PER_S

if TYPE_CHECKING:
    import random

SHARE_MAX: Final = 0.05
"""100 of 2,000 sensors."""


class Churn:
    """Adds and removes streams of a running operator, and makes its processor pay."""

    def __init__(self, point: Point, meter: Meter, engine: LoadedOperator, unit_ns: float) -> None:
        self._name = point["operator"]
        self._rebuild = point["rebuild"]
        self._every_us = round(point["window_s"] * US_PER_S)
        self._most = max(1, round(point["streams"] * SHARE_MAX))
        self._active: list[int] = list(range(point["streams"]))
        self._away: list[int] = []
        self._meter = meter
        self._engine = engine
        self._unit_ns = unit_ns
        self._draws: random.Random = RandomStreams(point["seed"]).scalar(
            "reproduce.snjoin.loaded.churn"
        )

    def changed(self, feed: Sequence[Occurrence]) -> Iterator[Occurrence]:
        """The tuples of the sensors that are there; changes take place between them.

        Sensors that are added are ones that were removed before, so that their number stays within bounds.
        """
        due_us = self._every_us
        present = set(self._active)
        for occurrence in feed:
            while occurrence.at_us >= due_us:
                self._change()
                present = set(self._active)
                due_us += self._every_us
            if occurrence.stream in present:
                yield occurrence

    def _change(self) -> None:
        count = self._draws.randint(1, self._most)
        add = bool(self._away) and self._draws.random() < 0.5
        for _ in range(min(count, len(self._away)) if add else count):
            if add:
                stream = self._away.pop(self._draws.randrange(len(self._away)))
                level = len(self._active)
                self._active.append(stream)
                self._engine.operator.add_stream(stream)
            else:
                level = self._draws.randrange(len(self._active))
                stream = self._active.pop(level)
                self._away.append(stream)
                self._engine.operator.remove_stream(stream)
            if not self._rebuild:
                self._engine.block(round(self._cost_us(level) * self._unit_ns))
        if self._rebuild:
            # On average half of the levels lie above that of a tuple.
            self._engine.block(round(self._tuples_us() * len(self._active) / 2 * self._unit_ns))
        self._meter.number(self._active)

    def _cost_us(self, level: int) -> float:
        streams = len(self._active)
        match self._name:
            case "snjoin":
                return 0.0
            case "mjoin":
                return sorting_steps(streams) * CHOOSE_US
        return self._tuples_us() * level / max(1, streams)

    def _tuples_us(self) -> float:
        """What it costs to hash and insert as many partial results as there are stored tuples."""
        operator = self._engine.operator
        assert isinstance(operator, TableJoin)
        return len(operator) * (HASH_US + INSERT_US)
