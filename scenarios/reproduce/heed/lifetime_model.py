"""The lifetime of a network that gathers data by clusters: the application study of the HEED paper, round by round.

Younis & Fahmy 2004, Table 2        Here
field, sink, initial energy         SIDE_M, SINK_M, BATTERY_J
cluster range                       HEED_RANGE_M
data packet, broadcast, header      DATA_BYTES, `control_pace.CONTROL`, the profile's header
round of five TDMA frames           FRAMES
E_fusion                            FUSION_J_PER_BIT
k_opt of gen-LEACH                  LEACH_HEADS
dead at 99.9 % of the energy        DEAD_SHARE
threshold distance d0               CROSSOVER_M

A round is an election and five frames. In a frame every mote sends one data packet to its head; the head receives
and fuses them with its own and sends one packet to the sink, in one hop. Elections are those of the simulator, by the same
cores, and every message is charged by the same profile of the first-order radio as in a simulation. Time plays no part in
the study, hence this model instead of a simulation: no message waits or is lost, schedules cost nothing, and neither do
sensing and computing.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import hypot
from typing import Final, assert_never

import numpy as np

from clustering.contract import Clusters, Election, Flags, History, Nodes, Reals, run_with
from clustering.neighbourhood import Neighbourhoods
from clustering.protocols.each_alone.election import elect as elect_each_alone
from clustering.protocols.heed import election as heed
from clustering.protocols.heed.options import Cost
from clustering.protocols.leach import election as leach
from clustering.protocols.leach.options import Lot
from network.radio.profile import FirstOrderRadio, Profile, load_profile
from network.topology import place_uniform
from scenarios.wiring.control_pace import CONTROL
from scenarios.wiring.counted_links import CountedAir, SendingCost
from sim.rng import RandomStreams

SIDE_M: Final = 100.0
SINK_M: Final = (50.0, 175.0)
BATTERY_J: Final = 2.0
HEED_RANGE_M: Final = 25.0
LEACH_RANGE_M: Final = hypot(SIDE_M, SIDE_M)
"""LEACH's advertisements reach the whole field."""
LEACH_HEADS: Final = 11
DATA_BYTES: Final = 100
FRAMES: Final = 5
FUSION_J_PER_BIT: Final = 5e-9
DEAD_SHARE: Final = 0.001
"""A mote with no more than this share of its battery left is dead."""
CROSSOVER_M: Final = 75.0
"""Where free-space loss turns into multi-path loss; with Table 2's own constants the two are equal at 87.7 m."""
C_PROB: Final = 0.05
P_MIN: Final = 0.0005


class Contender(StrEnum):
    """How the data is gathered."""

    HEED = "heed"
    """HEED with AMRP; a mote broadcasts its cost again only if it has changed, because a neighbour died."""
    HEED_CHATTY = "heed-every-round"
    """The same; every mote broadcasts its cost in every round."""
    LEACH = "leach"
    """Everyone serves in turn."""
    GEN_LEACH = "gen-leach"
    """LEACH by residual energy: every mote broadcasts its energy to the whole field once a round, so that all know
    the total. The HEED paper assumes that the routing protocol spreads it."""
    GEN_LEACH_NEAR = "gen-leach-near"
    """As the next; advertisements reach only HEED's cluster range, so that motes out of reach send to the sink."""
    GEN_LEACH_SINK = "gen-leach-sink"
    """The same; the sink, assumed to know every mote's energy, broadcasts the total once a round: the cheapest way."""
    DIRECT = "direct"
    """No clusters: every mote sends to the sink."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One life of one network."""

    contender: Contender
    motes: int
    seed: int
    battery_j: float = BATTERY_J


class TableRadio(FirstOrderRadio):
    """The first-order radio with the threshold distance of the paper's Table 2."""

    @property
    def crossover_m(self) -> float:
        """d0."""
        return CROSSOVER_M


def table_profile() -> Profile:
    """The motes of the study."""
    profile = load_profile("first-order")
    radio = profile.radio
    assert isinstance(radio, FirstOrderRadio)
    table = TableRadio(
        radio.electronics_j_per_bit, radio.free_space_j_per_bit_m2, radio.multi_path_j_per_bit_m4
    )
    return replace(profile, radio=table)


@dataclass(frozen=True, slots=True)
class Life:
    """The course of one network's life; rounds count from one."""

    first_dead: int
    """Round in which the first mote died."""
    half_dead: int
    last_dead: int
    heads: float
    """Mean number of clusters, over the rounds up to the first death."""
    control_j: float
    """Per mote and round up to the first death, spent on elections."""
    data_j: float
    """Likewise, on data."""
    first_led: float
    """How often the first mote to die had led, as a multiple of the average mote."""
    first_alone: float
    """In which share of the rounds that it led it did so because it heard no head."""
    first_to_sink_m: float
    """Its distance from the sink; the average mote is 128 m away."""
    last_to_sink_m: float
    """The distance from the sink of the motes that died in the last round, on average."""
    alone: float
    """Mean number of motes that heard no head and so sent to the sink themselves, up to the first death."""
    late_control_j: float
    """Per living mote and round from when half of the motes are dead, spent on elections."""
    late_data_j: float
    """Likewise, on data."""


def live(setting: Setting) -> Life:
    """Run a network until its last mote is dead."""
    return _Network(setting).live()


def frame_j(head: Nodes, alive: Flags, sending_j: Reals, profile: Profile) -> Reals:
    """What each mote spends in one frame.

    Args:
        head: Each mote's head; -1 for those without.
        alive: The motes that still send.
        sending_j: What its packet costs each mote, a member's to its head, a head's to the sink.
        profile: The motes' hardware.
    """
    own = np.arange(len(head))
    members = np.flatnonzero(alive & (head >= 0) & (head != own))
    heads = np.flatnonzero(alive & (head == own))
    packets = np.bincount(head[members], minlength=len(head))[heads]
    received_j = profile.on_air_bytes(DATA_BYTES) * profile.receive_j_per_byte
    fused_j = 8 * DATA_BYTES * FUSION_J_PER_BIT
    spent_j = np.zeros(len(head))
    spent_j[members] = sending_j[members]
    spent_j[heads] = packets * (received_j + fused_j) + sending_j[heads]
    # A packet of its own alone is not fused with anything.
    spent_j[heads] += (packets > 0) * fused_j
    return spent_j


class _Network:
    def __init__(self, setting: Setting) -> None:
        self._contender = setting.contender
        self._streams = RandomStreams(setting.seed)
        count = setting.motes
        self._positions_m = place_uniform(
            self._streams.vector("placement"), count=count, width_m=SIDE_M, height_m=SIDE_M
        )
        self._profile = table_profile()
        self._neighbourhoods = Neighbourhoods(self._positions_m)
        self._own = np.arange(count)
        self._battery_j = setting.battery_j
        self._residual_j = np.full(count, self._battery_j)
        self._alive: Flags = np.ones(count, dtype=np.bool_)
        self._air = CountedAir(
            self._profile,
            positions_m=self._positions_m,
            sink_m=SINK_M,
            neighbourhoods=self._neighbourhoods,
            alive=self._alive,
            loss=0.0,
            random=self._streams.vector("radio.loss"),
        )
        self._costs: Reals = np.full(count, np.nan)
        """What each mote costs as a head, for HEED."""
        self._costs_of = -1
        """How many motes were alive when the costs were computed."""
        self._history = History.first(count)
        self._packet_bytes = self._profile.on_air_bytes(DATA_BYTES)
        self._to_sink_m: Reals = np.hypot(*(self._positions_m - np.array(SINK_M)).T)
        self._sending = SendingCost(self._profile)
        self._to_sink_j = self._packet_bytes * self._sending.j_per_byte(self._to_sink_m)

    def live(self) -> Life:
        count = len(self._own)
        died: list[int] = []
        """The rounds in which motes died, one entry each."""
        control_j = data_j = late_control_j = late_data_j = 0.0
        late = 0
        """Rounds of motes that were alive when half were dead."""
        led, alone = np.zeros(count), np.zeros(count)
        last = self._alive
        first_rounds = number = first = 0
        while self._alive.any():
            number += 1
            is_untouched = not died
            last = self._alive.copy()
            living = int(last.sum())
            before_j = float(self._residual_j.sum())
            clusters = self._hold_election()
            elected_j = float(self._residual_j.sum())
            self._gather(clusters)
            if 2 * living <= count:
                late += living
                late_control_j += before_j - elected_j
                late_data_j += elected_j - float(self._residual_j.sum())
            if is_untouched:
                first_rounds = number
                control_j += before_j - elected_j
                data_j += elected_j - float(self._residual_j.sum())
                led[clusters.heads()] += 1
                alone += clusters.self_elected
                first = int(np.argmin(self._residual_j))
            died += [number] * (living - int(self._alive.sum()))
        return Life(
            first_dead=died[0],
            half_dead=died[-(-count // 2) - 1],
            last_dead=died[-1],
            heads=float(led.sum()) / first_rounds,
            control_j=control_j / first_rounds / count,
            data_j=data_j / first_rounds / count,
            first_led=float(led[first] / led.mean()),
            first_alone=float(alone[first] / max(1.0, led[first])),
            first_to_sink_m=float(self._to_sink_m[first]),
            last_to_sink_m=float(self._to_sink_m[last].mean()),
            alone=float(alone.sum()) / first_rounds,
            late_control_j=late_control_j / max(1, late),
            late_data_j=late_data_j / max(1, late),
        )

    def _hold_election(self) -> Clusters:
        self._air.spent_j[:] = np.where(self._alive, self._knowing_j(), 0.0)
        random = self._streams.vector("clustering.election", self._history.round)
        clusters = run_with(self._election(random), self._air)
        self._history = self._history.after(clusters)
        self._pay(self._air.spent_j)
        return clusters

    def _knowing_j(self) -> float:
        """What it costs a mote to learn the energy that all have left, if the protocol needs it."""
        message_bytes = self._profile.on_air_bytes(CONTROL.body_bytes)
        received_j = message_bytes * self._profile.receive_j_per_byte
        if self._contender in (Contender.GEN_LEACH_SINK, Contender.GEN_LEACH_NEAR):
            return received_j
        if self._contender is Contender.GEN_LEACH:
            sent_j = message_bytes * self._profile.transmit_j_per_byte(LEACH_RANGE_M)
            return sent_j + (int(self._alive.sum()) - 1) * received_j
        return 0.0

    def _election(self, random: np.random.Generator) -> Election:
        energy_share = self._residual_j / self._battery_j
        match self._contender:
            case Contender.HEED | Contender.HEED_CHATTY:
                neighbourhood = self._neighbourhoods.within(HEED_RANGE_M)
                return heed.elect(
                    neighbourhood=neighbourhood,
                    alive=self._alive,
                    energy_share=energy_share,
                    cost=Cost.AMRP,
                    c_prob=C_PROB,
                    p_min=P_MIN,
                    random=random,
                    control=CONTROL,
                    cost_news=self._cost_news() if self._contender is Contender.HEED else None,
                )
            case (
                Contender.LEACH
                | Contender.GEN_LEACH
                | Contender.GEN_LEACH_SINK
                | Contender.GEN_LEACH_NEAR
            ):
                by_turn = self._contender is Contender.LEACH
                near = self._contender is Contender.GEN_LEACH_NEAR
                return leach.elect(
                    neighbourhood=self._neighbourhoods.within(
                        HEED_RANGE_M if near else LEACH_RANGE_M
                    ),
                    positions_m=self._positions_m,
                    alive=self._alive,
                    energy_share=energy_share,
                    lot=Lot.ROTATING if by_turn else Lot.ENERGY,
                    expected_heads=LEACH_HEADS,
                    epoch=leach.Epoch.at(self._history, expected_heads=LEACH_HEADS),
                    random=random,
                    control=CONTROL,
                )
            case Contender.DIRECT:
                return elect_each_alone(alive=self._alive)
            case _:
                assert_never(self._contender)

    def _cost_news(self) -> Flags:
        """The motes whose cost has changed since the last election."""
        before = self._costs
        living = int(self._alive.sum())
        if living != self._costs_of:
            self._costs_of = living
            neighbourhood = self._neighbourhoods.within(HEED_RANGE_M)
            self._costs = heed.node_costs(Cost.AMRP, neighbourhood, self._alive)
        news: Flags = before != self._costs
        return news

    def _gather(self, clusters: Clusters) -> None:
        """Charge five frames of data; a mote whose head has died still sends to it until the next election."""
        head = np.where(clusters.head >= 0, clusters.head, self._own)
        steps_m = self._positions_m - self._positions_m[head]
        to_head_m = np.hypot(steps_m[:, 0], steps_m[:, 1])
        to_head_j = self._packet_bytes * self._sending.j_per_byte(to_head_m)
        sending_j = np.where(head == self._own, self._to_sink_j, to_head_j)
        for _ in range(FRAMES):
            self._pay(frame_j(clusters.head, self._alive, sending_j, self._profile))

    def _pay(self, spent_j: Reals) -> None:
        """Charge the motes; one that cannot pay spends what it has, and is dead."""
        self._residual_j -= np.minimum(spent_j, self._residual_j)
        self._alive &= self._residual_j > DEAD_SHARE * self._battery_j
