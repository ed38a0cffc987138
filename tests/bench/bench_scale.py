"""How costs grow: with motes, window, rate and heads; set-up to the first reading; what recording takes.

`python -m tests.bench scale` prints CPU seconds, and millions of bare SimPy timeouts of the same run. Growth exponents are slopes of
straight lines through the logarithms. The field grows with the motes, so that their density stays the same.
"""

import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from scenarios.schema.load import LoadedScenario, validate_scenario
from scenarios.simulation.course import advance
from scenarios.simulation.run import run_scenario
from scenarios.wiring.simulation import Simulation, build_simulation, build_world
from sim.garbage import rare_collection
from sim.trace.recorder import Recorder
from sim.units import US_PER_S
from tests.bench.bench_simulation import simpy_timeout_us, zipf

DENSITY = 2000 / 1e6
"""Motes per square metre of the demo."""
CELL_M = 200.0
"""The side of the places that values belong to: as in the demo's field, whatever the size of this one."""
LEARNT_S = 8
"""Seconds of sensing before the second that is timed."""
MOTES = (500, 2000, 5000, 10_000, 20_000)


def scenario(motes: int = 2000, *, feedback: str = "directory", **join: Any) -> LoadedScenario:  # noqa: ANN401
    """The load of `zipf` on a field of constant density."""
    content = zipf(feedback, 3600.0).scenario.model_dump(mode="json")
    side_m = math.sqrt(motes / DENSITY)
    content["motes"] |= {"count": motes, "interval_s": join.pop("interval_s", 1.0)}
    content["field"] |= {"width_m": side_m, "height_m": side_m}
    content["sink"] |= {"x_m": side_m / 2}
    content["clustering"] |= {"range_m": join.pop("range_m", content["clustering"]["range_m"])}
    content["phenomenon"]["cell_m"] = CELL_M
    content["join"] |= join
    return LoadedScenario(validate_scenario(content, "scale"), "scale", Path())


def second_s(loaded: LoadedScenario, folder: Path, after_s: int = LEARNT_S) -> tuple[float, int]:
    """CPU time of one second of sensing after `after_s` of them, and its events."""
    simulation = begun(loaded, folder)
    start_us = round(loaded.scenario.motes.start_s * US_PER_S)
    with rare_collection():
        advance(simulation, start_us + after_s * US_PER_S)
        events, taken = simulation.kernel.processed, simulation.sensing.taken
        started_s = time.process_time()
        advance(simulation, simulation.kernel.now_us + US_PER_S)
        cpu_s = time.process_time() - started_s
    assert simulation.sensing.taken - taken > 0.5 * loaded.scenario.motes.count / max(
        1.0, loaded.scenario.motes.interval_s
    )
    return cpu_s, simulation.kernel.processed - events


def begun(loaded: LoadedScenario, folder: Path) -> Simulation:
    """A simulation whose rounds and sensing have been started; it writes no trace."""
    simulation = build_simulation(build_world(loaded, 1), Recorder(folder, []))
    simulation.kernel.process(simulation.rounds.run())
    simulation.sensing.start()
    return simulation


def exponent(sizes: list[float], costs_s: list[float]) -> float:
    """The slope of a straight line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(costs_s), 1)[0])


def set_up(motes: int) -> None:
    """Print what the first reading of so many motes takes, imports apart; run in a process of its own."""
    loaded = scenario(motes)
    started_s = time.process_time()
    with tempfile.TemporaryDirectory() as folder, rare_collection():
        simulation = begun(loaded, Path(folder))
        while not simulation.sensing.with_value:
            advance(simulation, simulation.kernel.now_us + US_PER_S // 10)
    cpu_s = time.process_time() - started_s
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{cpu_s:.3f} CPU s, peak {peak_mib:.0f} MiB")


def in_a_process(*arguments: str) -> str:
    """What this module prints when it is run with `arguments`."""
    command = [sys.executable, "-m", "tests.bench.bench_scale", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def curve(what: str, points: Mapping[Any, LoadedScenario], after_s: int = LEARNT_S) -> None:
    """Print the cost of a second for each point, and the growth exponent."""
    costs_s = []
    for size, loaded in points.items():
        with tempfile.TemporaryDirectory() as folder:
            cpu_s, events = second_s(loaded, Path(folder), after_s)
        timeout_us = simpy_timeout_us(2000)
        costs_s.append(cpu_s / timeout_us)
        print(
            f"  {what} {size:>8,g}: {cpu_s:.3f} CPU s per second, {cpu_s / timeout_us:.3f} M timeouts"
            f" of {timeout_us:.2f} us, {events:,} events, {cpu_s / events * 1e6:.1f} us each",
            flush=True,
        )
    print(f"  growth exponent in {what}: {exponent(list(points), costs_s):.2f}")


def recording() -> None:
    """Print what recording messages takes: its share of the time, and bytes of a row."""
    took_s = {}
    for tables in (["all"], []):
        loaded = zipf("paper", 25.0)
        content = loaded.scenario.model_dump(mode="json")
        content["trace"] |= {"messages": "full", "partners": False}
        content["trace"]["tables"] = tables or ["motes"]
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "run"
            started_s = time.process_time()
            manifest = run_scenario(
                LoadedScenario(validate_scenario(content, "r"), "r", Path()), run
            )
            took_s[bool(tables)] = time.process_time() - started_s
            if tables:
                size = sum(p.stat().st_size for p in (run / "trace" / "messages").iterdir())
                print(f"  a row of messages: {size / manifest.counts['messages']:.2f} bytes")
    share = 1 - took_s[False] / took_s[True]
    print(f"  recording all tables: {share:.1%} of {took_s[True]:.2f} CPU s")


def main() -> None:
    """Print everything."""
    started_s = time.process_time()
    code = "import time; import scenarios.cli, scenarios.simulation.run; print(time.process_time())"
    imports = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(5)
    ]
    timeout_us = simpy_timeout_us(2000)
    print(
        f"imports {sorted(imports)[2]:.3f} CPU s, {sorted(imports)[2] / timeout_us:.3f} M timeouts"
    )
    for motes in (2000, 20_000, 100_000):
        text = in_a_process("set-up", str(motes))
        cpu_s, timeout_us = float(text.split()[0]), simpy_timeout_us(2000)
        print(f"set-up, {motes:,} motes: {text}, {cpu_s / timeout_us:.3f} M timeouts", flush=True)
    recording()
    curve("motes", {motes: scenario(motes) for motes in MOTES[:4]})
    windows = {seconds: scenario(window_s=float(seconds)) for seconds in (5, 10, 20, 40)}
    curve("window (s)", windows, after_s=40)
    curve("rate (1/s)", {1 / s: scenario(interval_s=s) for s in (4.0, 2.0, 1.0, 0.5)})
    print(f"{time.process_time() - started_s:.0f} CPU s in all")


if __name__ == "__main__":
    if sys.argv[1:2] == ["set-up"]:
        set_up(int(sys.argv[2]))
    else:
        main()
