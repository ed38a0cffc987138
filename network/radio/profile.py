"""Mote profiles: the power draw and radio speed of a kind of mote, read from TOML.

A profile is data. The shipped ones are in `network/radio/profiles`; any TOML file of the same form works.
Its radio is either first-order (energy by distance) or from a data sheet (currents by power level).
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from math import isfinite
from typing import Any

from sim.errors import Fault, ScenarioError
from sim.units import US_PER_S

UNLIMITED_BYTES = 1 << 30
"""Maximum payload if the profile sets no limit."""


class Modulation(StrEnum):
    """Modulation, which determines how reception depends on the signal-to-noise ratio."""

    FSK_MANCHESTER = "fsk-manchester"
    FSK_NRZ = "fsk-nrz"
    O_QPSK_NS3 = "o-qpsk-ns3"
    O_QPSK_TOSSIM = "o-qpsk-tossim"


@dataclass(frozen=True, slots=True)
class FirstOrderRadio:
    """The first-order radio model of Heinzelman et al. 2000.

    E_tx(b, d) = b (E_elec + eps_fs d²) below the crossover distance, b (E_elec + eps_mp d⁴) from it on;
    E_rx(b) = b E_elec. The power is always the minimum for the distance.
    """

    electronics_j_per_bit: float
    free_space_j_per_bit_m2: float
    multi_path_j_per_bit_m4: float

    @property
    def crossover_m(self) -> float:
        """d0, where free-space and multi-path attenuation are equal."""
        return float((self.free_space_j_per_bit_m2 / self.multi_path_j_per_bit_m4) ** 0.5)

    def transmit_j_per_bit(self, distance_m: float) -> float:
        """Energy to send one bit over `distance_m`."""
        if distance_m < self.crossover_m:
            amplifier = self.free_space_j_per_bit_m2 * distance_m**2
        else:
            amplifier = self.multi_path_j_per_bit_m4 * distance_m**4
        return self.electronics_j_per_bit + amplifier


@dataclass(frozen=True, slots=True)
class PowerLevel:
    """One setting of a transmitter's power amplifier."""

    register: int
    dbm: float
    amperes: float


@dataclass(frozen=True, slots=True)
class DatasheetRadio:
    """A radio described by its data sheet: energy is current x voltage x time."""

    receive_a: float
    levels: tuple[PowerLevel, ...]
    """In ascending order of power."""
    default_dbm: float
    sensitivity_dbm: float
    noise_dbm: float
    """Noise floor at the receiver."""
    cca_dbm: float
    """The channel counts as busy above this."""
    modulation: Modulation

    def level(self, dbm: float) -> PowerLevel:
        """The lowest level of at least `dbm`; the strongest one if none is."""
        return next((level for level in self.levels if level.dbm >= dbm), self.levels[-1])


@dataclass(frozen=True, slots=True)
class MacTiming:
    """Constants of carrier sensing and acknowledgement."""

    backoff_us: int
    cca_us: int
    min_be: int
    max_be: int
    max_backoffs: int
    retries: int
    ack_bytes: int
    ack_wait_us: int
    spacing_us: int
    """Between the end of one frame, or its acknowledgement, and the next attempt to send."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A kind of mote."""

    title: str
    voltage_v: float
    radio: FirstOrderRadio | DatasheetRadio
    bit_rate_per_s: int
    header_bytes: int
    """On air, in addition to the payload: preamble, addresses, checksum."""
    payload_bytes_max: int
    turnaround_us: int
    mac: MacTiming
    listen_w: float
    """The radio while it listens."""
    radio_sleep_w: float
    cpu_active_w: float
    cpu_idle_w: float
    """The CPU while the radio is on and the CPU is idle."""
    cpu_sleep_w: float
    sample_j: float
    battery_j: float

    @property
    def receive_j_per_byte(self) -> float:
        """Energy to receive one byte."""
        radio = self.radio
        if isinstance(radio, FirstOrderRadio):
            return 8 * radio.electronics_j_per_bit
        return radio.receive_a * self.voltage_v * 8 / self.bit_rate_per_s

    @property
    def airtime_us_per_byte(self) -> float:
        """Airtime of one byte."""
        return 8 * US_PER_S / self.bit_rate_per_s

    def transmit_j_per_byte(self, distance_m: float) -> float:
        """Energy to send one byte over `distance_m`; at the default power if the radio has fixed levels."""
        radio = self.radio
        if isinstance(radio, FirstOrderRadio):
            return 8 * radio.transmit_j_per_bit(distance_m)
        return self.level_j_per_byte(radio.level(radio.default_dbm))

    def level_j_per_byte(self, level: PowerLevel) -> float:
        """Energy to send one byte at a power level: current x voltage x airtime."""
        assert isinstance(self.radio, DatasheetRadio), self.title
        return level.amperes * self.voltage_v * 8 / self.bit_rate_per_s

    def frames_of(self, body_bytes: int) -> int:
        """Number of frames into which a message body is split."""
        return max(1, -(-body_bytes // self.payload_bytes_max))

    def on_air_bytes(self, body_bytes: int) -> int:
        """Bytes on air of a message, every fragment with its own header."""
        return body_bytes + self.frames_of(body_bytes) * self.header_bytes


def profile_names() -> list[str]:
    """The names of the shipped profiles."""
    files = resources.files("network.radio.profiles").iterdir()
    return sorted(f.name.removesuffix(".toml") for f in files if f.name.endswith(".toml"))


def load_profile(name: str) -> Profile:
    """The shipped profile `name`, one of `profile_names()`."""
    text = resources.files("network.radio.profiles").joinpath(f"{name}.toml").read_text()
    return parse_profile(text, name)


def parse_profile(text: str, source: str) -> Profile:
    """The profile defined by TOML text.

    Raises:
        ScenarioError: The text is invalid; the error lists every fault.
    """
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ScenarioError(source, [Fault("", "", f"not valid TOML: {error}")]) from None
    reader = _Reader(content)
    profile = _profile(reader)
    faults = reader.faults + reader.left_over()
    if faults:
        raise ScenarioError(source, faults)
    return profile


def _profile(reader: "_Reader") -> Profile:
    title = reader.text("title")
    volts = reader.number("voltage_v", default=3.0)
    radio: FirstOrderRadio | DatasheetRadio
    if reader.has("radio.levels"):
        milliamperes = 1e-3
        radio = DatasheetRadio(
            receive_a=reader.number("radio.receive_ma") * milliamperes,
            levels=reader.levels("radio.levels"),
            default_dbm=reader.number("radio.default_dbm", least=-100.0),
            sensitivity_dbm=reader.number("radio.sensitivity_dbm", least=-200.0),
            noise_dbm=reader.number("radio.noise_dbm", least=-200.0),
            cca_dbm=reader.number("radio.cca_dbm", least=-200.0),
            modulation=reader.modulation("radio.modulation"),
        )
    else:
        radio = FirstOrderRadio(
            electronics_j_per_bit=reader.number("radio.electronics_nj_per_bit") * 1e-9,
            free_space_j_per_bit_m2=reader.number("radio.free_space_pj_per_bit_m2") * 1e-12,
            multi_path_j_per_bit_m4=reader.number("radio.multi_path_pj_per_bit_m4") * 1e-12,
        )
    payload = reader.whole("radio.payload_bytes_max", default=UNLIMITED_BYTES)
    mah = reader.number("battery.mah", default=0.0)
    joules = reader.number("battery.joules", default=0.0)
    if (mah > 0.0) == (joules > 0.0):
        reader.faults.append(Fault("battery", "", "expected exactly one of mah and joules"))
    return Profile(
        title=title,
        voltage_v=volts,
        radio=radio,
        bit_rate_per_s=reader.whole("radio.bit_rate_per_s"),
        header_bytes=reader.whole("radio.header_bytes"),
        payload_bytes_max=payload,
        turnaround_us=reader.whole("radio.turnaround_us", least=0),
        mac=MacTiming(
            backoff_us=reader.whole("mac.backoff_us"),
            cca_us=reader.whole("mac.cca_us"),
            min_be=reader.whole("mac.min_be", least=0),
            max_be=reader.whole("mac.max_be", least=0),
            max_backoffs=reader.whole("mac.max_backoffs", least=0),
            retries=reader.whole("mac.retries", least=0),
            ack_bytes=reader.whole("mac.ack_bytes"),
            ack_wait_us=reader.whole("mac.ack_wait_us"),
            spacing_us=reader.whole("mac.spacing_us", least=0),
        ),
        listen_w=reader.number("radio.listen_ma") * 1e-3 * volts,
        radio_sleep_w=reader.number("radio.sleep_ua") * 1e-6 * volts,
        cpu_active_w=reader.number("cpu.active_ma") * 1e-3 * volts,
        cpu_idle_w=reader.number("cpu.idle_ma") * 1e-3 * volts,
        cpu_sleep_w=reader.number("cpu.sleep_ua") * 1e-6 * volts,
        sample_j=reader.number("sensor.sample_uj") * 1e-6,
        battery_j=joules or mah * 3.6 * volts,
    )


class _Reader:
    """Reads values from a profile's TOML and collects errors."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.faults: list[Fault] = []
        self._values: dict[str, Any] = {}
        for name, value in content.items():
            if isinstance(value, dict):
                self._values.update({f"{name}.{key}": inner for key, inner in value.items()})
            else:
                self._values[name] = value
        self._read: set[str] = set()

    def has(self, key: str) -> bool:
        return key in self._values

    def text(self, key: str) -> str:
        value = self._take(key, None)
        if isinstance(value, str):
            return value
        return str(self._fault(key, value, "expected text in quotes", ""))

    def number(self, key: str, *, least: float = 0.0, default: float | None = None) -> float:
        value = self._take(key, default)
        if _is_number(value) and value >= least:
            return float(value)
        return float(self._fault(key, value, f"expected a number of at least {least:g}", 1.0))

    def whole(self, key: str, *, least: int = 1, default: int | None = None) -> int:
        value = self._take(key, default)
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        return int(self._fault(key, value, f"expected a whole number of at least {least}", 1))

    def modulation(self, key: str) -> Modulation:
        value = self._take(key, None)
        if value in list(Modulation):
            return Modulation(value)
        expected = f"expected one of {', '.join(repr(m.value) for m in Modulation)}"
        self._fault(key, value, expected, None)
        return Modulation.O_QPSK_NS3

    def levels(self, key: str) -> tuple[PowerLevel, ...]:
        value = self._take(key, None)
        expected = "expected an array of [register, dBm, mA], power ascending"
        levels = []
        for row in value if isinstance(value, list) else []:
            if isinstance(row, Sequence) and len(row) == 3 and all(map(_is_number, row)):
                levels.append(PowerLevel(int(row[0]), float(row[1]), float(row[2]) * 1e-3))
        powers = [level.dbm for level in levels]
        if not levels or len(levels) != len(value) or powers != sorted(powers):
            self._fault(key, value, expected, None)
            return (PowerLevel(0, 0.0, 1.0),)
        return tuple(levels)

    def left_over(self) -> list[Fault]:
        """Errors for the keys that were not read."""
        unread = [key for key in self._values if key not in self._read]
        return [Fault(key, repr(self._values[key]), "unknown key") for key in unread]

    def _take(self, key: str, default: object) -> Any:  # noqa: ANN401 (any TOML value)
        self._read.add(key)
        return self._values.get(key, default)

    def _fault(self, key: str, value: object, expected: str, instead: object) -> Any:  # noqa: ANN401
        if key in self._values:
            self.faults.append(Fault(key, repr(value), expected))
        else:
            self.faults.append(Fault(key, "", f"missing, {expected}"))
        return instead


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
