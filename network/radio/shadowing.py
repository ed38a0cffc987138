"""Log-normal shadowing: Pr = Pt - PL(1 m) - 10 n log10(d) + X, in dB.

X is drawn once per pair of motes and holds for the whole run. Optionally each mote deviates in output
power and noise floor, which makes links asymmetric (Zuniga & Krishnamachari, "Analyzing the transitional
region in low power wireless links", SECON 2004). Interference adds up in milliwatts.
"""

from dataclasses import dataclass
from math import log10, sqrt
from typing import Final

import numpy as np

from network.contract import NodeId
from network.radio.channel import (
    REFERENCE_BYTES,
    Emission,
    Geometry,
    Interference,
    Links,
    power_level,
)
from network.radio.profile import DatasheetRadio, Modulation, PowerLevel, Profile
from network.radio.reception import reception_rate
from network.topology import Placement
from sim.arithmetic import plain_sum
from sim.memo import Memo
from sim.rng import RandomStreams


@dataclass(frozen=True, slots=True)
class HardwareVariance:
    """Covariance of noise floor and output power over motes, in dB² (Zuniga & Krishnamachari 2004)."""

    noise: float
    noise_power: float
    power: float


RATES_KEPT: Final = 65_536
"""Links and frame lengths of which the reception rate is kept: lengths are many."""

# prr.m and LinkLayerModel.java: MICA2, and a radio of low variance.
HARDWARE: Final[dict[str, HardwareVariance]] = {
    "mica2": HardwareVariance(noise=3.7, noise_power=-3.3, power=6.0),
    "low": HardwareVariance(noise=0.9, noise_power=-0.7, power=1.2),
}


@dataclass(frozen=True, slots=True)
class ShadowingModel:
    """The parameters of a place; None: as the mote's profile says."""

    path_loss_db: float
    """At one metre."""
    exponent: float
    sigma_db: float
    noise_dbm: float | None = None
    cca_dbm: float | None = None
    modulation: Modulation | None = None
    hardware: HardwareVariance | None = None


class Shadowing:
    """Log-normal shadowing, fixed per pair of motes for the run."""

    def __init__(
        self,
        placement: Placement,
        profile: Profile,
        streams: RandomStreams,
        model: ShadowingModel,
        *,
        dbm: float | None = None,
        power_control: bool = False,
    ) -> None:
        """A channel in a place as `model` has it; `dbm` None: the profile's transmit power."""
        radio = profile.radio
        assert isinstance(radio, DatasheetRadio), profile.title
        level = power_level(radio, dbm)
        assert level is not None
        self._profile = profile
        self._radio = radio
        self._streams = streams
        self._path_loss_db = model.path_loss_db
        self._exponent = model.exponent
        self._sigma_db = model.sigma_db
        self._cca_dbm = radio.cca_dbm if model.cca_dbm is None else model.cca_dbm
        self._modulation = model.modulation or radio.modulation
        self._level = level
        self._power_control = power_control
        floor_dbm = radio.noise_dbm if model.noise_dbm is None else model.noise_dbm
        nodes = len(placement.points_m)
        self._noise_dbm, self._power_db = _hardware(streams, nodes, floor_dbm, model.hardware)
        self._noise_mw = [_mw(dbm) for dbm in self._noise_dbm]
        # Beyond this not even three sigmas of shadowing lift a frame to the noise floor.
        reach_db = level.dbm + 3 * model.sigma_db - floor_dbm - model.path_loss_db
        self._reach_m = 10 ** (reach_db / (10 * model.exponent))
        self._geometry = Geometry(placement, profile)
        self._gains_db: dict[tuple[NodeId, NodeId], float] = {}
        self._rates: Memo[tuple[NodeId, NodeId, int], float] = Memo(
            lambda key: self._rate(*key), most=RATES_KEPT
        )
        self._audience: dict[Emission, list[NodeId]] = {}
        self.certain = False

    def gain_db(self, source: NodeId, target: NodeId) -> float:
        """Gain of a link, including shadowing and the sender's hardware deviation."""
        pair = (source, target)
        gain_db = self._gains_db.get(pair)
        if gain_db is None:
            distance_m = max(1.0, self._geometry.distance_m(source, target))
            first, second = min(pair), max(pair)
            shadow_db = self._streams.scalar("radio.shadowing", first, second).gauss(0.0, 1.0)
            loss_db = self._path_loss_db + 10 * self._exponent * log10(distance_m)
            gain_db = self._sigma_db * shadow_db - loss_db + self._power_db[source]
            self._gains_db[pair] = gain_db
        return gain_db

    def received_dbm(self, emission: Emission, node: NodeId) -> float:
        """The power at which a frame arrives at `node`."""
        source, target = emission
        level = self._level if target is None else self._level_for(source, target)
        return level.dbm + self.gain_db(source, node)

    def transmit_j_per_byte(self, source: NodeId, target: NodeId) -> float:
        """Energy to send one byte to `target`."""
        return self._profile.level_j_per_byte(self._level_for(source, target))

    def broadcast_j_per_byte(self, range_m: float) -> float:
        """Energy to broadcast one byte, at the configured power whatever the range."""
        return self._profile.level_j_per_byte(self._level)

    def rate(self, source: NodeId, target: NodeId, frame_bytes: int) -> float:
        """The reception rate at the link's signal-to-noise ratio."""
        return self._rates[source, target, frame_bytes]

    def rate_amid(
        self,
        source: NodeId,
        target: NodeId,
        frame_bytes: int,
        others: Interference,
    ) -> float:
        """As `rate`, per share of the frame; noise and interference add up in mW."""
        signal_dbm = self._level_for(source, target).dbm + self.gain_db(source, target)
        rate = 1.0
        for share, emissions in others.shares():
            disturbance_mw = self._noise_mw[target]
            disturbance_mw += plain_sum(
                _mw(self.received_dbm(other, target)) for other in emissions
            )
            snr_db = signal_dbm - 10 * log10(disturbance_mw)
            rate *= reception_rate(self._modulation, snr_db, frame_bytes) ** share
        return rate

    def audible(self, emission: Emission, node: NodeId) -> bool:
        """Whether the energy at `node` is above the CCA threshold."""
        return self.received_dbm(emission, node) >= self._cca_dbm

    def detected(self, emission: Emission, node: NodeId) -> bool:
        """Whether the frame arrives above the radio's sensitivity."""
        return self.received_dbm(emission, node) >= self._radio.sensitivity_dbm

    def audience(self, emission: Emission) -> list[NodeId]:
        """The motes that receive it above their radio's sensitivity, ascending."""
        audience = self._audience.get(emission)
        if audience is None:
            near = self._geometry.near(emission[0], self._reach_m)
            audience = [n for n in near if self.detected(emission, n)]
            self._audience[emission] = audience
        return audience

    def _rate(self, source: NodeId, target: NodeId, frame_bytes: int) -> float:
        signal_dbm = self._level_for(source, target).dbm + self.gain_db(source, target)
        snr_db = signal_dbm - self._noise_dbm[target]
        return reception_rate(self._modulation, snr_db, frame_bytes)

    def links(self, rate_least: float) -> Links:
        """All links that deliver at least `rate_least` of their frames."""
        pairs = self._geometry.pairs(self._reach_m)
        signed = np.where(pairs == self._geometry.nodes - 1, -1, pairs).tolist()
        rates = np.array([self.rate(a, b, REFERENCE_BYTES) for a, b in signed], dtype=np.float64)
        good = rates >= rate_least
        return self._geometry.links(pairs[good], rates[good], self.transmit_j_per_byte)

    def _level_for(self, source: NodeId, target: NodeId) -> PowerLevel:
        if not self._power_control:
            return self._level
        needed_dbm = self._radio.sensitivity_dbm - self.gain_db(source, target)
        return self._radio.level(min(needed_dbm, self._level.dbm))


def _mw(dbm: float) -> float:
    return float(10 ** (dbm / 10))


def _hardware(
    streams: RandomStreams, nodes: int, noise_dbm: float, hardware: HardwareVariance | None
) -> tuple[list[float], list[float]]:
    """Noise floor and deviation of output power per node, the sink last."""
    if hardware is None:
        return [noise_dbm] * nodes, [0.0] * nodes
    first, second = streams.vector("radio.hardware").standard_normal((2, nodes))
    root = sqrt(hardware.noise)
    rest = sqrt(hardware.power - hardware.noise_power**2 / hardware.noise)
    noise = noise_dbm + root * first
    power = hardware.noise_power / root * first + rest * second
    return noise.tolist(), power.tolist()
