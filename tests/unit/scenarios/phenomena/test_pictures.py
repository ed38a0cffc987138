from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from scenarios.phenomena.contract import Surroundings
from scenarios.phenomena.gas.cloud import GasCloud
from scenarios.phenomena.gas.pictures import cloud_figure, draw_cloud
from scenarios.phenomena.registry import build_phenomenon, phenomenon_tables
from sim.rng import RandomStreams

FIELD_M = (200.0, 100.0)
table_of: TypeAdapter[Any] = TypeAdapter(phenomenon_tables())


def scattered_m() -> NDArray[np.float64]:
    return RandomStreams(1).vector("test.positions").uniform(0.0, FIELD_M, (300, 2))


def cloud(positions_m: NDArray[np.float64], keys: dict[str, Any]) -> GasCloud:
    phenomenon = build_phenomenon(
        table_of.validate_python({"kind": "gas-cloud", **keys}),
        Surroundings(
            positions_m=positions_m,
            field_m=FIELD_M,
            streams=RandomStreams(1),
            base_dir=Path(),
        ),
    )
    assert isinstance(phenomenon, GasCloud)
    return phenomenon


def drawn(path: Path, times_s: list[float], keys: dict[str, Any]) -> bytes:
    phenomenon = cloud(scattered_m(), keys)
    draw_cloud(phenomenon, scattered_m(), times_s, path, title="a cloud")
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


def test_a_mote_inside_two_gases_counts_once() -> None:
    leaks = [
        {"gas": gas, "x_m": 100.0, "y_m": 50.0, "rate_g_per_s": 500.0}
        for gas in ("ammonia", "chlorine")
    ]
    phenomenon = cloud(scattered_m(), {"source": leaks})
    inside = [set(motes.tolist()) for motes in phenomenon.truth(60_000_000).values()]
    assert inside[0] & inside[1]
    figure = cloud_figure(phenomenon, scattered_m(), [60.0])
    share = len(inside[0] | inside[1]) / 300
    assert figure.axes[0].get_title() == f"60 s: {share:.1%} of motes inside"


def test_a_picture_holds_the_field_and_the_motes_outside_it() -> None:
    places_m = np.array([(-20.0, 50.0), (100.0, 130.0), (50.0, 50.0)])
    (axes, *_) = cloud_figure(cloud(places_m, {}), places_m, [60.0]).axes
    assert (axes.get_xlim(), axes.get_ylim()) == ((-20.0, 200.0), (0.0, 130.0))
