"""The files that cases read: made from a fixed seed by arithmetic that is exact everywhere."""

import csv
import random
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

LAB_MOTES: Final = 18
LAYER: Final = ("00", "01", "02", "10", "11", "12", "20", "21", "22")
ROOM_NODES: Final = tuple(
    f"C_{layer}{place[0]}{place[1]} (ppm)" for layer in "012" for place in LAYER
)
FUNCTIONS_MODULE: Final = "golden_functions"
FUNCTIONS: Final = """def near(first: int, second: int) -> bool:
    return abs(first - second) <= 1
"""
PROFILE: Final = """title = "Between MICAz and TelosB"
voltage_v = 3.3
[radio]
bit_rate_per_s = 100_000
header_bytes = 9
payload_bytes_max = 40
turnaround_us = 150
receive_ma = 12.0
listen_ma = 11.0
sleep_ua = 2.0
modulation = "fsk-nrz"
sensitivity_dbm = -98.0
noise_dbm = -105.0
cca_dbm = -80.0
default_dbm = 5.0
levels = [[1, -10.0, 9.0], [2, 0.0, 14.0], [3, 5.0, 20.0]]
[mac]
backoff_us = 400
cca_us = 200
min_be = 2
max_be = 4
max_backoffs = 3
retries = 2
ack_bytes = 8
ack_wait_us = 900
spacing_us = 500
[cpu]
active_ma = 3.0
idle_ma = 0.1
sleep_ua = 4.0
[sensor]
sample_uj = 15.0
[battery]
mah = 1500.0
"""


def write_inputs(folder: Path) -> None:
    """Write every file that a case names."""
    draw = random.Random(20_051)
    _write_lab(folder, draw)
    _write_recordings(folder, draw)
    sys.modules.pop(FUNCTIONS_MODULE, None)  # as loaded from an earlier folder of this process
    (folder / f"{FUNCTIONS_MODULE}.py").write_text(FUNCTIONS)
    (folder / "mote.toml").write_text(PROFILE)
    watched = [("node", "at_us", "change"), (3, "", "+"), (4, "", "+"), (5, 9_000_000, "+")]
    _write(folder / "watched.csv", [*watched, (3, 12_000_000, "-")])
    for seed in (1, 2, 3):
        draw = random.Random(seed)
        _write_join_streams(folder, seed, draw)
        _write_query_streams(folder, seed, draw)


def below(draw: random.Random, limit: int) -> int:
    """A whole number from 0 to `limit` - 1, the same in every version of Python."""
    return int(draw.random() * limit)


def _write_lab(folder: Path, draw: random.Random) -> None:
    """Places of motes, and how often each hears each other; 0 is the sink's id among links."""
    lab = [(mote, 2 + 6 * (mote % 6), 4 + 10 * (mote // 6)) for mote in range(1, LAB_MOTES + 1)]
    lines = [f"{mote} {x} {y}" for mote, x, y in lab]
    (folder / "positions.txt").write_text("\n".join(lines) + "\n")
    links = []
    for source, x, y in [(0, 20, 16), *lab]:
        for target, other_x, other_y in [(0, 20, 16), *lab]:
            apart = abs(x - other_x) + abs(y - other_y)
            if source != target and apart <= 24:
                rate = max(0, 100 - 3 * apart) + below(draw, 25)
                links.append(f"{source} {target} {min(rate, 100) / 100}")
    text = "\n".join([*links, "a broken line"]) + "\n"
    (folder / "links.txt").write_text(text)
    (folder / "links-99.txt").write_text(re.sub(r"\b0 ", "99 ", text))


def _write_recordings(folder: Path, draw: random.Random) -> None:
    """A recorded room, a row per time; and readings of eight nodes, a row each, some of them bad."""
    levels = [0] * len(ROOM_NODES)
    rows: list[Sequence[object]] = [("# t (s)", *ROOM_NODES)]
    for at_s in range(0, 1200, 4):
        levels = [max(0, level + below(draw, 21) - 9) for level in levels]
        rows.append((at_s, *(level / 2 for level in levels)))
    _write(folder / "room.csv", rows)
    long: list[Sequence[object]] = [("when", "mote", "ppm", "east", "north")]
    for at_ms in range(0, 60_000, 500):
        mote = below(draw, 8)
        ppm: object = below(draw, 6) if draw.random() > 0.05 else ""
        long.append((at_ms - 900 * below(draw, 2), f"m{mote}", ppm, 10 * mote, 7 * (mote % 3)))
    _write(folder / "readings.csv", long, delimiter=";")
    wide: list[Sequence[object]] = [("time", *(f"n{mote}" for mote in range(6)), "remark")]
    for at_s in range(60):
        cells = [below(draw, 30) / 10 if draw.random() > 0.1 else "" for _ in range(6)]
        wide.append((at_s, *cells, "none"))
    _write(folder / "wide.csv", wide)
    places = [(f"n{mote}", 12 * mote, 5 + 9 * (mote % 2)) for mote in range(6)]
    _write(folder / "places.csv", [("node", "x_m", "y_m"), *places])


def _write_join_streams(folder: Path, seed: int, draw: random.Random) -> None:
    """Three streams, nearly in order, and the same with bad rows."""
    header = ("stream", "value", "at_us")
    now_us = 0
    rows: list[Sequence[object]] = []
    for _ in range(600):
        now_us += below(draw, 400_000)
        late_us = below(draw, 3_000_000) if draw.random() < 0.2 else 0
        rows.append(("ABC"[below(draw, 3)], f"v{below(draw, 12)}", max(0, now_us - late_us)))
    _write(folder / f"join-{seed}.csv", [header, *rows])
    _write(
        folder / f"order-{seed}.csv", [header, *sorted(rows, key=lambda row: str(row[2]).zfill(12))]
    )
    bad = [("", "v1", 5), ("A", "v2", "soon"), ("B", "v3", 10**16)]
    _write(folder / f"bad-{seed}.csv", [header, *rows[:150], *bad, *rows[150:300]])


def _write_query_streams(folder: Path, seed: int, draw: random.Random) -> None:
    """Temperatures and humidities by place, and cars that pass three gates."""
    for name in ("heat", "damp"):
        now_us = 0
        rows: list[Sequence[object]] = [("place", "node", "value", "share", "at_us")]
        for _ in range(300):
            now_us += below(draw, 1_000_000)
            value = below(draw, 60) if draw.random() > 0.03 else ""
            rows.append((below(draw, 8), below(draw, 20), value, below(draw, 1000) / 1000, now_us))
        _write(folder / f"{name}-{seed}.csv", rows)
    for gate in (1, 2, 3):
        now_us = 0
        rows = [("car", "speed", "at_us")]
        for _ in range(150):
            now_us += below(draw, 2_000_000)
            rows.append((("red", "Red", "blue", "green")[below(draw, 4)], below(draw, 90), now_us))
        _write(folder / f"gate{gate}-{seed}.csv", rows)
    table: list[Sequence[object]] = [("place", "at_us", "change"), (1, "", "+"), (2, "", "+")]
    table += [
        (5, 30_000_000, "+"),
        (1, 60_000_000, "-"),
        (7, 90_000_000, "+"),
        (5, 90_000_000, "-"),
    ]
    _write(folder / f"hot-{seed}.csv", table)


def _write(file: Path, rows: Iterable[Sequence[object]], *, delimiter: str = ",") -> None:
    with file.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out, delimiter=delimiter).writerows(rows)
