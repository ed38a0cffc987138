"""`motejoin compare`: tables, figures, and what goes to stdout and stderr."""

import argparse
import csv
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from matplotlib.container import BarContainer

from analysis.compare.compare_runs import compare
from analysis.compare.run_plots import comparison_figures, draw_comparison
from analysis.metrics.number_format import short
from scenarios.commands.compare import add_arguments, metrics_table
from sim.errors import InputError, TraceError
from sim.trace.kinds import CONTROL_KINDS
from sim.trace.manifest import Status
from tests.support.run_directories import random_run, write_run

CONTRACT = [
    "run",
    "strategy",
    "protocol",
    "motes",
    "seed",
    "messages",
    "bytes",
    "bytes_per_s",
    "control_bytes",
    "energy_j",
    "first_dead_s",
    "half_dead_s",
    "last_dead_s",
    "output_rate",
    "tuple_width",
    "delay_ms",
    "drop_rate",
    "probes_per_reading",
    "probe_usefulness",
    "recall",
    "clusters",
]


def arguments(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args([*words])


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_compare_writes_the_same_numbers_as_csv_and_parquet_and_draws_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    later = random_run(16).write(tmp_path / "z-first-given", seed=3)
    # Only traffic recorded: all else must be not defined, never 0.
    thin = write_run(
        tmp_path / "a-thin", {"traffic": [(0, 0, "head", 2, 40, 0, 0, 0, 2)]}, tables=["traffic"]
    )
    unfinished = write_run(tmp_path / "unfinished", {}, status=Status.RUNNING)
    out = tmp_path / "new" / "out"
    args = arguments(str(later), str(unfinished), str(thin), "--out", str(out))
    assert args.run(args) == 1, "a directory was left out"
    shown = capsys.readouterr()
    assert "z-first-given" in shown.out
    assert str(unfinished) in shown.err
    assert str(unfinished) not in shown.out

    table = pq.read_table(out / "metrics.parquet").to_pylist()
    with (out / "metrics.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [row["run"] for row in table] == ["z-first-given", "a-thin"], "the order given"
    for row, line in zip(table, lines, strict=True):
        assert line == {key: "" if cell is None else str(cell) for key, cell in row.items()}
        assert set(CONTRACT) <= row.keys()
        for what in ("bytes", "messages"):
            by_kind = [
                cell
                for key, cell in row.items()
                if key.startswith(f"{what}_") and key != f"{what}_per_s"
            ]
            assert sum(by_kind) == row[what]
    assert table[1]["bytes"] == table[1]["bytes_head"] == table[1]["control_bytes"] == 40
    assert table[1]["messages"] == table[1]["messages_head"] == 2
    for metric in ("energy_j", "output_rate", "drop_rate", "recall", "clusters", "dead", "owed"):
        assert table[1][metric] is None, metric

    names = {file.name for file in out.iterdir()}
    figures = {
        f"{name}.{end}"
        for name in ("traffic", "energy", "overview")
        for end in ("png", "svg", "pdf")
    }
    assert names == {"metrics.csv", "metrics.parquet", "index.html", "captions.md", *figures}


def test_no_complete_run_is_an_error_and_leaves_no_directory(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="no complete run"):
        compare([tmp_path / "gone"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_output_that_is_a_file_is_an_error_before_any_work(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {})
    taken = tmp_path / "taken"
    taken.write_text("mine")
    with pytest.raises(InputError, match="taken"):
        compare([run], taken)
    assert taken.read_text() == "mine"


def metrics_row(run: str) -> dict[str, Any]:
    shown = dict.fromkeys(CONTRACT, 0.5) | {"coverage": None, "run": run}
    causes = dict.fromkeys(
        [
            "tx_j",
            "rx_j",
            "idle_j",
            "cpu_j",
            "sense_j",
            "overhear_j",
            "sleep_j",
        ],
        None,
    )
    return shown | causes


@pytest.mark.parametrize("count", [1, 2, 70])
def test_figures_are_drawn_for_few_runs_and_for_many(count: int, tmp_path: Path) -> None:
    rows = [metrics_row(f"a rather long name of a run directory {i}") for i in range(count)]
    drawn = draw_comparison(rows, [{"reading": 3.0}] * count, tmp_path)
    assert all(file.stat().st_size > 1000 for files in drawn.values() for file in files)


def test_the_kinds_of_traffic_have_different_colours() -> None:
    data = ("reading", "probe", "result", "feedback", "ack", "data", "handover", "mac-ack")
    sent = dict.fromkeys((*data, *CONTROL_KINDS), 2.0)
    (axes,) = comparison_figures([metrics_row("run")], [sent])["traffic"].axes
    bars = {bar.get_label(): bar for bar in axes.containers if isinstance(bar, BarContainer)}
    assert set(bars) == {*data, "elections"}
    assert len({bar.patches[0].get_facecolor() for bar in bars.values()}) == len(bars)
    assert bars["elections"].patches[0].get_width() == pytest.approx(2.0 * len(CONTROL_KINDS))


def test_figures_of_the_same_numbers_are_the_same_files(tmp_path: Path) -> None:
    drawn = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        figures = draw_comparison([metrics_row("run")], [{"reading": 3.0}], tmp_path / name)
        drawn.append([file.read_bytes() for files in figures.values() for file in files])
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("count", [5, 6], ids=["a column per run", "a line per run"])
def test_table_shows_every_run(count: int) -> None:
    header, rows = metrics_table([metrics_row(f"run-{i}") for i in range(count)], ["recall"])
    named = header if count == 5 else ["run", *(row[0] for row in rows)]
    assert named == ["run", *(f"run-{i}" for i in range(count))]
    assert all(len(row) == len(header) for row in rows)
    assert "recall" in (header if count == 6 else [row[0] for row in rows])


def test_table_shows_what_was_asked_for_where_runs_differ_in_it() -> None:
    rows = [metrics_row(f"run-{i}") | {"answer": "sets", "delay_s": 0.0} for i in range(2)]
    _, lines = metrics_table(rows, ["recall"])
    assert "answer" not in [line[0] for line in lines]
    rows[1]["delay_s"] = 1.0
    _, lines = metrics_table(rows, ["recall"])
    assert ["answer", "sets", "sets"] in lines
    assert ["delay allowed (s)", "0", "1"] in lines


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (9999.6, "10,000"),
        (-9999.6, "-10,000"),
        (0.99996, "0.99996"),
        (1.0, "1"),
        (1.00001, "1"),
        (0.12345, "0.1235"),
        (-0.99999, "-0.99999"),
        (9999.4, "9,999"),
        (123456.7, "123,457"),
        (0.0, "0"),
    ],
)
def test_short_number_never_rounds_a_share_up_to_one(value: float, text: str) -> None:
    assert short(value, digits=4) == text
