"""The paper, its claims and its figures."""

from scenarios.reproduce.figure import Paper
from scenarios.reproduce.shared import (
    figure_2b,
    figure_3b,
    figure_5,
    figure_6,
    figure_7,
    figure_8,
    figure_9,
    nested_loops,
)
from scenarios.reproduce.shared.claims import CLAIMS

SHARED = Paper(
    "shared",
    "Shared: Hammad, Franklin, Aref, Elmagarmid, Scheduling for shared window joins over data streams, VLDB 2003",
    CLAIMS,
    (
        figure_2b.FIGURE,
        figure_3b.FIGURE,
        figure_5.FIGURE,
        figure_6.FIGURE,
        nested_loops.FIGURE,
        figure_7.FIGURE,
        figure_8.FIGURE,
        figure_9.FIGURE,
    ),
)
