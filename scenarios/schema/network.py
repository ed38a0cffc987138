"""The tables of a scenario file that say what the network is: motes, sink, radio, routing, faults."""

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from network.mac.registry import MACS
from network.radio.profile import profile_names
from scenarios.schema.base import (
    LARGEST,
    Coordinate,
    Count,
    Loss,
    MoteCount,
    NotNegative,
    Positive,
    PositiveShare,
    Share,
    Table,
)
from scenarios.schema.names import MacName
from sim.errors import one_of

Exponent = Annotated[int, Field(ge=0, le=8)]


class Motes(Table):
    """`[motes]`: how many, where, with which hardware, and how often they sense."""

    count: MoteCount
    placement: Literal["uniform", "grid", "clustered", "poisson-disk", "file", "recorded"] = Field(
        "uniform", description="recorded: where a replayed recording says its nodes stood"
    )
    jitter: Share = Field(0.0, description="grid: share of its cell within which a mote is moved")
    groups: Count = Field(5, description="clustered: number of groups")
    spread_m: Positive = Field(30.0, description="clustered: standard deviation within a group")
    apart_m: Positive = Field(1.0, description="poisson-disk: least distance between motes")
    positions: str | None = Field(
        None, description="file of lines `id x y` in metres, for placement = 'file'"
    )
    profile: str = Field(
        "first-order",
        description="a shipped mote profile, or the path of a profile ending in .toml",
    )
    battery_j: Positive | None = Field(
        None, description="energy of a full battery; default the profile's"
    )
    battery_mah: Positive | None = Field(
        None, description="the same as charge, at the profile's voltage"
    )
    sampling: Literal["poisson", "periodic"] = "poisson"
    interval_s: Annotated[float, Field(ge=0.001, le=LARGEST)] = Field(
        1.0, description="mean time between samples"
    )
    start_s: NotNegative = Field(
        5.0, description="when sensing starts; the first election needs about three seconds"
    )
    drain_s: NotNegative = Field(
        1.0, description="sensing stops this long before the end, so that what is under way arrives"
    )

    @field_validator("profile")
    @classmethod
    def _profile_exists(cls, profile: str) -> str:
        if not profile.endswith(".toml") and profile not in profile_names():
            raise ValueError(f"{one_of(profile, profile_names())}, or a path ending in .toml")
        return profile

    @model_validator(mode="after")
    def _keys_go_together(self) -> Self:
        if (self.placement == "file") != (self.positions is not None):
            raise ValueError("expected `positions` exactly when placement = 'file'")
        if self.battery_j is not None and self.battery_mah is not None:
            raise ValueError("expected battery_j or battery_mah, found both")
        return self


class Sink(Table):
    """`[sink]`: where the sink stands (anywhere), how fast its CPU is, how it schedules shared joins."""

    x_m: Coordinate
    y_m: Coordinate
    cpu_speed: Annotated[float, Field(ge=1e-6, le=LARGEST)] = Field(
        100.0, description="the sink's CPU as a multiple of a mote's"
    )
    schedule: Literal["lwo", "swf", "mqt"] = Field(
        "mqt", description="how window joins that queries at the sink share are scheduled"
    )
    state_limit: Count | None = Field(
        None, description="keys that a predicate window of a query at the sink holds at most"
    )


class ShadowingTable(Table):
    """`[radio.shadowing]`: log-normal shadowing."""

    path_loss_db: Positive = Field(55.0, description="at one metre")
    exponent: Annotated[float, Field(ge=1, le=8)] = Field(3.0, description="path-loss exponent n")
    sigma_db: NotNegative = Field(3.8, description="standard deviation of the shadowing")
    noise_dbm: float | None = Field(None, description="noise floor; default the profile's")
    cca_dbm: float | None = Field(None, description="busy threshold; default the profile's")
    modulation: Literal["profile", "fsk-manchester", "fsk-nrz", "o-qpsk-ns3", "o-qpsk-tossim"] = (
        Field("profile", description="which reception rate over SNR")
    )
    hardware: Literal["none", "low", "mica2"] = Field(
        "none", description="variance of output power and noise floor over motes"
    )


class CsmaTable(Table):
    """`[radio.csma]`: carrier sensing; keys left out are the profile's."""

    acknowledge: bool = True
    min_be: Exponent | None = None
    max_be: Exponent | None = None
    max_backoffs: Annotated[int, Field(ge=0, le=20)] | None = None
    retries: Annotated[int, Field(ge=0, le=20)] | None = None


class TdmaTable(Table):
    """`[radio.tdma]`: slots inside clusters."""

    slot_bytes: Count = Field(32, description="payload that fits in one slot")
    guard_ms: NotNegative = Field(0.5, description="silence before and after the frame of a slot")


class Radio(Table):
    """`[radio]`: range, channel, MAC, loss and sleep."""

    range_m: Positive = Field(description="unit-disk range of a mote's radio")
    channel: Literal["unit-disk", "shadowing", "links"] = "unit-disk"
    mac: MacName = Field("ideal", description="medium access")
    loss: Loss = Field(0.0, description="share of frames lost on top of what the channel loses")
    tx_dbm: float | None = Field(None, description="transmit power; default the profile's")
    power_control: bool = Field(
        default=False, description="unicasts use the least power level that reaches the target"
    )
    overhearing: bool = Field(
        default=False, description="motes in range pay for frames that are not for them"
    )
    queue: Count = Field(32, description="csma and tdma: messages a mote can hold for sending")
    duty_cycle: PositiveShare = Field(1.0, description="share of time that radios are on")
    wake_period_s: Positive = Field(1.0, description="period of the duty cycle")
    links: str | None = Field(
        None, description="file of lines `sender receiver probability`, for channel = 'links'"
    )
    links_sink: int = Field(0, description="the sink's id in the file of links")
    links_bad_lines: Annotated[int, Field(ge=0)] = Field(
        0, description="how many malformed lines of the file of links are passed over"
    )
    shadowing: ShadowingTable = ShadowingTable.model_validate({})
    csma: CsmaTable = CsmaTable.model_validate({})
    tdma: TdmaTable = TdmaTable.model_validate({})

    @model_validator(mode="after")
    def _keys_go_together(self) -> Self:
        if (self.channel == "links") != (self.links is not None):
            raise ValueError("expected `links` exactly when channel = 'links'")
        if self.channel == "links" and self.power_control:
            raise ValueError("power_control: expected channel 'unit-disk' or 'shadowing'")
        if MACS[self.mac].traits.owns_sleep and self.duty_cycle < 1.0:
            raise ValueError(
                f"duty_cycle: expected mac 'ideal' or 'csma'; {self.mac} has its own sleep"
            )
        return self


class Routing(Table):
    """`[routing]`: how motes and heads reach each other and the sink."""

    heads: Literal["one-hop", "multi-hop"] = "one-hop"
    sink: Literal["one-hop", "multi-hop"] = "one-hop"
    metric: Literal["hops", "distance", "energy", "etx"] = Field(
        "hops", description="multi-hop: what makes a path short"
    )
    rate_least: PositiveShare = Field(
        0.3, description="multi-hop: links that deliver less than this share of frames are not used"
    )


class Bursts(Table):
    """`[faults.bursts]`: Gilbert-Elliott loss, a step per frame and link."""

    good_to_bad: PositiveShare
    bad_to_good: PositiveShare
    loss_good: Share = 0.0
    loss_bad: Share = 1.0


class Span(Table):
    """A number of motes that change between two times."""

    count: Count
    from_s: NotNegative
    until_s: Positive

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.from_s >= self.until_s:
            raise ValueError(f"from_s = {self.from_s}: expected less than until_s = {self.until_s}")
        return self


class Crashes(Table):
    """`[faults.crashes]`: motes that crash and recover, at exponential times."""

    mean_up_s: Positive
    mean_down_s: NotNegative = Field(0.0, description="0 = a crashed mote never recovers")


class Outage(Table):
    """One entry of `faults.sink_outages`."""

    from_s: NotNegative
    until_s: Positive

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.from_s >= self.until_s:
            raise ValueError(f"from_s = {self.from_s}: expected less than until_s = {self.until_s}")
        return self


class Faults(Table):
    """`[faults]`: what goes wrong beside batteries and loss; nothing by default."""

    bursts: Bursts | None = None
    crashes: Crashes | None = None
    added: Span | None = Field(None, description="the last motes by number, added while running")
    removed: Span | None = Field(None, description="motes taken away while running")
    sink_outages: list[Outage] = Field(default=[])
    jitter_ms: NotNegative = Field(0.0, description="messages are up to this much late, uniformly")
    clock_offset_ms: NotNegative = Field(
        0.0, description="standard deviation of the motes' clock offsets"
    )
    clock_drift_ppm: Annotated[float, Field(ge=0, le=10_000)] = Field(
        0.0, description="standard deviation of the motes' clock drifts"
    )

    @field_validator("sink_outages")
    @classmethod
    def _outages_are_apart(cls, outages: list[Outage]) -> list[Outage]:
        for earlier, later in pairwise(outages):
            if later.from_s < earlier.until_s:
                raise ValueError("expected outages in order of time, none overlapping another")
        return outages
