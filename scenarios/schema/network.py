"""The tables of a scenario file that describe the network: motes, sink, radio, routing, faults."""

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
    Seconds,
    Share,
    Table,
)
from scenarios.schema.names import MacName
from sim.errors import one_of

Exponent = Annotated[int, Field(ge=0, le=8)]
Dbm = Annotated[float, Field(ge=-300, le=300)]


class Motes(Table):
    """`[motes]`: how many, where, with which hardware, and how often they sense.

    A profile is a TOML file like those in `network/radio/profiles/`: copy one, change it, and name its path. A radio
    with a table of `levels` is known by its data sheet (energy is current × voltage × airtime, whatever the distance);
    one with `electronics_nj_per_bit` is first-order (energy grows with distance, any distance is reached). A message
    longer than `payload_bytes_max` is sent in fragments, each with its header.
    """

    count: MoteCount = Field(description="how many there are, those added later included")
    placement: Literal["uniform", "grid", "clustered", "poisson-disk", "file", "recorded"] = Field(
        "uniform", description="where motes stand: `recorded` is where a replayed recording says"
    )
    jitter: Share = Field(
        0.0, description="`grid`: share of its cell within which a mote is moved at random"
    )
    groups: MoteCount = Field(
        5, description="`clustered`: number of uniform centres, to which motes belong in turn"
    )
    spread_m: Positive = Field(30.0, description="`clustered`: standard deviation around a centre")
    apart_m: Positive = Field(1.0, description="`poisson-disk`: least distance between two motes")
    positions: str | None = Field(
        None,
        description="`file`: lines `id x y`, in metres, or CSV with a header `id,x_m,y_m`; motes are numbered by"
        " ascending id, and `count` may be left out",
    )
    profile: str = Field(
        "first-order",
        description="`first-order`, `mica2`, `micaz`, `telosb`, or the path of a profile of your own, ending"
        " in `.toml`",
    )
    battery_j: Positive | None = Field(
        None, description="energy of a full battery; default: the profile's"
    )
    battery_mah: Positive | None = Field(
        None, description="the same as charge, at the profile's voltage; instead of `battery_j`"
    )
    sampling: Literal["poisson", "periodic"] = Field(
        "poisson",
        description="`poisson` (exponential gaps) or `periodic` (a fixed gap, motes out of step)",
    )
    interval_s: Annotated[float, Field(ge=0.001, le=LARGEST)] = Field(
        1.0, description="mean time between two samples of a mote"
    )
    start_s: NotNegative = Field(
        5.0,
        description="when sensing starts; slow radios, `csma` and above all `lpl` need longer for their first"
        " election",
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
    """`[sink]`: where the sink stands (anywhere), how fast its CPU is, how it schedules shared joins.

    The sink is on mains. Its radio is like a mote's.
    """

    x_m: Coordinate = Field(description="where it stands, anywhere")
    y_m: Coordinate = Field(description="where it stands, anywhere")
    cpu_speed: Annotated[float, Field(ge=1e-6, le=LARGEST)] = Field(
        100.0, description="its CPU as a multiple of a mote's"
    )
    schedule: Literal["lwo", "swf", "mqt"] = Field(
        "mqt",
        description="how window joins that queries share are scheduled: `lwo`, `swf` or `mqt`",
    )
    state_limit: Count | None = Field(
        None,
        description="keys that a predicate window of a query holds at most; the summary shows how many rows"
        " were evicted",
    )


class ShadowingTable(Table):
    """`[radio.shadowing]`: log-normal shadowing.

    Pr = Pt − PL − 10 n log10 d + X, with X drawn once per pair of motes.
    """

    path_loss_db: Positive = Field(55.0, description="PL, the path loss at one metre")
    exponent: Annotated[float, Field(ge=1, le=8)] = Field(3.0, description="path-loss exponent n")
    sigma_db: Annotated[float, Field(ge=0, le=100)] = Field(
        3.8, description="standard deviation of X"
    )
    noise_dbm: Dbm | None = Field(None, description="noise floor; default: the profile's")
    cca_dbm: Dbm | None = Field(
        None, description="energy above which the channel counts as busy; default: the profile's"
    )
    modulation: Literal["profile", "fsk-manchester", "fsk-nrz", "o-qpsk-ns3", "o-qpsk-tossim"] = (
        Field(
            "profile",
            description="reception over SNR: `fsk-manchester`, `fsk-nrz`, `o-qpsk-ns3`, `o-qpsk-tossim`, or as"
            " the profile says",
        )
    )
    hardware: Literal["none", "low", "mica2"] = Field(
        "none",
        description="deviation of output power and noise floor per mote: `none`, `low`, `mica2`",
    )


class CsmaTable(Table):
    """`[radio.csma]`: carrier sensing as in unslotted IEEE 802.15.4, also for `lpl`; keys left out are the profile's."""

    acknowledge: bool = Field(
        default=True, description="unicasts are acknowledged, and repeated if not"
    )
    min_be: Exponent | None = Field(
        None,
        description="first back-off exponent: 3 in 802.15.4, 5 on MICA2; default: the profile's",
    )
    max_be: Exponent | None = Field(
        None, description="greatest back-off exponent: 5; default: the profile's"
    )
    max_backoffs: Annotated[int, Field(ge=0, le=20)] | None = Field(
        None,
        description="busy channels before a message is given up as `channel busy`; default: the profile's: 4",
    )
    retries: Annotated[int, Field(ge=0, le=20)] | None = Field(
        None, description="repetitions of an unacknowledged frame; default: the profile's: 3"
    )


class TdmaTable(Table):
    """`[radio.tdma]`: slots inside clusters."""

    slot_bytes: Count = Field(32, description="payload that fits in one slot")
    guard_ms: NotNegative = Field(0.5, description="silence before and after the frame of a slot")


class Radio(Table):
    """`[radio]`: range, channel, MAC, loss and sleep."""

    range_m: Positive = Field(
        description="`unit-disk`: how far frames carry. A first-order radio reaches further with unicasts, at"
        " its price; a data-sheet radio does not, and what is sent beyond its range ends as"
        " `unreachable`"
    )
    channel: Literal["unit-disk", "shadowing", "links"] = Field(
        "unit-disk",
        description="which frames arrive: all in range (`unit-disk`), by distance and chance (`shadowing`),"
        " or as measured (`links`)",
    )
    mac: MacName = Field(
        "ideal",
        description="medium access: `ideal` (nothing collides), `tdma` (slots inside clusters), `csma`"
        " (carrier sensing, collisions, acknowledgements) or `lpl` (low-power listening: the same, with radios"
        " that sleep and are woken by repeated frames)",
    )
    loss: Loss = Field(
        0.0, description="share of frames lost at random, on top of what the channel loses"
    )
    tx_dbm: Dbm | None = Field(
        None,
        description="transmit power: the least level of at least this much; default: the profile's",
    )
    power_control: bool = Field(
        default=False,
        description="unicasts use the least level that reaches their target (range falls with power by a"
        " path-loss exponent of 3 on a unit disk; the sensitivity is met under shadowing)",
    )
    overhearing: bool = Field(
        default=False,
        description="motes that a frame for others reaches, at the power it is sent with, pay for it if their"
        " radios are on, as `overhear` instead of `idle`; what goes in a slot of `tdma` is heard"
        " in its cluster only. Under `lpl` motes that wake up to repeated frames for others always pay",
    )
    queue: Count = Field(
        32,
        description="`csma`, `lpl`, `tdma`: what a mote can hold for sending; more is dropped as `queue full`",
    )
    duty_cycle: Annotated[float, Field(ge=0.001, le=1)] = Field(
        1.0,
        description="`ideal`, `csma`: share of time that radios are on, all at once at the beginning of each"
        " period; messages wait for it. Elections keep everybody awake",
    )
    wake_period_s: Seconds = Field(1.0, description="period of the duty cycle")
    wake_up_s: Annotated[float, Field(ge=0.02, le=3600)] = Field(
        0.5,
        description="`lpl`: each mote wakes up this often, at a time of its own, and samples the channel for"
        " 6 ms. A sender repeats a frame until it is acknowledged, for half of this time on average, and a"
        " broadcast for all of it. Elections take accordingly long: see `motes.start_s`",
    )
    links: str | None = Field(
        None,
        description="`links`: lines `sender receiver probability`; ids as in `motes.positions`. A direction"
        " that is missing takes the other one's probability, a pair that is missing never"
        " delivers",
    )
    links_sink: Annotated[int, Field(ge=-(10**9), le=10**9)] = Field(
        0, description="the sink's id in that file"
    )
    links_bad_lines: Annotated[int, Field(ge=0, le=10**9)] = Field(
        0, description="how many malformed lines are skipped"
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
        traits = MACS[self.mac].traits
        if traits.owns_sleep and self.duty_cycle < 1.0:
            raise ValueError(
                f"duty_cycle: expected mac 'ideal' or 'csma'; {self.mac} has its own sleep"
            )
        if traits.owns_sleep and traits.contends and not self.csma.acknowledge:
            raise ValueError(
                f"csma.acknowledge = false: expected true with mac = {self.mac!r}, whose senders repeat"
                " frames until they are acknowledged"
            )
        return self


class Routing(Table):
    """`[routing]`: how motes and heads reach each other and the sink.

    Every hop is a transmission of its own in the trace, with 4 bytes of route header. Paths are repaired when motes
    die or come back. A message without a path ends as `unreachable`; the manifest's `cut_off` counts the live motes
    without a path to the sink at the end, and `lifetime.partition_s` says when a working mote was first cut off:
    because others had died, crashed or been removed, or because it was placed out of their range.
    """

    heads: Literal["one-hop", "multi-hop"] = Field(
        "one-hop", description="unicasts between motes: `one-hop` or `multi-hop`"
    )
    sink: Literal["one-hop", "multi-hop"] = Field(
        "one-hop", description="unicasts to and from the sink: `one-hop` or `multi-hop`"
    )
    metric: Literal["hops", "distance", "energy", "etx"] = Field(
        "hops", description="what makes a path short: `hops`, `distance`, `energy` or `etx`"
    )
    rate_least: PositiveShare = Field(
        0.3, description="links that deliver less (a frame of 50 bytes, alone on air) are not used"
    )


class Bursts(Table):
    """`[faults.bursts]`: Gilbert–Elliott loss, a chain per directed link."""

    good_to_bad: PositiveShare = Field(description="chance per frame that a good link turns bad")
    bad_to_good: PositiveShare = Field(description="chance per frame that a bad link turns good")
    loss_good: Share = Field(0.0, description="share of frames lost on a good link")
    loss_bad: Share = Field(1.0, description="share of frames lost on a bad link")


class Span(Table):
    """A number of motes that change between two times."""

    count: Count = Field(description="how many motes")
    from_s: NotNegative = Field(description="each at a uniform time from then")
    until_s: Positive = Field(description="until then")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.from_s >= self.until_s:
            raise ValueError(f"from_s = {self.from_s}: expected less than until_s = {self.until_s}")
        return self


class Crashes(Table):
    """`[faults.crashes]`: motes that crash and recover at exponential times; what they held is lost."""

    mean_up_s: Annotated[float, Field(ge=0.1, le=LARGEST)] = Field(
        description="mean time from start or recovery to a crash"
    )
    mean_down_s: NotNegative = Field(
        0.0, description="mean time from a crash to recovery; 0: it never recovers"
    )


class Outage(Table):
    """`[[faults.sink_outages]]`: times in which the sink neither hears nor sends.

    Readings and results for it end as `sink down`. In order of time, apart from each other.
    """

    from_s: NotNegative = Field(description="when the sink goes down")
    until_s: Positive = Field(description="when it is back")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.from_s >= self.until_s:
            raise ValueError(f"from_s = {self.from_s}: expected less than until_s = {self.until_s}")
        return self


class Faults(Table):
    """`[faults]`: what goes wrong beside batteries and loss; nothing by default.

    With wrong clocks a reading is known by the time on its mote's clock (`stamp_us` in `readings`, `origin_at_us`
    elsewhere); `at_us` in `readings` stays the true time. Crashes, additions, removals and outages are in the table
    `faults`. Each cause draws from a random stream of its own, so that adding one leaves the others unchanged.
    """

    bursts: Bursts | None = None
    crashes: Crashes | None = None
    added: Span | None = Field(
        None, description="the last motes by number, put into the field while the scenario runs"
    )
    removed: Span | None = Field(
        None,
        description="motes chosen at random that are removed while the scenario runs; a mote that has not been added yet is not chosen",
    )
    sink_outages: list[Outage] = Field(default=[])
    jitter_ms: NotNegative = Field(
        0.0, description="messages are late by a uniform time up to this, and overtake each other"
    )
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
