"""What a MAC under test is made from."""

from typing import Any

from network.ledger import Ledger
from network.mac.base import MacParts
from network.membership import Membership
from network.radio.channel import Channel
from network.radio.profile import Profile
from sim.kernel import Kernel
from sim.rng import RandomStreams


def mac_parts(
    kernel: Kernel,
    ledger: Ledger,
    channel: Channel,
    profile: Profile,
    **more: Any,  # noqa: ANN401 - any field of MacParts
) -> MacParts:
    """Parts without loss, sleep and control messages unless `more` has some."""
    given = {"membership": Membership(ledger.count), "control_kinds": [], **more}
    return MacParts(kernel, ledger, channel, profile, RandomStreams(1), **given)
