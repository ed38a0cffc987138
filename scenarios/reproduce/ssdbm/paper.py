"""The paper, its claims and its figures."""

from scenarios.reproduce.figure import Paper
from scenarios.reproduce.ssdbm.claims import CLAIMS

SSDBM = Paper(
    "ssdbm",
    "SSDBM: Hammad, Aref, Elmagarmid, Stream window join, SSDBM 2003",
    CLAIMS,
    (),
)
