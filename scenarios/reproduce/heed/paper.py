"""The paper, its claims and its figures."""

from scenarios.reproduce.figure import Paper
from scenarios.reproduce.heed import heads, lifetime
from scenarios.reproduce.heed.claims import CLAIMS

HEED = Paper(
    "heed",
    "HEED: Younis, Fahmy, HEED: a hybrid, energy-efficient, distributed clustering approach, IEEE TMC 2004",
    CLAIMS,
    (heads.FIGURE, lifetime.FIGURE),
)
