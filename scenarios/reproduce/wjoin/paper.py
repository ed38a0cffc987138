"""The paper, its claims and its figures."""

from scenarios.reproduce.figure import Paper
from scenarios.reproduce.wjoin.claims import CLAIMS

WJOIN = Paper(
    "wjoin",
    "W-join: Hammad, Aref, Elmagarmid, Joining multiple data streams with window constraints, CSD TR 02-010, 2002",
    CLAIMS,
    (),
)
