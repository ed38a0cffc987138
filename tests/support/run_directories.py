"""Small run directories for tests: hand-made rows or random ones, written as a run would write them."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from sim.trace.manifest import Manifest, Status
from sim.trace.recorder import Recorder
from sim.trace.tables import SINK, TABLES, AnswerLevel, Fate, RequestEnd

Row: TypeAlias = tuple[Any, ...]
Rows: TypeAlias = Mapping[str, Iterable[Row]]

US_PER_S = 1_000_000


def write_run(
    directory: Path,
    rows: Rows,
    *,
    motes: int = 4,
    window_s: float | None = 10.0,
    arity: str = "variable",
    strategy: str = "centralised",
    answer: AnswerLevel = AnswerLevel.RESULTS,
    delay_s: float = 0.0,
    probe_ends: int = 0,
    seed: int = 1,
    simulated_s: float = 100.0,
    tables: Sequence[str] = tuple(TABLES),
    status: Status = Status.COMPLETE,
) -> Path:
    """Write a run directory with `rows` in its tables, the last cells of which may be left out; returns `directory`."""
    directory.mkdir(parents=True)
    recorder = Recorder(directory, tables)
    for table, table_rows in rows.items():
        append = recorder.rows(table).append
        for row in table_rows:
            # Columns that a test is not about may be left out at the end.
            append((*row, *[None] * (len(TABLES[table]) - len(row))))
    counts, fingerprint = recorder.close()
    join: dict[str, Any] = {
        "strategy": strategy,
        "arity": arity,
        "answer": answer.value,
        "delay_s": delay_s,
    }
    if window_s is not None:
        join["window_s"] = window_s
    Manifest(
        name="test",
        seed=seed,
        scenario={
            "motes": {"count": motes},
            "join": join,
            "clustering": {"protocol": "heed"},
        },
        versions={},
        status=status,
        simulated_s=simulated_s,
        rows=counts,
        counts={"requests": {RequestEnd.FINISHED.value: probe_ends} if probe_ends else {}},
        fingerprint=fingerprint,
    ).write(directory)
    return directory


@dataclass
class Ground:
    """Readings and results of a run, as plain Python, for a reference implementation."""

    window_us: int
    readings: list[tuple[int, int, int]] = field(default_factory=list)
    """(value, node, stamp_us), those with a value."""
    results: list[tuple[str, int, int, int, list[tuple[int, int]]]] = field(default_factory=list)
    """(query, value, origin, origin_at_us, partners)."""


@dataclass(frozen=True)
class RandomRun:
    """Rows of a made-up run; they need not be consistent, metrics must still count them."""

    rows: dict[str, list[Row]]
    ground: Ground
    motes: int
    window_s: float
    simulated_s: float
    strategy: str
    answer: AnswerLevel
    delay_s: float
    probe_ends: int

    def write(self, directory: Path, seed: int) -> Path:
        """Write it as a run directory."""
        return write_run(
            directory,
            self.rows,
            motes=self.motes,
            window_s=self.window_s,
            seed=seed,
            simulated_s=self.simulated_s,
            strategy=self.strategy,
            answer=self.answer,
            delay_s=self.delay_s,
            probe_ends=self.probe_ends,
        )


def random_run(seed: int) -> RandomRun:
    """A run with small numbers everywhere, so that ties, window edges and repetitions are common."""
    draw = random.Random(seed)
    motes = draw.randint(2, 6)
    window_us = draw.randint(1, 6)
    ground = random_ground(draw, motes, window_us)
    answer = draw.choice([AnswerLevel.RESULTS] * 3 + list(AnswerLevel))
    # Clocks may be wrong: results identify readings by their stamps, which need not be in the order of at_us.
    ahead_us = [draw.choice([0, 0, draw.randint(-8, 8)]) for _ in range(motes)]
    readings: list[Row] = [
        (stamp - ahead_us[node], node, value, 0.5, stamp) for value, node, stamp in ground.readings
    ]
    readings += [
        (at := draw.randint(0, 30), draw.randrange(motes), None, None, at)
        for _ in range(draw.randint(0, 5))
    ]
    rows: dict[str, list[Row]] = {
        "readings": readings,
        "results": _result_rows(draw, ground)
        if answer is AnswerLevel.RESULTS
        else _change_rows(draw, motes, answer),
        "traffic": _traffic(draw, motes),
        "energy": _energy(draw, motes),
        "fates": [
            (at + 1, node, at, draw.choice(list(Fate)).value, None, None)
            for _, node, at in ground.readings
        ],
        "probes": [
            (
                9,
                1,
                1,
                probed := draw.randint(0, 4),
                draw.randint(0, probed),
                2,
                40,
                1,
                draw.randint(4, 6),
            )
            for _ in range(draw.randint(0, 5))
        ],
        "elections": [
            (15 * number, number, node, head := draw.choice([SINK, *range(motes)]), 1, head, None)
            for number in range(draw.randint(0, 3))
            for node in range(motes)
        ],
        "deaths": [
            (draw.randint(0, 50), node)
            for node in draw.sample(range(motes), draw.choice([0, draw.randint(0, motes), motes]))
        ],
        "truth": [
            (at, source, draw.sample(range(motes), draw.randint(0, motes)))
            for at in draw.sample(range(40), draw.randint(0, 8))
            for source in ("a", "b")[: draw.randint(1, 2)]
        ],
    }
    return RandomRun(
        rows,
        ground,
        motes,
        window_us / US_PER_S,
        draw.choice([7.0, 100.0]),
        draw.choice(["centralised", "snjoin-star"]),
        answer,
        draw.choice([0.0, 2e-6]),
        draw.choice([0, 5]),
    )


def random_ground(draw: random.Random, motes: int, window_us: int) -> Ground:
    """Random readings and results: correct ones mixed with late, repeated, missing and made-up ones."""
    ground = Ground(window_us)
    keys = {
        (draw.randrange(motes), draw.randint(0, 25)): draw.randrange(2)
        for _ in range(draw.choice([0, 4, 12, 30, 45]))
    }
    ground.readings = [(value, node, at) for (node, at), value in keys.items()]
    wild = draw.choice([0.0, 0.0, 0.05])
    against_order = draw.choice([0.0, 0.15])
    again = draw.choice([0.0, 0.2])
    missing = draw.choice([0.0, 0.3])
    for value, node, at in ground.readings:
        partners = []
        for other, partner, partner_at in ground.readings:
            near = value == other and node != partner and abs(at - partner_at) <= window_us
            earlier = (partner_at, partner) < (at, node)
            if near and (draw.random() >= missing if earlier else draw.random() < against_order):
                partners.append((partner, partner_at))
            elif draw.random() < wild:
                partners.append((partner, partner_at + draw.randint(0, 1)))
        if draw.random() < 0.5:
            partners = list(dict(partners).items())  # the latest time per node only
        draw.shuffle(partners)
        if not partners:
            continue
        ground.results.append(("q", value, node, at, partners))
        if draw.random() < again:
            some = draw.sample(partners, draw.randint(1, len(partners)))
            ground.results.append((draw.choice(["q", "p"]), value, node, at, some))
    if draw.random() < 4 * wild:
        ground.results.append(("q", 1, 0, 99, [(1, 3)]))
    return ground


def _result_rows(draw: random.Random, ground: Ground) -> list[Row]:
    rows: list[Row] = []
    for query, value, origin, at, partners in ground.results:
        delay = draw.randint(0, 4)
        arity = len({node for node, _ in partners}) + 1
        rows.append(
            (
                at + delay,
                query,
                "+",
                value,
                origin,
                at,
                arity,
                partners,
                delay,
                arity,
                False,
                False,
                None,
            )
        )
    for _ in range(draw.randint(0, 4)):
        left = [(draw.randint(0, 4), draw.randint(0, 40)) for _ in range(draw.randint(0, 3))]
        value, query = draw.randint(0, 2), draw.choice(["q", "p"])
        at = draw.randint(0, 40)
        rows.append((at, query, "-", value, None, None, 1, left, None, 3, False, False, None))
    for _ in range(draw.randint(0, 3)):
        # Metrics of the join must ignore queries at the sink.
        row = (draw.randint(0, 40), "hot", draw.choice("+u-"), *(None,) * 7, False, False, "{}")
        rows.append(row)
    return rows


def _change_rows(draw: random.Random, motes: int, level: AnswerLevel) -> list[Row]:
    """Changes of the answer below level `results`: often at one instant, and not always ones that make sense."""
    rows: list[Row] = []
    for _ in range(draw.choice([0, 5, 15, 30])):
        came, left = (
            [(node, 0) for node in draw.sample(range(motes), draw.randint(0, 2))] for _ in range(2)
        )
        start = (draw.randint(0, 40), "q", draw.choice("+u-"), draw.randrange(2), None, None, None)
        listed = level is AnswerLevel.SETS
        delay_us = draw.choice([None, draw.randint(0, 6)])
        rows.append(
            (
                *start,
                left if listed else None,
                delay_us,
                draw.randint(0, 3),
                False,
                False,
                None,
                came if listed else None,
                draw.randrange(motes) if level is AnswerLevel.OCCUPANCY else None,
                level.value,
            )
        )
    return rows


def _traffic(draw: random.Random, motes: int) -> list[Row]:
    kinds = ["reading", "probe", "result", "cost", "head", "join"]
    return [
        (second, node, kind, sent, sent * 20, sent, sent * 20, draw.randint(0, 1), sent)
        for second in range(3)
        for node in (SINK, *range(motes))
        for kind in draw.sample(kinds, draw.randint(0, 3))
        for sent in [draw.randint(0, 5)]
    ]


def _energy(draw: random.Random, motes: int) -> list[Row]:
    rows: list[Row] = []
    for node in (SINK, *range(motes)):
        drawn = [0.0] * 7
        for at in sorted(draw.choices(range(20), k=draw.randint(0, 3))):
            drawn = [joules + draw.random() for joules in drawn]
            rows.append((at, node, 1.0, *drawn[:5], drawn[0] / 2, *drawn[5:]))
    draw.shuffle(rows)
    return rows
