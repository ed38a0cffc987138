"""How time and memory grow: with motes, window, rate and heads.

`python -m tests.bench scale` prints a line for each point, measured five times in processes of their own (medians), fits exponents (slopes of straight lines through
the logarithms) and draws them in docs/figures/growth.png. Costs are CPU time per second of sensing in millions of bare SimPy timeouts, and
memory beyond that of an empty process. The field grows with the motes, so that their density stays the same.
"""

import math
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from scenarios.schema.load import LoadedScenario, validate_scenario
from scenarios.simulation.course import advance
from scenarios.wiring.simulation import Simulation, build_simulation, build_world
from sim.garbage import rare_collection
from sim.trace.recorder import Recorder
from sim.units import US_PER_S
from tests.bench.bench_simulation import simpy_timeout_us, zipf
from tests.bench.goals import print_goal
from tests.bench.processes import in_a_process, peak_mib

FIGURE = Path(__file__).parents[2] / "docs" / "figures" / "growth.png"
DENSITY = 2000 / (200 * 200)
"""Motes per square metre of the demo, whose field is 200 m wide."""
CELL_M = 40.0
"""The side of the places that values belong to: as in the demo's field, whatever the size of this one."""
LEARNT_S = 8
"""Seconds of sensing before those that are timed."""
TIMED_S = 3
REPEATS = 5
JUDGED_MOTES = 10_000
JUDGED_GOAL = 0.5
EXPONENT_GOAL = 1.1

Point = Mapping[str, float | str]
"""Settings of `scenario` and `second`."""


@dataclass(frozen=True)
class Curve:
    """What is varied, and by which settings."""

    what: str
    points: Sequence[Point]
    size: str = ""
    """The setting that is varied; the heads, if it is none of them."""


CURVES = (
    Curve("motes", [{"motes": n} for n in (500, 2000, 5000, 10_000, 20_000)], "motes"),
    Curve("window, s", [{"window_s": w, "after_s": 40} for w in (5, 10, 20, 40)], "window_s"),
    Curve("rate, 1/s", [{"rate": r} for r in (0.25, 0.5, 1, 2)], "rate"),
    Curve("heads, the directory", [{"range_m": r} for r in (40, 28, 20, 14)]),
    Curve("heads, all probed", [{"range_m": r, "feedback": "off"} for r in (40, 28, 20, 14)]),
)


def scenario(
    motes: float = 2000,
    *,
    feedback: str = "directory",
    rate: float = 1.0,
    range_m: float | None = None,
    window_s: float = 60.0,
) -> LoadedScenario:
    """The load of `zipf` on a field of constant density."""
    content = zipf(feedback, 3600.0).scenario.model_dump(mode="json")
    side_m = math.sqrt(motes / DENSITY)
    content["motes"] |= {"count": int(motes), "interval_s": 1 / rate}
    content["field"] |= {"width_m": side_m, "height_m": side_m}
    content["sink"] |= {"x_m": side_m / 2}
    content["clustering"] |= {} if range_m is None else {"range_m": range_m}
    content["phenomenon"]["cell_m"] = CELL_M
    content["join"] |= {"window_s": window_s}
    return LoadedScenario(validate_scenario(content, "scale"), "scale", Path())


def begun(loaded: LoadedScenario, folder: Path) -> Simulation:
    """A simulation whose rounds and sensing have been started; it writes no trace."""
    simulation = build_simulation(build_world(loaded, 1), Recorder(folder, []))
    simulation.kernel.process(simulation.rounds.run())
    simulation.sensing.start()
    return simulation


def second(after_s: float = LEARNT_S, **settings: Any) -> None:  # noqa: ANN401
    """Print CPU time of a second of sensing, its events, the heads, and the memory that the network took in MiB."""
    loaded = scenario(**settings)
    empty_mib = peak_mib()
    with tempfile.TemporaryDirectory() as folder, rare_collection():
        simulation = begun(loaded, Path(folder))
        start_us = round(loaded.scenario.motes.start_s * US_PER_S)
        advance(simulation, start_us + round(after_s * US_PER_S))
        events, taken = simulation.kernel.processed, simulation.sensing.taken
        started_s = time.process_time()
        advance(simulation, simulation.kernel.now_us + TIMED_S * US_PER_S)
        cpu_s = (time.process_time() - started_s) / TIMED_S
    motes = loaded.scenario.motes
    expected = TIMED_S * motes.count / motes.interval_s
    assert 0.5 * expected < simulation.sensing.taken - taken < 2 * expected
    heads = simulation.rounds.heads_elected / simulation.rounds.held
    whole_mib = peak_mib()
    print(cpu_s, (simulation.kernel.processed - events) / TIMED_S, heads, whole_mib - empty_mib)


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The slope of a straight line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def measured(curve: Curve) -> tuple[list[float], list[float], list[float]]:
    """Sizes, millions of timeouts and MiB of a curve's points."""
    sizes, costs, memory = [], [], []
    for point in curve.points:
        settings = [f"{name}={value}" for name, value in point.items()]
        repeats = []
        for _ in range(REPEATS):
            timeout_us = simpy_timeout_us(2000)
            cpu_s, *others = in_a_process("bench_scale", "second", *settings)
            repeats.append((cpu_s / timeout_us, cpu_s, *others))
        in_timeouts, cpu_s, events, heads, mib = map(median, zip(*repeats, strict=True))
        sizes.append(float(point[curve.size]) if curve.size else heads)
        costs.append(in_timeouts)
        memory.append(mib)
        print(
            f"  {curve.what} {sizes[-1]:>8,g}: {cpu_s:.3f} CPU s per second, {costs[-1]:.3f} M timeouts,"
            f" {events:,.0f} events, {heads:.0f} heads, {mib:.0f} MiB",
            flush=True,
        )
    return sizes, costs, memory


def draw(found: Mapping[str, tuple[list[float], list[float], list[float]]]) -> None:
    """Draw all curves, time on the left and memory on the right."""
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(10, 4), layout="constrained")
    sides = canvas.subplots(1, 2)
    for what, (sizes, *both) in found.items():
        for axes, costs in zip(sides, both, strict=True):
            relative = [cost / costs[0] for cost in costs]
            grown = [size / sizes[0] for size in sizes]
            slope = exponent(sizes, costs)
            axes.plot(grown, relative, marker="o", label=f"{what}: {slope:.2f}")
    for axes, title in zip(sides, ("CPU time of a second", "memory"), strict=True):
        axes.set(xscale="log", yscale="log", xlabel="size, to the smallest", title=title)
        axes.legend(title="growth exponent", fontsize="small")
    canvas.savefig(FIGURE, dpi=120)


def main() -> None:
    """Print and draw everything."""
    found = {}
    for curve in CURVES:
        sizes, costs, memory = found[curve.what] = measured(curve)
        what = f"growth with {curve.what}"
        print_goal(f"{what}, exponent of time", exponent(sizes, costs), EXPONENT_GOAL, "")
        print_goal(f"{what}, exponent of memory", exponent(sizes, memory), EXPONENT_GOAL, "")
        if curve.what == "motes":
            cost = costs[sizes.index(JUDGED_MOTES)]
            print_goal("a second of 10,000 motes", cost, JUDGED_GOAL, "M timeouts")
    draw(found)


def _parsed(settings: Sequence[str]) -> dict[str, Any]:
    pairs = (setting.split("=") for setting in settings)
    return {name: value if name == "feedback" else float(value) for name, value in pairs}


if __name__ == "__main__":
    if sys.argv[1:2] == ["second"]:
        second(**_parsed(sys.argv[2:]))
    else:
        main()
