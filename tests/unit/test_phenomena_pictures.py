from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
from pydantic import TypeAdapter

from scenarios.phenomena.build import build_phenomenon
from scenarios.phenomena.gas_cloud import GasCloud
from scenarios.phenomena.pictures import draw_cloud
from scenarios.phenomena.tables import PhenomenonTable
from sim.rng import RandomStreams

FIELD_M = (200.0, 100.0)
table_of: TypeAdapter[Any] = TypeAdapter(PhenomenonTable)


def drawn(path: Path, times_s: list[float], keys: dict[str, Any]) -> bytes:
    positions_m = RandomStreams(1).vector("test.positions").uniform(0.0, FIELD_M, (300, 2))
    phenomenon = build_phenomenon(
        table_of.validate_python({"kind": "gas-cloud", **keys}),
        positions_m=positions_m,
        field_m=FIELD_M,
        streams=RandomStreams(1),
        base_dir=Path(),
    )
    assert isinstance(phenomenon, GasCloud)
    draw_cloud(phenomenon, positions_m, FIELD_M, times_s, path, title="a cloud")
    return path.read_bytes()


def coloured_pixels(path: Path) -> int:
    """Pixels that are neither white, grey nor black: the cloud and its source."""
    rgb = matplotlib.image.imread(path)[:, :, :3]
    return int((np.ptp(rgb, axis=2) > 0.05).sum())


def test_a_picture_shows_more_colour_as_the_cloud_grows(tmp_path: Path) -> None:
    path = tmp_path / "cloud.png"
    drawn(path, [0.0], {})
    before = coloured_pixels(path)
    drawn(path, [120.0], {})
    assert coloured_pixels(path) > before + 5_000


def test_the_same_cloud_gives_the_same_file(tmp_path: Path) -> None:
    keys = {
        "source": [{"gas": "ammonia"}, {"gas": "chlorine", "y_m": 30.0}],
        "barrier": [{"from_m": [120.0, 10.0], "to_m": [120.0, 60.0]}],
    }
    times_s = [30.0, 90.0]
    first = drawn(tmp_path / "1.png", times_s, keys)
    assert first == drawn(tmp_path / "2.png", times_s, keys)
