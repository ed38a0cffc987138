"""All papers that are reproduced, with their figures and claims."""

from scenarios.reproduce.figure import Claim, Figure, Paper
from scenarios.reproduce.heed.paper import HEED
from scenarios.reproduce.pwindow.paper import PWINDOW
from scenarios.reproduce.shared.paper import SHARED
from scenarios.reproduce.snjoin.paper import SNJOIN
from scenarios.reproduce.ssdbm.paper import SSDBM
from scenarios.reproduce.wjoin.paper import WJOIN

PAPERS: tuple[Paper, ...] = (SNJOIN, WJOIN, SSDBM, SHARED, PWINDOW, HEED)


def all_figures() -> dict[str, Figure]:
    """Every figure by name, in the order of the papers."""
    return {figure.name: figure for paper in PAPERS for figure in paper.figures}


def all_claims() -> dict[str, Claim]:
    """Every claim by name."""
    return {claim.name: claim for paper in PAPERS for claim in paper.claims}
