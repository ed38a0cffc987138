"""The paper, its claims and its figures."""

from scenarios.reproduce.figure import Paper
from scenarios.reproduce.pwindow import answers
from scenarios.reproduce.pwindow.claims import CLAIMS

PWINDOW = Paper(
    "pwindow",
    "PWindow: Ghanem, Aref, Elmagarmid, Exploiting predicate-window semantics over data streams, CSD TR 05-007, 2005",
    CLAIMS,
    (answers.FIGURE,),
)
