"""The paper, its claims and its figures."""

from scenarios.reproduce.figure import Paper
from scenarios.reproduce.shared import figure_2b, figure_3b
from scenarios.reproduce.shared.claims import CLAIMS

SHARED = Paper(
    "shared",
    "Shared: Hammad, Franklin, Aref, Elmagarmid, Scheduling for shared window joins over data streams, VLDB 2003",
    CLAIMS,
    (figure_2b.FIGURE, figure_3b.FIGURE),
)
