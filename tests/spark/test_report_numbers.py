"""The numbers of a report are those of `motejoin compare`, digit for digit."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import motejoin as mj
from analysis.metrics.registry import METRICS, cell, figure
from analysis.report.comparison import COMPARED
from analysis.report.page import write_report
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
    "tx_j",
    "rx_j",
    "hottest_radio_j",
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
    other = mj.run(
        "gas-cloud-small", set=lossy | {"join.strategy": "centralised"}, out=tmp_path / "other"
    )
    (beside,) = mj.compare([other]).metrics.to_pylist()
    page = tmp_path / "both.html"
    write_report(run.directory, page, baseline=other.directory)
    shown = {cells[0]: cells[1:3] for cells in Page(page.read_text(encoding="utf-8")).rows}
    for name in COMPARED:
        both = [cell(name, row[name]), cell(name, beside[name])]
        assert (row[name] is None) == (METRICS[name].heading not in shown), name
        assert row[name] is None or shown[METRICS[name].heading] == both, name
    for name, value in run.metrics.items():
        expected = pytest.approx(row[name], rel=1e-12) if isinstance(value, float) else row[name]
        assert value == expected, name
