"""How long before they lapse leases are renewed: long enough for a message to arrive in time."""

from dataclasses import dataclass

from join.strategies.contract import JoinSettings, Ports

LOSSY_SHARE = 4
"""Where losses go unnoticed, a head repeats a report this part of a window early, so that a lost one can be repaired."""


@dataclass(frozen=True, slots=True)
class Margins:
    """Margins of motes and heads."""

    mote_us: int
    """For a lease that goes to the head, or another site."""
    head_us: int
    """For a report that goes from the head to the sink."""
    both_us: int
    """For a lease that goes by the head to the sink."""


def margins(ports: Ports, settings: JoinSettings, *, far: bool = False) -> Margins:
    """The margins that the network and the delay allowed call for; never more than half of the window.

    `far`: leases go to a mote anywhere in the network, and not to a head close by.
    """
    reporting = settings.reporting
    most_us = settings.window_us // 2
    clocks_us = 2 * reporting.clock_us
    hops_max = ports.way.depth_max() + 1
    to_sink_us = reporting.way_us(hops_max) + reporting.delay_us + clocks_us
    to_head_us = reporting.way_us(hops_max if far else 2) + clocks_us
    head_us = to_sink_us
    if reporting.lossy:
        head_us = max(head_us, settings.window_us // LOSSY_SHARE)
    mote_us = min(most_us, to_head_us + head_us)
    return Margins(
        mote_us=mote_us,
        # Where the window is too short for both ways, heads should still get a renewal before they report that a stay ends.
        head_us=min(head_us, max(mote_us - to_head_us, mote_us // 2)),
        both_us=min(most_us, to_head_us + to_sink_us),
    )
