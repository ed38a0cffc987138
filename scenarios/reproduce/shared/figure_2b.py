"""Shared Fig. 2b: LWO against each query alone, Eq. (1)."""

from functools import partial

from scenarios.reproduce.figure import Figure, Finding
from scenarios.reproduce.shared import simultaneous
from scenarios.reproduce.table import Table


def _penalises_the_smallest(table: Table) -> Finding:
    smallest = table.rows[0]
    shared, alone = smallest["shared_s"], smallest["alone_s"]
    ours = f"{shared * 1e3:.0f} ms shared, {alone * 1e3:.1f} ms alone"
    return Finding(shared > 10 * alone, ours)


FIGURE = Figure(
    "shared-2b",
    "Shared §3.1.1, Fig. 2b",
    "LWO against each query alone",
    simultaneous.lwo_points,
    simultaneous.measure,
    partial(simultaneous.draw, "LWO"),
    {
        "shared-lwo-equation": simultaneous.follows_the_equation,
        "shared-lwo-penalises-smallest": _penalises_the_smallest,
    },
)
