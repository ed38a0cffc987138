"""Shared Fig. 3b: SWF against each query alone, Eq. (2)."""

from functools import partial

from scenarios.reproduce.figure import Figure, Finding
from scenarios.reproduce.shared import simultaneous
from scenarios.reproduce.table import Table


def _serves_the_smallest(table: Table) -> Finding:
    smallest = table.rows[0]
    lwo_s = simultaneous.lwo_equation_s()[0]
    ours = f"{smallest['shared_s'] * 1e3:.1f} ms; LWO {lwo_s * 1e3:.0f} ms"
    return Finding(smallest["shared_s"] < lwo_s / 10, ours)


FIGURE = Figure(
    "shared-3b",
    "Shared §3.2.1, Fig. 3b",
    "SWF against each query alone",
    simultaneous.swf_points,
    simultaneous.measure,
    partial(simultaneous.draw, "SWF"),
    {
        "shared-swf-equation": simultaneous.follows_the_equation,
        "shared-swf-serves-smallest": _serves_the_smallest,
    },
)
