"""What every phenomenon promises the simulator, whatever its kind."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from scenarios.phenomena.contract import NOTHING, Phenomenon, Surroundings
from scenarios.phenomena.registry import build_phenomenon, phenomenon_tables, recorded_positions_m
from sim.rng import RandomStreams

MOTES = 60
FIELD_M = (200.0, 120.0)
table_of: TypeAdapter[Any] = TypeAdapter(phenomenon_tables())

BARE = {
    kind: f'kind = "{kind}"'
    for kind in ("gas-cloud", "moving-objects", "data-centre", "zipf", "replay")
}
FULL = {
    "gas-cloud, all keys": """
        kind = "gas-cloud"
        value = "gas"
        coefficients = "briggs-urban"
        stability = "D"
        [[gas]]
        name = "perfume"
        threshold_g_per_m3 = 0.001
        [[source]]
        gas = "perfume"
        x_m = 20
        y_m = 60
        release = "instant"
        mass_g = 500
        start_s = 5
        releases = 3
        pause_s = 20
        [wind]
        speed_m_per_s = 2
        [[wind.turn]]
        at_s = 30
        from_deg = 300
        [[barrier]]
        from_m = [100, 0]
        to_m = [100, 60]
        [sensor]
        levels = 3
    """,
    "moving-objects with bursts": """
        kind = "moving-objects"
        range_m = 30
        [[path]]
        name = "cart"
        points_m = [[0, 0], [200, 120]]
        [burst]
        on_s = 5
        off_s = 5
    """,
    "data-centre readings": """
        kind = "data-centre"
        value = "reading"
        [[failure]]
        x_m = 50
    """,
    "zipf, local": """
        kind = "zipf"
        ranks = "permuted"
        locality = 0.5
        [burst]
        together = true
    """,
}
TEXTS = {**BARE, **FULL}


@pytest.fixture(params=TEXTS, ids=list(TEXTS))
def phenomenon(request: pytest.FixtureRequest, tmp_path: Path) -> Phenomenon:
    rows = [f"{second},{mote},{second % 7}" for second in range(100) for mote in range(MOTES)]
    (tmp_path / "readings.csv").write_text("time,node,value\n" + "\n".join(rows))
    return build_phenomenon(
        table_of.validate_python(tomllib.loads(TEXTS[request.param])),
        Surroundings(
            positions_m=RandomStreams(2).vector("test.positions").uniform(0.0, FIELD_M, (MOTES, 2)),
            field_m=FIELD_M,
            streams=RandomStreams(1),
            base_dir=tmp_path,
        ),
    )


def test_samples_and_truth_are_well_formed(phenomenon: Phenomenon) -> None:
    some = 0
    for second in range(100):
        samples = phenomenon.sample(np.arange(MOTES), np.full(MOTES, second * 1_000_000))
        assert samples.values.dtype == np.int64
        assert samples.levels.dtype == np.float64
        assert samples.values.shape == samples.levels.shape == (MOTES,)
        assert samples.values.min() >= NOTHING
        some += int((samples.values != NOTHING).sum())
        labels = phenomenon.labels()
        assert not labels or set(samples.values.tolist()) <= {NOTHING, *labels}
        for name, motes in phenomenon.truth(second * 1_000_000).items():
            assert name
            assert motes.tolist() == sorted(set(motes.tolist()))
            assert set(motes.tolist()) <= set(range(MOTES))
    assert some > 0
    assert phenomenon.attribute.isidentifier()


def test_no_question_has_no_answer(phenomenon: Phenomenon) -> None:
    nobody = np.zeros(0, dtype=np.int64)
    samples = phenomenon.sample(nobody, nobody)
    assert samples.values.shape == samples.levels.shape == (0,)


def test_only_recordings_have_inputs(phenomenon: Phenomenon) -> None:
    files = phenomenon.inputs()
    assert all(len(digest) == 128 for digest in files.values())
    assert list(files) in ([], ["readings.csv"])


@pytest.mark.parametrize("kind", ["gas-cloud", "zipf"])
def test_only_recordings_tell_positions(kind: str, tmp_path: Path) -> None:
    table = table_of.validate_python({"kind": kind})
    assert recorded_positions_m(table, base_dir=tmp_path) is None


def test_an_unknown_kind_is_a_fault_that_lists_the_known_ones() -> None:
    with pytest.raises(ValidationError) as caught:
        table_of.validate_python({"kind": "earthquake"})
    assert all(f"'{kind}'" in str(caught.value) for kind in BARE)
