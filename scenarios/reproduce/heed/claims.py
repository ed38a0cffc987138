"""The comparative sentences of the paper's evaluation, in our own words."""

from scenarios.reproduce.figure import Claim

CLAIMS: tuple[Claim, ...] = ()
