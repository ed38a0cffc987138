"""Queries over the readings that arrive at the sink: the stream database as part of a simulation.

The stream `Sensors` has a row per reading: what its message carries, its sender, the sender's position and the time
of arrival. The queries' answers are written to the trace, a row per change.
"""

import json
from collections.abc import Sequence

from join.dsms.catalog import TIME_COLUMN, StreamSchema, Type
from join.dsms.clocked import QuerySite
from join.dsms.engine import Engine
from join.dsms.running_query import Output
from join.reading import Reading
from network.contract import Clock
from sim.trace.recorder import Rows
from sim.trace.rows import result_row

SENSORS = "Sensors"
"""The stream of all readings."""

ARRIVAL_COLUMN = "arrived_us"
"""When a row arrived at the query engine, if that is not when it was produced."""


def sensors_schema(attribute: str) -> StreamSchema:
    """The schema of the stream of readings, with the joined value in the column `attribute`."""
    return StreamSchema(
        SENSORS,
        {
            "node": Type.INTEGER,
            attribute: Type.INTEGER,
            "x_m": Type.REAL,
            "y_m": Type.REAL,
            TIME_COLUMN: Type.INTEGER,
            ARRIVAL_COLUMN: Type.INTEGER,
        },
    )


class SinkQueries:
    """The queries of a simulated sink."""

    def __init__(
        self,
        engine: Engine,
        clock: Clock,
        rows: Rows,
        positions_m: Sequence[tuple[float, float]],
    ) -> None:
        """Run the engine's queries over readings of motes at `positions_m`."""
        self.engine = engine
        self._clock = clock
        self._rows = rows
        self._positions_m = positions_m
        self._columns = {name: list(query.columns) for name, query in engine.queries.items()}
        self.site = QuerySite(engine, clock, self._record)

    def take(self, reading: Reading, at_us: int) -> None:
        """Process a reading at `at_us`, now or soon: when the sink's CPU reaches it."""
        self._clock.call_at(at_us, self._arrive, reading)

    def _arrive(self, reading: Reading) -> None:
        node, value, at_us = reading
        row = (node, value, *self._positions_m[node], at_us, self._clock.now_us)
        self.site.take(SENSORS, row, at_us)

    def _record(self, outputs: Sequence[Output]) -> None:
        for output in outputs:
            named = dict(zip(self._columns[output.query], output.row, strict=True))
            self._rows.append(
                result_row(
                    at_us=output.at_us,
                    query=output.query,
                    change=output.change,
                    selected=json.dumps(named),
                )
            )
