"""One run of a sweep: written aside, committed once, failures as values."""

import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from analysis.store.commit import recover
from analysis.store.opening import store_at
from analysis.trace.run_check import check_run
from scenarios.files.shipped import shipped_scenarios
from scenarios.schema.load import parse_toml
from scenarios.sweep.task import (
    ATTEMPTS_MAX,
    Failure,
    Job,
    TimeLimitError,
    Workshop,
    time_limit,
)
from sim.trace.manifest import read_complete

SETTINGS: dict[str, Any] = {"duration_s": 15.0, "motes.count": 10, "trace.tables": ["traffic"]}


def workshop(runs_dir: Path, timeout_s: float | None = None) -> Workshop:
    content = parse_toml(shipped_scenarios()["gas-cloud-small"], "test")
    return Workshop(content, "test", str(runs_dir), runs_dir, timeout_s, False, True, "session")


def left(runs_dir: Path) -> list[str]:
    """What there is when the driver has ended."""
    recover(store_at(runs_dir))
    return [path.name for path in runs_dir.iterdir()]


def test_a_run_stands_in_its_place_and_nothing_beside_it(tmp_path: Path) -> None:
    outcome = workshop(tmp_path).run(Job("point-3", SETTINGS, 3), attempt=0)
    assert outcome.failure is None, outcome.error
    assert left(tmp_path) == ["point-3"]
    manifest = read_complete(tmp_path / "point-3")
    assert (manifest.seed, manifest.scenario["seed"], manifest.scenario["duration_s"]) == (3, 3, 15)


def test_the_second_of_two_attempts_leaves_the_first_one_s_run(tmp_path: Path) -> None:
    job = Job("point-3", SETTINGS, 3)
    workshop(tmp_path).run(job, attempt=0)
    inode = (tmp_path / "point-3").stat().st_ino
    assert workshop(tmp_path).run(job, attempt=1).failure is None
    assert (tmp_path / "point-3").stat().st_ino == inode
    assert left(tmp_path) == ["point-3"]


def test_two_attempts_at_once_leave_one_whole_run(tmp_path: Path) -> None:
    """As Spark has them when it repeats a task that it takes for dead or slow."""
    job = Job("point-3", SETTINGS, 3)
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        tries = [pool.submit(workshop(tmp_path).run, job, attempt) for attempt in (0, 1)]
        assert [each.result().failure for each in tries] == [None, None]
    assert left(tmp_path) == ["point-3"]
    alone = workshop(tmp_path / "alone")
    (tmp_path / "alone").mkdir()
    assert alone.run(job, attempt=0).failure is None
    expected = read_complete(tmp_path / "alone" / "point-3").fingerprint
    assert check_run(tmp_path / "point-3").fingerprint == expected


def test_what_is_in_the_way_and_not_a_run_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "point-3").write_text("mine")
    outcome = workshop(tmp_path).run(Job("point-3", SETTINGS, 3), attempt=0)
    assert outcome.failure is Failure.ERROR
    assert "Traceback" in outcome.detail
    assert (tmp_path / "point-3").read_text() == "mine"


def test_a_run_is_given_up_when_its_process_died_too_often(tmp_path: Path) -> None:
    outcome = workshop(tmp_path).run(Job("point-3", SETTINGS, 3), attempt=ATTEMPTS_MAX)
    assert outcome.failure is Failure.DIED
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    job = Job("point-3", SETTINGS | {"duration_s": 1e7}, 3)
    outcome = workshop(tmp_path, timeout_s=0.5).run(job, attempt=0)
    assert outcome.failure is Failure.TIMEOUT
    assert "0.5 s" in outcome.error
    assert list(tmp_path.iterdir()) == []


def test_a_time_limit_is_raised_again_if_it_was_swallowed() -> None:
    def stubborn() -> None:
        with time_limit(0.05):
            with suppress(TimeLimitError):
                time.sleep(10)
            time.sleep(10)

    with pytest.raises(TimeLimitError):
        stubborn()


def test_a_time_limit_that_is_kept_leaves_no_alarm_behind() -> None:
    with time_limit(0.05):
        pass
    time.sleep(0.1)
