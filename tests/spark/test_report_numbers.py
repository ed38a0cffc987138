"""The numbers of a report are those of `motejoin compare`, digit for digit."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import motejoin as mj
from analysis.metrics.registry import METRICS, figure
from tests.support.checkers.report_page import Page

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHOWN = (
    "detection_delay_s",
    "coverage",
    "false_alarms",
    "misses",
    "results",
    "recall",
    "tuple_width",
    "delay_ms",
    "probes_per_reading",
    "bytes_per_s",
    "messages_per_s",
    "control_bytes",
    "energy_j",
    "dead",
    "drop_rate",
)


@pytest.mark.spark
@pytest.mark.slow
def test_the_page_shows_what_compare_computes(tmp_path: Path, spark: "SparkSession") -> None:
    del spark  # its session is the one that compare finds
    lossy = {"radio.loss": 0.1, "motes.battery_j": 0.1, "duration_s": 60.0}
    run = mj.run("gas-cloud-small", set=lossy, out=tmp_path / "run")
    (row,) = mj.compare([run]).metrics.to_pylist()
    words = Page(run.report().read_text(encoding="utf-8")).words
    for name in SHOWN:
        assert row[name] is not None, name
        assert words[words.index(METRICS[name].title) + 1] == figure(name, row[name]), name
    for name, value in run.metrics.items():
        expected = pytest.approx(row[name], rel=1e-12) if isinstance(value, float) else row[name]
        assert value == expected, name
