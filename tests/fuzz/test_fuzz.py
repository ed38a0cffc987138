"""A short campaign of every kind of fuzzing; `make fuzz` does longer ones."""

from pathlib import Path

import pytest

from clustering.protocols.registry import registered
from join.strategies.registry import STRATEGIES
from join.strategies.snjoin_star.rules.registry import RULES
from network.mac.registry import MACS
from tests.fuzz.bad_input import KINDS, judge_input, prepare
from tests.fuzz.generator import Fuzzed, fuzzed
from tests.fuzz.judge import judge
from tests.fuzz.kills import Victim
from tests.fuzz.metamorphic import RULES as METAMORPHIC
from tests.fuzz.metamorphic import Rule
from tests.fuzz.shrink import shrunk
from tests.golden.inputs import write_inputs


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


def test_random_scenarios_have_every_registered_part() -> None:
    drawn = [fuzzed(number).load() for number in range(1, 250)]
    assert {scenario.join.strategy for scenario in drawn} == {*STRATEGIES}
    assert {scenario.join.feedback for scenario in drawn} == {*RULES}
    assert {scenario.radio.mac for scenario in drawn} == {*MACS}
    protocols = {protocol.name for protocol in registered()}
    assert {scenario.clustering.protocol for scenario in drawn} == protocols
    assert {1, 2} & {scenario.motes.count for scenario in drawn}


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
