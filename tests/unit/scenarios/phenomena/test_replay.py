import gzip
import hashlib
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from scenarios.phenomena.contract import NOTHING, Surroundings
from scenarios.phenomena.registry import build_phenomenon, phenomenon_tables, recorded_positions_m
from scenarios.phenomena.replay.columns import times_s
from scenarios.phenomena.replay.readings import Replay
from sim.errors import InputError
from sim.rng import RandomStreams
from tests.support.requirements import recorded_file

table_of: TypeAdapter[Any] = TypeAdapter(phenomenon_tables())
LONG = """time,node,value
0,a,0.5
0,b,1.0
1,a,2.0
2,b,9.0
3,a,0.1
"""
WIDE = """t;C_1;C_2;wind
0;0.5;1.0;3
1;2.0;;3
2;;9.0;3
3;0.1;;3
"""
WIDE_KEYS = {"layout": "wide", "time_column": "t", "delimiter": ";"}


def replay(
    folder: Path, content: str | bytes, *, name: str = "r.csv", motes: int = 2, **keys: object
) -> Replay:
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    phenomenon = build_phenomenon(
        table_of.validate_python({"kind": "replay", "file": name, **keys}),
        Surroundings(
            positions_m=np.zeros((motes, 2)),
            field_m=(10.0, 10.0),
            streams=RandomStreams(1),
            base_dir=folder,
        ),
    )
    assert isinstance(phenomenon, Replay)
    return phenomenon


def levels(phenomenon: Replay, node: int, at_s: list[float]) -> list[float]:
    times_us = np.round(np.array(at_s) * 1e6).astype(np.int64)
    samples = phenomenon.sample(np.full(len(at_s), node), times_us)
    return [-1.0 if np.isnan(level) else float(level) for level in samples.levels]


def test_a_reading_holds_until_the_next_of_its_node(tmp_path: Path) -> None:
    phenomenon = replay(tmp_path, LONG)
    assert levels(phenomenon, 0, [0.0, 0.9, 1.0, 2.9, 3.0, 8.0]) == [0.5, 0.5, 2.0, 2.0, 0.1, 0.1]
    assert levels(phenomenon, 1, [0.0, 1.9, 2.0, 5.0]) == [1.0, 1.0, 9.0, 9.0]


def test_the_wide_layout_gives_what_the_long_one_does(tmp_path: Path) -> None:
    times_s = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5]
    long = replay(tmp_path, LONG)
    wide = replay(tmp_path, WIDE, layout="wide", time_column="t", node_prefix="C_", delimiter=";")
    for node in (0, 1):
        assert levels(wide, node, times_s) == levels(long, node, times_s)
    assert wide.recording.nodes == ("C_1", "C_2")
    assert wide.recording.counts["missing"] == 3


def test_columns_may_have_any_names(tmp_path: Path) -> None:
    long = replay(tmp_path, LONG)
    renamed = LONG.replace("time,node,value", "when,who,what")
    keys: dict[str, Any] = {"time_column": "when", "node_column": "who", "value_column": "what"}
    assert levels(replay(tmp_path, renamed, **keys), 1, [0.0, 2.0]) == levels(long, 1, [0.0, 2.0])
    keys = {"layout": "wide", "time_column": "t", "delimiter": ";"}
    swapped = replay(tmp_path, WIDE, **keys, node_columns=["C_2", "C_1"])
    assert swapped.recording.nodes == ("C_2", "C_1")
    assert levels(swapped, 0, [0.0, 2.0]) == levels(long, 1, [0.0, 2.0])


def test_parquet_and_packed_files_give_what_plain_text_does(tmp_path: Path) -> None:
    plain = replay(tmp_path, LONG)
    columns = {
        "time": pa.array([0, 0, 1, 2, 3]),
        "node": pa.array(["a", "b", "a", "b", "a"]),
        "value": pa.array([0.5, 1.0, 2.0, 9.0, 0.1]),
    }
    pq.write_table(pa.table(columns), tmp_path / "r.parquet")
    packed = replay(tmp_path, gzip.compress(LONG.encode()), name="r.csv.gz")
    parquet = replay(tmp_path, (tmp_path / "r.parquet").read_bytes(), name="s.parquet")
    for other in (packed, parquet):
        assert other.recording.reading.tolist() == plain.recording.reading.tolist()
        assert other.recording.at_us.tolist() == plain.recording.at_us.tolist()
        assert other.recording.nodes == plain.recording.nodes


def test_readings_become_levels_from_the_threshold_on(tmp_path: Path) -> None:
    phenomenon = replay(tmp_path, LONG, threshold=1.0, levels=3, level_ratio=2.0)
    times_us = np.array([0, 0, 1, 2, 3]) * 1_000_000
    values = phenomenon.sample(np.array([0, 1, 0, 1, 0]), times_us).values
    assert values.tolist() == [NOTHING, 1, 2, 3, NOTHING]
    assert phenomenon.labels() == {1: "level 1", 2: "level 2", 3: "level 3"}
    assert phenomenon.truth(2_000_000)["gas"].tolist() == [0, 1]
    assert phenomenon.truth(3_000_000)["gas"].tolist() == [1]


def test_scale_comes_before_the_threshold(tmp_path: Path) -> None:
    phenomenon = replay(tmp_path, LONG, threshold=1.0, scale=3.0)
    assert levels(phenomenon, 0, [0.0]) == [1.5]
    assert phenomenon.truth(0)["gas"].tolist() == [0, 1]


def test_whole_numbers_can_be_joined_as_recorded(tmp_path: Path) -> None:
    phenomenon = replay(tmp_path, LONG, value="recorded", attribute="badge")
    times_us = np.array([0, 0, 1, 2]) * 1_000_000
    assert phenomenon.sample(np.array([0, 1, 0, 1]), times_us).values.tolist() == [NOTHING, 1, 2, 9]
    assert phenomenon.attribute == "badge"
    assert phenomenon.truth(0) == {}


def test_a_gap_is_sensed_as_nothing_and_counted(tmp_path: Path) -> None:
    phenomenon = replay(tmp_path, "time,node,value\n0,a,5\n100,a,6\n101,a,7\n", motes=1, hold_s=3.0)
    assert levels(phenomenon, 0, [3.0, 3.1, 99.9, 100.0, 104.0]) == [5.0, -1.0, -1.0, 6.0, 7.0]
    assert levels(phenomenon, 0, [104.1]) == [-1.0]
    assert phenomenon.recording.counts["gaps"] == 1


def test_bad_rows_are_skipped_and_counted(tmp_path: Path) -> None:
    content = "time,node,value\n0,a,5\nsoon,a,6\n1,,6\n2,a,high\n3,a,\n4,a\n5,a,nan\n7,a,8\n6,a,7\n7,a,9\n"
    phenomenon = replay(tmp_path, content, motes=1)
    assert phenomenon.recording.reading.tolist() == [5.0, 7.0, 9.0]
    assert phenomenon.recording.counts == {
        "readings": 3,
        "bad": 5,
        "missing": 1,
        "unknown": 0,
        "unordered": 1,
        "repeated": 1,
        "gaps": 0,
    }


def test_times_may_be_dates(tmp_path: Path) -> None:
    content = (
        "time,node,value\n2004-02-28 00:59:16.5,7,5\n2004-02-28T01:00:16.02785,7,6\nnever,7,1\n"
    )
    phenomenon = replay(tmp_path, content, motes=1)
    assert phenomenon.recording.at_us.tolist() == [0, 59_527_850]
    assert phenomenon.recording.counts["bad"] == 1


offsets: st.SearchStrategy[Any] = st.integers(-1439, 1439).map(
    lambda minutes: timezone(timedelta(minutes=minutes))
)


@given(
    st.lists(
        st.one_of(
            st.datetimes(
                datetime(1700, 1, 1),
                datetime(2200, 1, 1),
                timezones=st.none() | offsets,
            ).map(str),
            st.from_regex(
                r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", fullmatch=True
            ),
        ),
        min_size=1,
    )
)
def test_dates_are_read_one_by_one_as_python_reads_them(texts: list[str]) -> None:
    found_s, known = times_s(pa.chunked_array([pa.array(texts)]), 1.0)
    for text, at_s, legible in zip(texts, found_s.tolist(), known.tolist(), strict=True):
        try:
            expected = datetime.fromisoformat(text)
        except ValueError:
            assert not legible
        else:
            utc = expected if expected.tzinfo else expected.replace(tzinfo=UTC)
            assert legible
            assert at_s == pytest.approx(utc.timestamp(), abs=2e-6)


def test_impossible_dates_are_bad_rows(tmp_path: Path) -> None:
    times = ["2020-02-29 00:00:00", "2020-13-01 00:00:00", "2020-02-30 00:00:00"]
    times += ["2020-02-29 25:00:00", "9999-01-01 00:00:00", "2020-02-29 01:00:07+01:00"]
    content = "time,node,value\n" + "".join(f"{time},a,{n}\n" for n, time in enumerate(times))
    recording = replay(tmp_path, content, motes=1).recording
    assert (recording.at_us.tolist(), recording.reading.tolist()) == ([0, 7_000_000], [0.0, 5.0])
    assert recording.counts["bad"] == 4


def test_parquet_columns_of_many_types_are_times(tmp_path: Path) -> None:
    seconds = [1_700_000_000, 1_700_172_800]
    stamps = pa.array(seconds).cast(pa.timestamp("s"))
    columns = {
        "large": pa.array([second * 10**9 + 1 for second in seconds]),
        "stamps": stamps.cast(pa.timestamp("ms", tz="Europe/Berlin")),
        "lengths": pa.array(seconds).cast(pa.duration("s")),
        "dates": stamps.cast(pa.date32()),
        "words": pa.array([str(second) for second in seconds]).dictionary_encode(),
    }
    for name, times in columns.items():
        table = pa.table({"time": times, "node": ["a", "a"], "value": [1, 2]})
        pq.write_table(table, tmp_path / f"{name}.parquet")
        content = (tmp_path / f"{name}.parquet").read_bytes()
        unit_s = 1e-9 if name == "large" else 1.0
        recording = replay(
            tmp_path, content, name=f"{name}.parquet", motes=1, time_unit_s=unit_s
        ).recording
        assert recording.at_us.tolist() == pytest.approx([0, 172_800_000_000], abs=1), name


def test_a_damaged_parquet_page_is_told_by_the_name_of_its_file(tmp_path: Path) -> None:
    table = pa.table({"time": range(5_000), "node": ["a"] * 5_000, "value": range(5_000)})
    pq.write_table(table, tmp_path / "whole.parquet")
    damaged = bytearray((tmp_path / "whole.parquet").read_bytes())
    damaged[4:3_000] = b"\xff" * 2_996
    with pytest.raises(InputError, match=r"r\.parquet: cannot be read"):
        replay(tmp_path, bytes(damaged), name="r.parquet", motes=1)


def test_start_speed_and_unit_map_recorded_to_simulated_time(tmp_path: Path) -> None:
    content = "time,node,value\n500,a,1\n1500,a,2\n2500,a,3\n"
    phenomenon = replay(
        tmp_path, content, motes=1, time_unit_s=0.001, start_s=1.0, speed=2.0, hold_s=5.0
    )
    assert phenomenon.recording.at_us.tolist() == [-500_000, 0, 500_000]
    # Five recorded seconds are two and a half simulated ones.
    assert levels(phenomenon, 0, [0.0, 0.5, 3.0, 3.1]) == [2.0, 3.0, 3.0, -1.0]


def test_nodes_of_a_long_file_are_ordered_by_number(tmp_path: Path) -> None:
    content = "time,node,value\n0,10,1\n0,9,1\n0,1,1\n"
    assert replay(tmp_path, content, motes=3).recording.nodes == ("1", "9", "10")


def test_places_give_order_and_positions_and_leave_out_others(tmp_path: Path) -> None:
    places = [{"node": "b", "x_m": 1.0, "y_m": 2.0}]
    phenomenon = replay(tmp_path, LONG, motes=1, place=places)
    assert phenomenon.recording.nodes == ("b",)
    assert phenomenon.recording.counts["unknown"] == 3
    table = table_of.validate_python({"kind": "replay", "file": "r.csv", "place": places})
    positions_m = recorded_positions_m(table, base_dir=tmp_path)
    assert positions_m is not None
    assert positions_m.tolist() == [[1.0, 2.0]]


def test_positions_come_from_a_file_or_from_columns(tmp_path: Path) -> None:
    (tmp_path / "places.csv").write_text("node,x_m,y_m\nb,1,2\na,3,4\n")
    by_file = replay(tmp_path, LONG, places_file="places.csv")
    assert by_file.recording.nodes == ("b", "a")
    assert by_file.recording.positions_m is not None
    assert by_file.recording.positions_m.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    content = "time,node,value,x,y\n0,a,1,3,4\n0,b,1,1,2\n1,a,1,9,9\n"
    by_column = replay(tmp_path, content, x_column="x", y_column="y")
    assert by_column.recording.positions_m is not None
    assert by_column.recording.positions_m.tolist() == [[3.0, 4.0], [1.0, 2.0]]
    assert set(by_file.inputs()) == {"r.csv", "places.csv"}


def test_the_places_in_a_file_name_the_columns_of_a_wide_recording(tmp_path: Path) -> None:
    (tmp_path / "places.csv").write_text("node,x_m,y_m\nC_2,1,2\n")
    for keys in ({}, {"node_prefix": "C_"}):
        phenomenon = replay(tmp_path, WIDE, motes=1, **WIDE_KEYS, places_file="places.csv", **keys)
        assert phenomenon.recording.nodes == ("C_2",)
        assert levels(phenomenon, 0, [0.0, 2.0]) == [1.0, 9.0]
        assert phenomenon.recording.positions_m is not None
        assert phenomenon.recording.positions_m.tolist() == [[1.0, 2.0]]


def test_a_column_without_readings_keeps_its_mote(tmp_path: Path) -> None:
    content = "time,C_1,C_2\n0,,5\n1,,6\n"
    phenomenon = replay(tmp_path, content, layout="wide", node_prefix="C_")
    assert phenomenon.recording.nodes == ("C_1", "C_2")
    assert levels(phenomenon, 0, [1.0]) == [-1.0]
    assert levels(phenomenon, 1, [1.0]) == [6.0]


def test_a_node_senses_nothing_before_its_first_reading(tmp_path: Path) -> None:
    phenomenon = replay(tmp_path, "time,node,value\n0,a,3\n1,a,4\n2,b,5\n")
    assert levels(phenomenon, 1, [0.0, 1.9, 2.0]) == [-1.0, -1.0, 5.0]


def test_inputs_are_named_with_their_digests(tmp_path: Path) -> None:
    expected = hashlib.blake2b(LONG.encode()).hexdigest()
    assert replay(tmp_path, LONG).inputs() == {"r.csv": expected}


@pytest.mark.parametrize(
    ("content", "keys", "expected"),
    [
        ("t,node,value\n0,a,1\n", {}, "expected a column 'time'; its columns are: t, node, value"),
        ("time,node,value\n", {}, "expected at least one usable reading"),
        (LONG, {"motes": 3}, "it has 2, the scenario 3"),
        (b"\xff\xfe\x00", {}, "is not utf-8 text"),
        (LONG, {"encoding": "klingon"}, "expected a text encoding"),
        (LONG, {"layout": "wide", "node_prefix": "Q"}, "expected columns that begin with 'Q'"),
        (b"not gzip", {"name": "r.csv.gz"}, "expected a whole gzip file"),
        (b"not parquet", {"name": "r.parquet"}, "expected a Parquet file"),
        (LONG, {"node_column": "value"}, "expected different columns, found 'value' twice"),
        (
            WIDE,
            {**WIDE_KEYS, "node_columns": ["C_1", "C_1"]},
            "expected different columns, found 'C_1' twice",
        ),
        (
            WIDE,
            {**WIDE_KEYS, "node_columns": ["C_1", "t"]},
            "expected different columns, found 't' twice",
        ),
        ("time,node,value,value\n0,a,1,2\n", {}, "expected different columns, found 'value'"),
    ],
    ids=[
        "column",
        "empty",
        "motes",
        "bytes",
        "encoding",
        "prefix",
        "gzip",
        "parquet",
        "same column",
        "wide column twice",
        "wide time as a node",
        "header twice",
    ],
)
def test_files_that_cannot_be_used_are_refused_with_what_was_expected(
    tmp_path: Path, content: str | bytes, keys: dict[str, Any], expected: str
) -> None:
    with pytest.raises(InputError, match=expected):
        replay(tmp_path, content, **keys)


def test_a_missing_file_is_refused_by_its_name(tmp_path: Path) -> None:
    table = table_of.validate_python({"kind": "replay", "file": "none.csv"})
    with pytest.raises(InputError, match=r"none\.csv: cannot be read: No such file"):
        recorded_positions_m(table, base_dir=tmp_path)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"x_column": "x"}, "expected both x_column and y_column"),
        ({"layout": "wide"}, "expected node_columns, node_prefix or places"),
        (
            {"places_file": "p.csv", "x_column": "x", "y_column": "y"},
            "expected positions given one way",
        ),
        ({"place": [{"node": "a", "x_m": 0.0, "y_m": 0.0}] * 2}, "each place's node once"),
    ],
    ids=["x only", "wide", "two ways", "twice"],
)
def test_keys_that_do_not_fit_are_faults(keys: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        table_of.validate_python({"kind": "replay", **keys})


def test_a_recorded_gas_release_is_replayed() -> None:
    table = table_of.validate_python(
        {
            "kind": "replay",
            "file": str(recorded_file("orebro3dsen", "Exp05.csv.gz")),
            "layout": "wide",
            "encoding": "mac_roman",
            "time_column": "# t (s)",
            "node_prefix": "C_",
            "threshold": 10.0,
            "levels": 5,
        }
    )
    phenomenon = build_phenomenon(
        table,
        Surroundings(
            positions_m=np.zeros((27, 2)),
            field_m=(6.0, 4.6),
            streams=RandomStreams(1),
            base_dir=Path(),
        ),
    )
    assert isinstance(phenomenon, Replay)
    recording = phenomenon.recording
    assert recording.nodes[0] == "C_000 (ppm)"
    assert len(recording.nodes) == 27
    assert recording.counts["readings"] == 27 * 11_892
    assert 300.0 < recording.reading.max() < 400.0
    everyone = np.arange(27)
    assert not phenomenon.truth(0)["gas"].size
    most = max(phenomenon.truth(minute * 60_000_000)["gas"].size for minute in range(99))
    assert most > 20
    samples = phenomenon.sample(everyone, np.full(27, 2_000_000_000))
    assert len(set(samples.values.tolist())) > 1
