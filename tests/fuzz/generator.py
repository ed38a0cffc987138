"""Random valid scenarios, each fixed by a number.

The golden cases have every option of the schema, with values that work. A scenario is one of these cases with settings of others
mixed in, parts drawn from the registries, and any of its keys drawn anew; settings that the schema refuses are taken out again.
"""

import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from clustering.protocols.registry import registered
from join.strategies.registry import STRATEGIES
from join.strategies.snjoin_star.rules.registry import RULES
from network.mac.registry import MACS
from scenarios.schema.load import load_scenario
from scenarios.schema.scenario import Scenario
from sim.errors import ScenarioError
from sim.trace.tables import AnswerLevel
from tests.fuzz.leaves import draw as draw_leaves
from tests.golden.cases import CASES

SAMPLES_MOST: Final = 2_500
"""Samples of all motes that a scenario takes at most, about: what keeps a run within a second."""


@dataclass(frozen=True, slots=True)
class Fuzzed:
    """A generated scenario: a shipped one and settings."""

    number: int
    base: str
    settings: tuple[str, ...]
    seed: int

    def arguments(self, out: Path) -> list[str]:
        """The command line that runs it, in the folder of the golden cases' input files."""
        words = [word for setting in self.settings for word in ("--set", setting)]
        seed = ["--seed", str(self.seed)]
        return ["run", self.base, *seed, "--out", str(out), "--allow-functions", *words]

    def load(self) -> Scenario:
        """The scenario.

        Raises:
            ScenarioError: it is not valid.
        """
        return load_scenario(self.base, self.settings).scenario


def fuzzed(number: int, samples_most: int = SAMPLES_MOST) -> Fuzzed:
    """The scenario of this number."""
    rng = random.Random(f"scenario {number}")
    cases = CASES
    if rng.random() < 0.5:  # most cases are of one shipped scenario
        base = rng.choice(_BASES)
        cases = tuple(case for case in CASES if case.scenario == base)
    case = rng.choice(cases)
    seed = rng.randrange(1, 1000)
    mixed = [rng.choice(_POOL[key]) for key in rng.sample(sorted(_POOL), rng.randrange(6))]
    mixed += [f"{key}={draw(rng)}" for key, draw in _DRAWS.items() if rng.random() < 0.2]
    mixed += draw_leaves(
        load_scenario(case.scenario, case.settings).scenario, rng, rng.randrange(8)
    )
    rng.shuffle(mixed)
    # Last, so that they are what counts, and are refused least: the parts that scenarios are about.
    mixed += [f"{key}={draw(rng)}" for key, draw in _PARTS.items() if rng.random() < 0.5]
    while True:
        found = Fuzzed(number, case.scenario, (*case.settings, *mixed), seed)
        try:
            found = _shortened(found, samples_most)
            found.load()
        except ScenarioError as error:
            if not mixed:
                return Fuzzed(number, case.scenario, case.settings, seed)
            text = str(error)
            named = [setting for setting in mixed if setting.partition("=")[0] in text]
            mixed.remove((named or mixed)[0])
        else:
            return found


def _shortened(found: Fuzzed, samples_most: int) -> Fuzzed:
    """The same for fewer motes or less time, if it would take long."""
    scenario = found.load()
    motes, table = scenario.motes.count, scenario.motes
    more = []
    if motes > 300 and table.placement not in {"file", "recorded"}:
        motes = 300
        more.append("motes.count=300")
    sensed_s = samples_most * table.interval_s / motes
    least_s = table.start_s + table.drain_s
    if scenario.duration_s > least_s + sensed_s:
        more.append(f"duration_s={least_s + max(sensed_s, 2.0):.3f}")
    return Fuzzed(found.number, found.base, (*found.settings, *more), found.seed)


def _pool() -> dict[str, list[str]]:
    pool: defaultdict[str, list[str]] = defaultdict(list)
    for case in CASES:
        for setting in case.settings:
            pool[setting.partition("=")[0]].append(setting)
    return dict(pool)


def _decimal(low: float, high: float) -> Callable[[random.Random], str]:
    return lambda rng: repr(round(low * (high / low) ** rng.random(), 6))


def _whole(low: int, high: int) -> Callable[[random.Random], str]:
    return lambda rng: str(round(low * (high / low) ** rng.random()))


def _one_of(*names: str) -> Callable[[random.Random], str]:
    return lambda rng: rng.choice(names)


_POOL: Final = _pool()
"""By key: the settings that golden cases have."""

_BASES: Final = sorted({case.scenario for case in CASES})

_PARTS: Final[dict[str, Callable[[random.Random], str]]] = {
    "join.answer": _one_of(*(level.value for level in AnswerLevel)),
    "join.strategy": _one_of(*STRATEGIES),
    "radio.mac": _one_of(*MACS),
    "clustering.protocol": _one_of(*(protocol.name for protocol in registered())),
}
"""The parts that behave most differently, so that all pairs of them occur."""

_DRAWS: Final[dict[str, Callable[[random.Random], str]]] = {
    "motes.count": _whole(1, 300),
    "motes.interval_s": _decimal(0.2, 5.0),
    "motes.battery_j": _decimal(0.001, 100.0),
    "join.feedback": _one_of(*RULES),
    "join.window_s": _decimal(0.05, 30.0),
    "join.late_s": _decimal(0.01, 10.0),
    "join.queue": _whole(1, 64),
    "join.probing": _one_of("chain", "fan-out"),
    "join.form": _one_of("latest", "factorised"),
    "join.retries": _one_of("0", "1", "2"),
    "radio.loss": _decimal(0.001, 0.6),
    "clustering.round_s": _decimal(10.0, 40.0),
    "clustering.handover": _one_of("expire", "move"),
    "routing.heads": _one_of("one-hop", "multi-hop"),
    "routing.sink": _one_of("one-hop", "multi-hop"),
    "faults.jitter_ms": _decimal(0.1, 500.0),
    "faults.clock_offset_ms": _decimal(0.1, 500.0),
    "faults.clock_drift_ppm": _decimal(1.0, 5000.0),
    "faults.crashes": lambda rng: (
        f"{{mean_up_s={rng.uniform(5, 60):.2f}, mean_down_s={rng.uniform(0, 10):.2f}}}"
    ),
    "faults.sink_outages": lambda rng: (
        f"[{{from_s={(at := rng.uniform(0, 20)):.2f}, until_s={at + 1.5:.2f}}},"
        f" {{from_s={at + 1.5:.2f}, until_s={at + 3:.2f}}}]"
    ),
    "trace.energy_every_s": _decimal(0.1, 20.0),
}
"""Numbers and names drawn anew, beside those of the golden cases."""
