"""The pace of elections: as fast as the radio and its MAC allow."""

from dataclasses import dataclass, replace
from math import pi
from typing import Final

from clustering.contract import ControlMessages
from network.mac.registry import MACS
from network.radio.profile import Profile
from scenarios.schema.scenario import Scenario
from scenarios.wiring.network import mac_options, mac_timing
from sim.units import to_us

CONTROL: Final = ControlMessages(body_bytes=25, interval_us=100_000, slot_us=5_000, join_attempts=3)
"""On an ideal MAC and a fast radio: 25 bytes as in HEED's application study; the pace is ours."""
EXCHANGE_US: Final = 100_000
MULTI_HOP_FACTOR: Final = 8
"""How much longer enrolments and rosters get when they travel over several hops."""


RECORDS_BYTES: Final = 60
"""A report of a few records, or a pack of some readings."""

TURNS: Final = 4
"""How many turns on a contended channel each frame of enrolments and rosters gets: some collide."""


@dataclass(frozen=True, slots=True)
class ControlPace:
    """Sizes and waiting times of an election."""

    profile: Profile
    messages: ControlMessages
    least_us: int
    """Minimum time for enrolments, and then for rosters, to arrive."""
    turns: int
    """How many turns on a contended channel each of their frames is given; 0 if there is no contention."""
    contention_us: int
    """Time that a frame needs to get its turn, without its airtime."""
    jitter_us: int
    """How much longer each of them can take at most."""

    def exchange_us(self, messages: int, body_bytes: int) -> int:
        """How long to wait for this many enrolments or rosters to arrive."""
        profile = self.profile
        message_us = round(profile.on_air_bytes(body_bytes) * profile.airtime_us_per_byte)
        message_us += profile.frames_of(body_bytes) * self.contention_us
        return max(self.least_us, self.turns * messages * message_us + self.jitter_us)


def control_pace(scenario: Scenario, profile: Profile) -> ControlPace:
    """The pace that a radio can keep.

    On slow radios a slot holds four messages and an interval eight; under contention an interval holds two
    turns of every mote in range, including back-offs, and enrolments and rosters get a few turns per frame. Where
    frames are repeated to reach radios that sleep, a broadcast's turn is as long as it is repeated, and a unicast's
    half as long. Where messages can be late (`faults.jitter_ms`), an interval is long enough for one sent in its
    first half, and enrolments and rosters may be late on every hop.
    """
    size = profile.on_air_bytes(CONTROL.body_bytes)
    message_us = round(size * profile.airtime_us_per_byte) + profile.turnaround_us
    jitter_us = to_us(scenario.faults.jitter_ms / 1000)
    interval_us = max(CONTROL.interval_us, 8 * message_us)
    if jitter_us:
        interval_us = max(interval_us, 2 * (jitter_us + 8 * message_us))
    slot_us = max(CONTROL.slot_us, 4 * message_us)
    hops = scenario.clustering.options.levels
    if "multi-hop" in (scenario.routing.heads, scenario.routing.sink):
        hops *= MULTI_HOP_FACTOR
    turns = contention_us = 0
    kind = MACS[scenario.radio.mac]
    repeats_us = kind.repeats_us(mac_options(scenario, profile))
    if kind.traits.contends:
        mac = mac_timing(scenario, profile)
        backoff_us = mac.cca_us + (mac.backoff_us << mac.min_be) // 2
        turn_us = message_us + backoff_us + repeats_us
        interval_us = max(interval_us, round(2 * (_in_range(scenario) + 1) * turn_us))
        slot_us = max(slot_us, 4 * turn_us)
        turns = TURNS
        contention_us = profile.turnaround_us + backoff_us + mac.ack_wait_us + mac.spacing_us
        contention_us += repeats_us // 2
    return ControlPace(
        profile,
        replace(CONTROL, interval_us=interval_us, slot_us=slot_us),
        least_us=hops * max(EXCHANGE_US, 16 * message_us + jitter_us, 2 * repeats_us + jitter_us),
        turns=turns,
        contention_us=contention_us,
        jitter_us=hops * jitter_us,
    )


def hop_us(scenario: Scenario, profile: Profile) -> int:
    """About the longest that one hop of a message of some records takes while radios are on, an odd repetition included."""
    kind = MACS[scenario.radio.mac]
    size = profile.on_air_bytes(RECORDS_BYTES)
    message_us = round(size * profile.airtime_us_per_byte) + profile.turnaround_us
    asleep_us = kind.repeats_us(mac_options(scenario, profile))
    if kind.traits.owns_sleep and not asleep_us:
        asleep_us = EXCHANGE_US  # until a slot comes
    if kind.traits.contends:
        mac = mac_timing(scenario, profile)
        backoff_us = mac.cca_us + (mac.backoff_us << mac.max_be)
        message_us += backoff_us + mac.ack_wait_us + mac.spacing_us
    return 2 * message_us + asleep_us + to_us(scenario.faults.jitter_ms / 1000)


def _in_range(scenario: Scenario) -> float:
    """About how many motes contend with each other."""
    count, field = scenario.motes.count, scenario.field
    disk_share = pi * scenario.radio.range_m**2 / (field.width_m * field.height_m)
    return (count - 1) * min(1.0, disk_share)
