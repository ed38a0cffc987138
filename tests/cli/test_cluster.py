"""`motejoin cluster`, as a user calls it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clustering.contract import Clusters
from clustering.protocols.registry import registered
from scenarios.cli import main
from scenarios.terminal.cluster_plot import cluster_colours

SMALL = ["cluster", "--nodes", "200", "--side", "500", "--range", "60"]


def figures(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    assert main([*SMALL, "--json", *options]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("protocol", [protocol.name for protocol in registered()])
@pytest.mark.parametrize("loss", ["0", "0.4"])
def test_every_protocol_covers_every_mote(
    protocol: str, loss: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = figures(capsys, "--protocol", protocol, "--loss", loss, "--battery", "0.2")
    assert found["protocol"] == protocol
    assert found["nodes"] == 200
    assert found["uncovered"] == 0
    assert sum(found["cluster_sizes"]) == 200
    assert len(found["cluster_sizes"]) == found["heads"]
    assert found["heads_with_no_member"] == found["cluster_sizes"].count(1)
    assert found["bytes"] == 50 * found["messages"]
    assert (found["energy_j"] > 0) == (protocol != "none")


def test_same_seed_same_figures_other_seed_others(capsys: pytest.CaptureFixture[str]) -> None:
    once = figures(capsys, "--seed", "3")
    assert figures(capsys, "--seed", "3") == once
    assert figures(capsys, "--seed", "4")["cluster_sizes"] != once["cluster_sizes"]


def test_full_batteries_take_six_iterations(capsys: pytest.CaptureFixture[str]) -> None:
    assert figures(capsys)["iterations"] == 6
    assert figures(capsys, "--battery", "0.01")["iterations"] > 6


def test_k_means_makes_the_requested_number_of_heads(capsys: pytest.CaptureFixture[str]) -> None:
    found = figures(capsys, "--protocol", "k-means", "--heads", "100")
    assert found["heads"] - found["self_elected"] == 100


def test_levels_have_fewer_heads_each(capsys: pytest.CaptureFixture[str]) -> None:
    levels = figures(capsys, "--upper-range", "150", "--upper-range", "400")["heads_by_level"]
    assert len(levels) == 3
    assert levels[0] > levels[1] > levels[2]


def test_without_json_the_output_is_a_readable_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "--upper-range", "150"]) == 0
    text = capsys.readouterr().out
    for word in ("heads", "iterations", "uncovered", "cluster size", "messages", "levels"):
        assert word in text


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_same_election_gives_the_same_plot(
    ending: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = []
    for second in ("1", "2"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", second)  # would show in the file's date
        path = tmp_path / f"{second}.{ending}"
        figures(capsys, "--plot", str(path))
        drawn.append(path.read_bytes())
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_plot_is_drawn(ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"clusters.{ending}"
    figures(capsys, "--plot", str(path))
    start = path.read_bytes()[:8]
    assert start == b"\x89PNG\r\n\x1a\n" if ending == "png" else start.startswith(b"<?xml")


def test_neighbouring_clusters_have_different_colours() -> None:
    positions_m = np.random.default_rng(1).random((60, 2)) * 100.0
    head = np.arange(60)
    head[50:] = 0
    clusters = Clusters(head, head, head < 0, head, 1)
    colours = cluster_colours(clusters, positions_m)
    assert set(colours[50:].tolist()) == {int(colours[0])}
    for one in range(50):
        off_m = np.hypot(*(positions_m[:50] - positions_m[one]).T)
        near = np.argsort(off_m)[1:7]
        assert colours[one] not in colours[near]


def test_all_bad_arguments_are_named_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    bad = ["--nodes", "0", "--range", "-3", "--loss", "1.5", "--heads", "0", "--p-min", "0"]
    assert main(["cluster", *bad]) == 2
    message = capsys.readouterr().err
    for option in ("--nodes = 0", "--range = -3", "--loss = 1.5", "--heads = 0", "--p-min = 0"):
        assert option in message


@pytest.mark.parametrize(
    ("option", "value", "key"),
    [
        ("--seed", "-1", "seed"),
        ("--seed", str(2**63), "seed"),
        ("--loss", "1.0", "radio.loss"),
        ("--loss", "nan", "radio.loss"),
        ("--nodes", "1000001", "motes.count"),
        ("--range", "2e9", "clustering.range_m"),
        ("--c-prob", "1.5", "clustering.c_prob"),
        ("--hops", "17", "clustering.hops_max"),
        ("--heads", "0", "clustering.expected_heads"),
    ],
)
def test_limits_and_messages_are_those_of_a_run(
    option: str, value: str, key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cluster", f"{option}={value}"]) == 2
    of_cluster = capsys.readouterr().err
    out = str(tmp_path / "run")
    assert main(["run", "gas-cloud-small", "--set", f"{key}={value}", "--out", out]) == 2
    assert of_cluster == capsys.readouterr().err.replace(f"gas-cloud-small: {key} ", f"{option} ")


@pytest.mark.parametrize("protocol", ["k-means", "leach"])
def test_more_heads_than_motes_are_rejected(
    protocol: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--protocol", protocol, "--heads"]
    assert figures(capsys, *options, "200")["nodes"] == 200
    assert main([*SMALL, *options, "201"]) == 2
    assert capsys.readouterr().err == "--heads = 201: expected at most --nodes = 200\n"


@pytest.mark.parametrize(
    "options",
    [
        ["--upper-range", "50"],
        ["--protocol", "dca", "--upper-range", "400"],
        ["--plot", "clusters.xyz"],
        ["--plot", "no/such/folder/clusters.png"],
    ],
)
def test_unusable_options_are_reported_by_name(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SMALL, *options]) == 2
    assert options[-2] in capsys.readouterr().err


def test_help_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["cluster", "--help"])
    assert "motejoin cluster --protocol heed --nodes 1000" in capsys.readouterr().out
