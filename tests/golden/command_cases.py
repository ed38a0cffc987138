"""What goldens pin of `motejoin join`, `motejoin query` and `motejoin cluster`: command lines by name.

`{seed}` in a word stands for the seed; files are made by `tests.golden.inputs`.
"""

from collections.abc import Iterator
from typing import Final

Words = tuple[str, ...]

_TABLE_JOINS: Final = ("snjoin", "mjoin", "xjoin-tree", "shj-tree", "ripple")
_W_JOINS: Final = ("nlw", "hw", "mw", "bew", "bew-hash", "few", "few-hash")
_FORMS: Final = ("expanded", "factorised", "latest")
_IN: Final = "join-{seed}.csv"
_PAIRS: Final = {
    "path": ("--windows", "A-B=4s,B-C=2s"),
    "directed": ("--windows", "A>B=3s,B>C=2500ms"),
    "two-way": ("--windows", "A>B=3s,B>C=2500ms", "--two-way"),
    "mixed": ("--windows", "A-B=1500ms,B>C=4s,A-C=2s"),
}


def _joins() -> Iterator[tuple[str, Words]]:
    """Operators by arity and form; then each kind of window, lateness, memory and bad rows."""
    late: Words = ("--late", "2s")
    chosen: Words
    for operator in (*_TABLE_JOINS, *_W_JOINS):
        for form in _FORMS:
            chosen = ("--operator", operator, "--form", form, *late)
            yield f"{operator} complete {form}", (*chosen, "--window", "3s", _IN)
            if operator in _TABLE_JOINS:
                yield (
                    f"{operator} variable {form}",
                    (*chosen, "--arity", "variable", "--window", "3s", _IN),
                )
    for operator in _TABLE_JOINS:
        for arity in ("complete", "variable"):
            chosen = ("--operator", operator, "--arity", arity, *late)
            yield f"{operator} {arity} per stream", (*chosen, "--windows", "A=4s,B=1s,C=2s", _IN)
            default = ("--windows", "A=4s", "--window", "2s", "--streams", "A,B,C")
            yield f"{operator} {arity} default", (*chosen, *default, _IN)
            yield f"{operator} {arity} tuples", (*chosen, "--window", "3tuples", _IN)
    for operator in ("snjoin", "mjoin", "xjoin-tree"):
        for arity in ("complete", "variable"):
            for memory in ("5", "20"):
                chosen = ("--operator", operator, "--arity", arity, "--memory", memory, *late)
                yield f"{operator} {arity} memory {memory}", (*chosen, "--window", "4s", _IN)
    for operator in _W_JOINS:
        for name, windows in _PAIRS.items():
            yield f"{operator} {name}", ("--operator", operator, *late, *windows, _IN)
        for strategy in ("gca", "lca"):
            chosen = ("--operator", operator, "--strategy", strategy, *late)
            yield f"{operator} {strategy}", (*chosen, *_PAIRS["path"], _IN)
            yield f"{operator} {strategy} directed", (*chosen, *_PAIRS["directed"], _IN)
        yield (
            f"{operator} per stream",
            ("--operator", operator, *late, "--windows", "A=4s,B=1s,C=2s", _IN),
        )
    for operator in (*_TABLE_JOINS, *_W_JOINS):
        yield f"{operator} in order", ("--operator", operator, "--window", "3s", "order-{seed}.csv")
        yield (
            f"{operator} too late",
            ("--operator", operator, "--window", "3s", "--late", "300ms", _IN),
        )
    bad = ("--quarantine", "bad.parquet", "--future", "10min", "--streams", "A,B,C,D")
    yield (
        "snjoin bad rows",
        ("--arity", "variable", "--window", "3s", *late, *bad, "bad-{seed}.csv"),
    )
    yield "hw bad rows", ("--operator", "hw", "--window", "3s", *late, *bad[:4], "bad-{seed}.csv")


_HEAT: Final = ("--stream", "Heat=heat-{seed}.csv")
_DAMP: Final = ("--stream", "Damp=damp-{seed}.csv")
_GATES: Final = tuple(
    word for gate in (1, 2, 3) for word in ("--stream", f"Gate{gate}=gate{gate}-{{seed}}.csv")
)
_SHARED: Final = (
    "--sql",
    "near=SELECT A.place, A.value, B.value FROM Heat A, Damp B WHERE A.place = B.place WINDOW 2 s",
    "--sql",
    "far=SELECT COUNT(DISTINCT A.place) FROM Heat A, Damp B WHERE A.place = B.place AND A.value > 20 WINDOW 9 s",
    "--sql",
    "top=SELECT A.place, MAX(B.value) FROM Heat A, Damp B WHERE A.place = B.place GROUP BY A.place WINDOW 5 s",
)
_ROAD: Final = "SELECT A.car, A.speed, C.speed FROM Gate1 A, Gate2 B, Gate3 C WHERE A.car = B.car AND B.car = C.car"


def _queries() -> Iterator[tuple[str, Words]]:
    yield (
        "select",
        (
            "SELECT place, value - 20 AS above, share * 2 FROM Heat WHERE value > 40 OR value IS NULL",
            *_HEAT,
        ),
    )
    yield (
        "between",
        (
            "SELECT DISTINCT place FROM Heat [RANGE 5 s] WHERE value BETWEEN 10 AND 30 AND NOT place IN (1, 2)",
            *_HEAT,
        ),
    )
    yield (
        "range",
        (
            "SELECT COUNT(*) AS n, SUM(share), AVG(value), MIN(value), MAX(value) FROM Heat [RANGE 8 s]",
            "--until",
            "10min",
            *_HEAT,
        ),
    )
    yield (
        "rows",
        (
            "SELECT place, MAX(value) - MIN(value) AS spread, COUNT(value) FROM Heat [ROWS 12] GROUP BY place",
            *_HEAT,
        ),
    )
    yield "now", ("SELECT place, value % 7, value / 3 FROM Heat [NOW]", "--until", "200s", *_HEAT)
    yield (
        "partition",
        ("SELECT place, SUM(share) FROM Heat [PARTITION BY node ROWS 2] GROUP BY place", *_HEAT),
    )
    yield (
        "partition where",
        (
            "SELECT node, value FROM Heat [PARTITION BY place ROWS 1 WHERE value > 30]",
            "--old",
            *_HEAT,
        ),
    )
    yield (
        "predicate",
        ("SELECT place, value FROM Heat [PWINDOW value > 30 ON place]", "--old", *_HEAT),
    )
    yield (
        "predicate in out",
        ("SELECT AVG(share) FROM Heat [PWINDOW IN value > 40 OUT value < 15 ON node]", *_HEAT),
    )
    yield (
        "predicate now",
        ("SELECT node FROM Heat [PWINDOW at_us > NOW - 3 s ON node]", "--until", "200s", *_HEAT),
    )
    yield (
        "state limit",
        ("SELECT node, value FROM Heat [PWINDOW value > 5 ON node]", "--state-limit", "4", *_HEAT),
    )
    yield (
        "table",
        (
            "SELECT place, place IN Hot AS hot FROM Heat [PWINDOW value > 20 ON place]",
            "--table",
            "Hot=hot-{seed}.csv",
            *_HEAT,
        ),
    )
    yield (
        "table where",
        (
            "SELECT COUNT(*) FROM Heat [RANGE 20 s] WHERE place IN Hot",
            "--table",
            "Hot=hot-{seed}.csv",
            *_HEAT,
        ),
    )
    yield (
        "join",
        (
            "SELECT H.place, H.value, D.value FROM Heat H, Damp D WHERE H.place = D.place AND H.value < D.value WINDOW 4 s",
            *_HEAT,
            *_DAMP,
        ),
    )
    yield (
        "join windows",
        (
            "SELECT H.place, D.value FROM Heat H [PWINDOW value > 30 ON place], Damp D [ROWS 4] WHERE H.place = D.place",
            *_HEAT,
            *_DAMP,
        ),
    )
    yield (
        "join function",
        (
            "SELECT H.value, D.value FROM Heat H, Damp D WHERE near(H.value, D.value) AND H.place != D.place WINDOW 2 s",
            *("--function", "near=golden_functions:near", "--allow-functions", *_HEAT, *_DAMP),
        ),
    )
    yield (
        "join self",
        (
            "SELECT A.node, B.node FROM Heat A, Heat B WHERE A.place = B.place AND A.node < B.node WINDOW 3 s",
            *_HEAT,
        ),
    )
    yield "gates", (f"{_ROAD} WINDOW 6 s", *_GATES)
    yield "gates pairs", (f"{_ROAD} WINDOW (A,B) = 6 s AND DWINDOW (B,C) = 4 s", *_GATES)
    yield (
        "gates either way",
        (f"{_ROAD} DWINDOW (C,B) = 5 s AND DWINDOW (B,A) = 6 s EITHER WAY", *_GATES),
    )
    yield (
        "gates text",
        (
            "SELECT upper(B.car), C.speed FROM Gate2 B, Gate3 C WHERE lower(B.car) = lower(C.car) WINDOW 2 s",
            *_GATES,
        ),
    )
    yield "sensors", ("SELECT car, arity, sensors FROM SENSORS JOIN ON car WINDOW 2 s", *_GATES)
    yield "sensors nodes", ("SELECT * FROM SENSORS JOIN ON place WINDOW 2 s", *_HEAT)
    for schedule in ("lwo", "swf", "mqt"):
        yield f"shared {schedule}", (*_SHARED, "--schedule", schedule, *_HEAT, *_DAMP)
        yield (
            f"shared {schedule} slow",
            (*_SHARED, "--schedule", schedule, "--cpu-us", "9000,4000", *_HEAT, *_DAMP),
        )


def _clusters() -> Iterator[tuple[str, Words]]:
    field = ("--nodes", "300", "--side", "600", "--battery", "0.3")
    for cost in ("amrp", "degree", "max-degree"):
        yield f"heed {cost}", ("--protocol", "heed", "--cost", cost, *field)
    yield "heed chances", ("--protocol", "heed", "--c-prob", "0.2", "--p-min", "0.01", *field)
    yield (
        "heed levels",
        ("--protocol", "heed", "--upper-range", "200", "--upper-range", "350", *field),
    )
    for lot in ("rotating", "energy"):
        yield f"leach {lot}", ("--protocol", "leach", "--lot", lot, *field)
    yield "leach heads", ("--protocol", "leach", "--heads", "12", "--range", "900", *field)
    for weight in ("energy", "degree", "number"):
        yield f"dca {weight}", ("--protocol", "dca", "--weight", weight, *field)
        yield f"max-min {weight}", ("--protocol", "max-min", "--weight", weight, *field)
    yield "max-min hops", ("--protocol", "max-min", "--hops", "4", "--range", "60", *field)
    for head in ("energy", "centre", "rotation"):
        yield f"grid {head}", ("--protocol", "grid", "--cell-head", head, *field)
    yield "k-means", ("--protocol", "k-means", "--heads", "15", *field)
    yield "none", ("--protocol", "none", *field)
    for protocol in ("heed", "leach", "dca", "max-min", "grid", "k-means", "none"):
        yield f"{protocol} full, loss", ("--protocol", protocol, "--loss", "0.2", *field[:4])


JOINS: Final = dict(_joins())
QUERIES: Final = dict(_queries())
CLUSTERS: Final = dict(_clusters())
