"""The paper, its claims and its figures."""

from scenarios.reproduce.figure import Paper
from scenarios.reproduce.snjoin.claims import CLAIMS

SNJOIN = Paper(
    "snjoin",
    "SNJoin: Ali, Aref, Kamel, Multi-way joins for sensor-network databases, CSD TR 05-021, 2005",
    CLAIMS,
    (),
)
