"""A short campaign of every kind of fuzzing; `make fuzz` does longer ones."""

from collections import defaultdict
from itertools import product
from pathlib import Path

import pytest

from clustering.protocols.registry import registered
from join.strategies.registry import STRATEGIES
from join.strategies.snjoin_star.rules.registry import RULES
from network.mac.registry import MACS
from sim.trace.tables import AnswerLevel
from tests.fuzz.bad_input import KINDS, judge_input, prepare
from tests.fuzz.generator import Fuzzed, fuzzed
from tests.fuzz.judge import judge
from tests.fuzz.kills import Victim
from tests.fuzz.leaves import CHOICES, NOT_DRAWN, Key
from tests.fuzz.metamorphic import RULES as METAMORPHIC
from tests.fuzz.metamorphic import Rule
from tests.fuzz.shrink import shrunk
from tests.golden.inputs import write_inputs
from tests.golden.test_options import made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_inputs(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("number", range(1, 13))
def test_a_random_scenario_runs_and_adds_up(folder: Path, number: int) -> None:
    scenario = fuzzed(number)
    assert fuzzed(number) == scenario
    wrong = judge(scenario, folder)
    assert not wrong, f"{wrong}\nagain: python -m tests.fuzz --only {number}"


NUMBERS = range(1, 6001)
"""Scenarios in which all that is wanted must have occurred; a fifth of them usually does."""


def test_random_scenarios_have_every_pair_of_registered_parts() -> None:
    protocols = [protocol.name for protocol in registered()]
    levels = [level.value for level in AnswerLevel]  # from the most to the least
    wanted: set[tuple[str, str]] = {*product(STRATEGIES, [*MACS, *protocols])}
    for name, strategy in STRATEGIES.items():
        most = levels.index(strategy.needs.delivers.value)
        wanted |= {(name, level) for level in levels[most:]}
    wanted |= {("rule", rule) for rule in RULES} | {("motes", "1"), ("motes", "300")}
    for number in NUMBERS:
        scenario = fuzzed(number).load()
        join, parts = scenario.join, (scenario.radio.mac, scenario.clustering.protocol)
        wanted -= {(join.strategy, part) for part in (*parts, join.answer)}
        wanted -= {("rule", join.feedback), ("motes", str(scenario.motes.count))}
        if not wanted:
            break
    assert wanted == set()


def test_random_scenarios_vary_every_key_of_the_schema() -> None:
    """A key that is added to the schema must be drawn, or have a reason in `NOT_DRAWN`."""
    # A table that is chosen by its kind has only the one.
    wanted = {key: 1 if key[1] == "kind" else 2 for key in CHOICES if key not in NOT_DRAWN}
    values: defaultdict[Key, set[str]] = defaultdict(set)
    for number in NUMBERS:
        for table, key, value in made(fuzzed(number).load()):
            values[table, key].add(str(value))
            if len(values[table, key]) >= wanted.get((table, key), 0):
                wanted.pop((table, key), None)
        if not wanted:
            break
    assert wanted == {}


@pytest.mark.parametrize("rule", METAMORPHIC, ids=lambda rule: rule.__name__)
def test_a_metamorphic_rule_holds(folder: Path, rule: Rule) -> None:
    assert not rule(1, folder)


def test_a_failing_scenario_is_made_small() -> None:
    scenario = fuzzed(3)
    culprit = "faults.jitter_ms=5.0"
    scenario = Fuzzed(3, scenario.base, (*scenario.settings, culprit), scenario.seed)
    small = shrunk(scenario, lambda each: culprit in each.settings)
    assert small.settings == (culprit,)


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=sorted(KINDS))
def test_mutated_input_ends_in_a_message(folder: Path, kind: int) -> None:
    prepare(folder)
    for number in range(kind, 25 * len(KINDS), len(KINDS)):
        assert not judge_input(number, folder), number


@pytest.mark.long
def test_killed_commands_lose_nothing_and_leave_nothing(tmp_path: Path) -> None:
    victim = Victim(tmp_path)
    for number in range(1, 7):
        assert not victim.kill(number), number
