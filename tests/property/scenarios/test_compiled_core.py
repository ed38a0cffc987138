"""The compiled core gives what the same source gives when Python interprets it."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.compiled import is_compiled
from tests.property.scenarios.test_bare_visits import BUSY, CRASHES, SLOW
from tests.support.interpreted import InterpretedCore, outcome
from tests.support.requirements import needs_compiled_core

pytestmark = [needs_compiled_core, pytest.mark.slow]

LOSSES = ("radio.loss=0.1", "faults.jitter_ms=2.0", "radio.mac=csma", "radio.overhearing=true")


@pytest.fixture(scope="module")
def interpreted() -> Iterator[InterpretedCore]:
    assert is_compiled()
    with InterpretedCore() as core:
        yield core


@settings(max_examples=15, deadline=None)
@given(
    strategy=st.sampled_from(["snjoin-star", "distributed-mjoin", "oracle", "centralised"]),
    feedback=st.sampled_from(["off", "paper", "with-initiator", "directory"]),
    selection=st.sampled_from(["bernoulli", "proportional"]),
    probing=st.sampled_from(["chain", "fan-out"]),
    form=st.sampled_from(["latest", "factorised"]),
    battery_j=st.sampled_from([0.02, 0.05, 0.2, 2.0]),
    queue=st.integers(1, 4),
    faults=st.sets(
        st.sampled_from([CRASHES, SLOW, "faults.clock_offset_ms=50.0", *LOSSES]), max_size=3
    ),
    seed=st.integers(1, 1000),
)
def test_any_run_is_the_same(
    interpreted: InterpretedCore,
    strategy: str,
    feedback: str,
    selection: str,
    probing: str,
    form: str,
    battery_j: float,
    queue: int,
    faults: set[str],
    seed: int,
) -> None:
    chosen = [
        *BUSY,
        f"join.strategy={strategy}",
        f"join.feedback={feedback}",
        f"join.selection={selection}",
        f"join.probing={probing}",
        f"join.form={form}",
        f"motes.battery_j={battery_j}",
        f"join.queue={queue}",
        *sorted(faults),
    ]
    assert outcome("snjoin-zipf", chosen, seed) == interpreted.outcome("snjoin-zipf", chosen, seed)


@pytest.mark.parametrize(
    ("chosen", "reason"),
    [
        (["motes.battery_j=0.02", "clustering.round_s=0.0"], "dead"),
        ([SLOW, "join.queue=2"], "queue full"),
        ([CRASHES], "state lost"),
        (["radio.loss=0.2"], "lost"),
    ],
    ids=["deaths", "overflow", "crashes", "loss"],
)
def test_runs_with_drops_are_the_same(
    interpreted: InterpretedCore, chosen: list[str], reason: str
) -> None:
    chosen = [*BUSY, "join.feedback=off", *chosen]
    fingerprint, counts = outcome("snjoin-zipf", chosen, 1)
    assert counts["drops"][reason] > 0, counts["drops"]
    assert (fingerprint, counts) == interpreted.outcome("snjoin-zipf", chosen, 1)
