"""The paper, its claims and its figures."""

from scenarios.reproduce.figure import Paper
from scenarios.reproduce.snjoin import (
    figure_4,
    figure_5,
    figure_6,
    figure_7,
    figure_8,
    figure_9,
    figure_9_shape,
    figure_10,
    spill,
)
from scenarios.reproduce.snjoin.claims import CLAIMS

SNJOIN = Paper(
    "snjoin",
    "SNJoin: Ali, Aref, Kamel, Multi-way joins for sensor-network databases, CSD TR 05-021, 2005",
    CLAIMS,
    (
        figure_4.FIGURE,
        figure_5.FIGURE,
        spill.FIGURE,
        figure_6.FIGURE,
        figure_7.FIGURE,
        figure_8.FIGURE,
        figure_9.FIGURE,
        figure_9.GLOBAL,
        figure_9_shape.FIGURE,
        figure_10.FIGURE,
    ),
)
