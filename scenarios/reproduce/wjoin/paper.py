"""The paper, its claims and its figures."""

from scenarios.reproduce.figure import Paper
from scenarios.reproduce.wjoin import figure_9
from scenarios.reproduce.wjoin.claims import CLAIMS
from scenarios.reproduce.wjoin.retail import FIGURE_7, FIGURE_8
from scenarios.reproduce.wjoin.variations import FIGURE_13, FIGURE_14

WJOIN = Paper(
    "wjoin",
    "W-join: Hammad, Aref, Elmagarmid, Joining multiple data streams with window constraints, CSD TR 02-010, 2002",
    CLAIMS,
    (FIGURE_7, FIGURE_8, figure_9.FIGURE, FIGURE_13, FIGURE_14),
)
