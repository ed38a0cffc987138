"""The paper, its claims and its figures."""

from scenarios.reproduce.figure import Paper
from scenarios.reproduce.ssdbm import throughput
from scenarios.reproduce.ssdbm.claims import CLAIMS
from scenarios.reproduce.ssdbm.response import FIGURE_OUTPUT, FIGURE_RESPONSE

SSDBM = Paper(
    "ssdbm",
    "SSDBM: Hammad, Aref, Elmagarmid, Stream window join, SSDBM 2003",
    CLAIMS,
    (throughput.FIGURE, FIGURE_RESPONSE, FIGURE_OUTPUT),
)
