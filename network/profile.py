"""Mote profiles: what a kind of mote draws and how fast its radio is, read from TOML."""

import tomllib
from dataclasses import dataclass
from importlib import resources

from sim.kernel import US_PER_S


@dataclass(frozen=True, slots=True)
class Profile:
    """A kind of mote with a first-order radio (Heinzelman et al. 2000).

    E_tx(b, d) = b (E_elec + eps_fs d²) below the crossover distance, b (E_elec + eps_mp d⁴) from it on;
    E_rx(b) = b E_elec.
    """

    title: str
    electronics_j_per_bit: float
    free_space_j_per_bit_m2: float
    multi_path_j_per_bit_m4: float
    bit_rate_per_s: int
    header_bytes: int
    turnaround_us: int
    idle_w: float
    cpu_active_w: float
    sample_j: float

    @property
    def crossover_m(self) -> float:
        """d0, where free-space and multi-path attenuation are equal."""
        return float((self.free_space_j_per_bit_m2 / self.multi_path_j_per_bit_m4) ** 0.5)

    def transmit_j_per_byte(self, distance_m: float) -> float:
        """Energy to send one byte over `distance_m`."""
        if distance_m < self.crossover_m:
            amplifier = self.free_space_j_per_bit_m2 * distance_m**2
        else:
            amplifier = self.multi_path_j_per_bit_m4 * distance_m**4
        return 8 * (self.electronics_j_per_bit + amplifier)

    @property
    def receive_j_per_byte(self) -> float:
        """Energy to receive one byte."""
        return 8 * self.electronics_j_per_bit

    @property
    def airtime_us_per_byte(self) -> float:
        """How long one byte is on air."""
        return 8 * US_PER_S / self.bit_rate_per_s


def profile_names() -> list[str]:
    """The profiles that ship."""
    files = resources.files("network.profiles").iterdir()
    return sorted(f.name.removesuffix(".toml") for f in files if f.name.endswith(".toml"))


def load_profile(name: str) -> Profile:
    """The shipped profile `name`, one of `profile_names()`."""
    text = resources.files("network.profiles").joinpath(f"{name}.toml").read_text()
    content = tomllib.loads(text)
    radio = content["radio"]
    return Profile(
        title=content["title"],
        electronics_j_per_bit=radio["electronics_nj_per_bit"] * 1e-9,
        free_space_j_per_bit_m2=radio["free_space_pj_per_bit_m2"] * 1e-12,
        multi_path_j_per_bit_m4=radio["multi_path_pj_per_bit_m4"] * 1e-12,
        bit_rate_per_s=radio["bit_rate_per_s"],
        header_bytes=radio["header_bytes"],
        turnaround_us=radio["turnaround_us"],
        idle_w=radio["idle_w"],
        cpu_active_w=content["cpu"]["active_w"],
        sample_j=content["sensor"]["sample_uj"] * 1e-6,
    )
