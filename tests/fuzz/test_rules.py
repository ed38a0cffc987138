"""The metamorphic rules can fail: each finds a program that breaks it."""

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from analysis.audit.run_trace import RunTrace
from join.contract import Occurrence, Result
from join.operators.snjoin import snjoin
from join.strategies.snjoin_star.forwarding import deliver
from network.contract import NodeId
from network.radio.frame_loss import Medium
from tests.fuzz import metamorphic, relabelling
from tests.fuzz.metamorphic import BASE, Rule
from tests.fuzz.relabelling import renamed_motes_measure_alike
from tests.support.runs import run_here

MEDIUM = "scenarios.wiring.network.Medium"


def test_loss_that_delivers_more_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Contrary(Medium):
        def is_lost(self, kind: str, source: NodeId, target: NodeId) -> bool:
            return not super().is_lost(kind, source, target)

    monkeypatch.setattr(MEDIUM, Contrary)
    assert "delivered" in metamorphic.more_loss_delivers_less(1, tmp_path)


def test_jitter_where_there_is_none_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(Medium):
        def delay_us(self, source: NodeId) -> int:
            return 1

    monkeypatch.setattr(MEDIUM, Slow)
    # Among these are runs without a medium, which are not delayed.
    found = [metamorphic.no_jitter_is_jitter_0(number, tmp_path) for number in range(1, 5)]
    assert "the fingerprints differ" in found


def test_a_pair_that_a_longer_window_loses_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = metamorphic._run
    runs = itertools.count()

    def shorter_instead(folder: Path, seed: int, settings: list[str], **options: str) -> RunTrace:
        if next(runs) % 2:
            settings = [*settings, "join.window_s=0.05"]
        return run(folder, seed, settings, **options)

    monkeypatch.setattr(metamorphic, "_run", shorter_instead)
    assert "pairs are lost" in metamorphic.longer_window_loses_nothing(1, tmp_path)


def test_a_run_that_depends_on_something_else_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = itertools.count()

    class Counting(Medium):
        def is_lost(self, kind: str, source: NodeId, target: NodeId) -> bool:
            return next(count) % 7 == 0

    monkeypatch.setattr(MEDIUM, Counting)
    assert metamorphic.same_seed_same_fingerprint(1, tmp_path) == "the fingerprints differ"


def test_a_result_that_is_lost_in_silence_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = itertools.count()

    def forgetful(*arguments: Any) -> None:  # noqa: ANN401 (passed on)
        if next(count) % 5:
            deliver(*arguments)

    monkeypatch.setattr("join.strategies.snjoin_star.driver.deliver", forgetful)
    assert "join.feedback=off" in metamorphic.exact_strategies_agree(1, tmp_path)


def test_an_operator_that_looks_at_names_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def partial(**options: Any) -> Any:  # noqa: ANN401 (an operator)
        operator = snjoin(**options)
        insert = operator.insert

        def unless_named_b(arrival: Occurrence) -> Iterable[Result]:
            found = list(insert(arrival))
            return [] if arrival.stream == "B" else found

        monkeypatch.setattr(operator, "insert", unless_named_b)
        return operator

    monkeypatch.setattr(relabelling, "make_operator", lambda _, **options: partial(**options))
    assert "of other names" in relabelling.renamed_streams_join_alike(2, tmp_path)


def test_a_metric_that_looks_at_numbers_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = [word for each in (*BASE, "duration_s=8.0") for word in ("--set", each)]
    run_here(tmp_path / "run", *settings, scenario="snjoin-zipf")
    assert not renamed_motes_measure_alike(tmp_path / "run", 1, tmp_path)
    # As if results named motes that are not renumbered.
    monkeypatch.setattr(relabelling, "NODE_COLUMNS", relabelling.NODE_COLUMNS - {"origin"})
    assert "recall" in renamed_motes_measure_alike(tmp_path / "run", 1, tmp_path)


def test_every_rule_is_here() -> None:
    rules: set[Rule] = {*metamorphic.RULES}
    assert len(rules) == 7
