"""Addresses of object stores where they can be used, and one line where they cannot."""

from pathlib import Path

import pytest

from tests.support.runs import fails


@pytest.mark.parametrize(
    "words",
    [
        ["run", "gas-cloud-small", "--out", "s3://bucket/run"],
        ["compare", "runs/a", "--out", "s3://bucket/comparison"],
        ["ask", "sweeps/a", "--minimise", "bytes", "--out", "gs://bucket/answer"],
        ["report", "runs/a", "--out", "s3://bucket/page.html"],
        ["report", "runs/a", "--animate", "s3://bucket/cloud.gif"],
    ],
    ids=lambda words: f"{words[0]} {words[-2]}",
)
def test_where_a_folder_is_needed_an_address_is_refused(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    message = fails(capsys, *words)
    assert "://bucket/" in message
    assert "expected a folder here" in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("address", ["hdfs://name:8020/x", "http://host/x"])
def test_stores_that_cannot_be_used_are_refused_with_those_that_can(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    message = fails(capsys, "sweep", "feedback-small", "--out", address)
    assert f"{address}: expected a path, or an address that begins with one of s3://" in message


def test_a_report_of_a_run_in_a_store_needs_a_place(capsys: pytest.CaptureFixture[str]) -> None:
    message = fails(capsys, "report", "s3://bucket/run")
    assert "s3://bucket/run: expected --out" in message
