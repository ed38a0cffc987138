"""Sites: the nodes that motes lease to, and that report to the sink who joins, stays and leaves."""

from typing import Final, Protocol

from join.reading import Reading
from join.strategies.change.hold_rule import PRIOR_SHARE
from network.membership import Membership

OWN_SHARE: Final = 0.75
"""The share of stays that a mote expects to go on: above a half, so that it holds its first one, of which nobody knows more."""


class Sites(Protocol):
    """Where readings meet."""

    meets: bool
    """Whether all readings of a value meet at one site."""
    own: bool
    """Whether each mote is its own site."""
    going_on: float
    """The share of stays that a site expects to go on, before it has seen any."""

    def site_of(self, reading: Reading) -> int:
        """The node that a reading is sent to; -1 if there is none."""

    def on_down(self, node: int) -> None:
        """Called when a mote died, crashed or was removed."""

    def on_lost(self, node: int) -> None:
        """Called with a mote that finds its site dead."""


class HeadSites:
    """Readings meet at their motes' heads."""

    meets = False
    own = False
    going_on = PRIOR_SHARE

    def __init__(self, membership: Membership) -> None:
        self._membership = membership

    def site_of(self, reading: Reading) -> int:
        """The head of the reading's mote."""
        return self._membership.head_of[reading.node]

    def on_down(self, node: int) -> None:
        """Do nothing: clustering sees to it."""

    def on_lost(self, node: int) -> None:
        """Report that a mote has found its head dead."""
        self._membership.report_lost_head(node)


class OwnSites:
    """Motes report themselves: no lease is on air, but nobody notices if a mote that is held dies."""

    meets = False
    own = True
    going_on = OWN_SHARE

    def site_of(self, reading: Reading) -> int:
        """The reading's own mote."""
        return reading.node

    def on_down(self, node: int) -> None:
        """Do nothing: nothing is kept here."""

    def on_lost(self, node: int) -> None:
        """Never called: nothing is sent to a site."""
        raise AssertionError(node)
