"""Runs of SNJoin* in the simulated network as points of a figure (SNJoin §7.3): the scenario `snjoin-zipf`.

SNJoin §7.3                                                Here
sensors uniformly distributed, 200 to 2,000                `motes.count`
HEED, cluster range 10 % of the space, one level, one hop  the scenario's
window of one minute                                       WINDOW_S
(not stated) number of values, who shares them             `phenomenon.domain`, `phenomenon.locality`
(not stated) speed of the heads' CPUs                      `load`
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from scenarios.reproduce.figure import Point, Row

WINDOW_S: Final = 60.0
CPU_US: Final = {"hash": 5.0, "insert": 5.0, "probe": 20.0, "form": 2.0}
"""`join.cpu_us` as it is by default."""
METRICS: Final = (
    "output_rate",
    "unfinished_rate",
    "delay_ms",
    "tuple_width",
    "partners_per_reading",
    "probes_per_reading",
    "bytes_per_s",
    "clusters",
    "recall",
)
VARIANTS: Final[dict[str, dict[str, Any]]] = {
    "all-heads": {"join.feedback": "off"},
    "paper": {"join.feedback": "paper"},
    "directory": {"join.feedback": "directory"},
    "distributed-mjoin": {"join.strategy": "distributed-mjoin"},
    "oracle": {"join.strategy": "oracle"},
}
LABELS: Final = {
    "all-heads": "SNJoin* without feedback",
    "paper": "SNJoin* with the paper's feedback",
    "directory": "SNJoin* with the directory",
    "distributed-mjoin": "distributed MJoin",
    "oracle": "oracle",
}
TABLES: Final = ["readings", "fates", "probes", "results", "drops", "elections", "traffic"]
_PARAMETERS: Final = ("variant", "sensors", "load", "seed", "scenario")


def cpu_us(sensors: int, load: float) -> dict[str, float]:
    """Costs at which a head that serves a request of every sensor each second is busy for `load` of the time."""
    factor = load * 1e6 / (sensors * (CPU_US["hash"] + CPU_US["probe"]))
    return {f"join.cpu_us.{step}": cost * factor for step, cost in CPU_US.items()}


def measure(point: Point) -> list[Row]:
    """One simulation; keys with a dot are settings of the scenario.

    Without a `load` the heads' CPUs are the scenario's, fast enough that nothing is dropped.
    """
    settings: dict[str, Any] = {
        "motes.count": point["sensors"],
        "join.window_s": WINDOW_S,
        "trace.partners": False,
        "trace.tables": TABLES,
        **VARIANTS[point["variant"]],
        **{key: value for key, value in point.items() if key not in _PARAMETERS},
    }
    if point["load"]:
        settings |= cpu_us(point["sensors"], point["load"])
    return [simulate(point.get("scenario", "snjoin-zipf"), settings, point["seed"])]


def simulate(name: str, settings: Mapping[str, Any], seed: int) -> Row:
    """The metrics of one run of a shipped scenario with changed settings."""
    # Here and not above: the simulator takes a while to import, and lists do without.
    from analysis.metrics.arrow.evaluate import metrics_of
    from scenarios.schema.load import load_scenario
    from scenarios.simulation.run import run_scenario

    loaded = load_scenario(name, changes={**settings, "seed": seed})
    with tempfile.TemporaryDirectory(prefix="motejoin-reproduce-") as folder:
        directory = Path(folder) / "run"
        run_scenario(loaded, directory)
        found = metrics_of(directory)
    return {metric: found.get(metric) for metric in METRICS}
