"""The cost of a hop in bare SimPy timeouts; the speed of whole scenarios relative to real time."""

import tempfile
import time
from pathlib import Path

import simpy

from scenarios.schema.load import LoadedScenario, load_scenario, validate_scenario
from scenarios.simulation.run import run_scenario
from sim.kernel import Kernel, Story
from tests.bench.goals import print_goal

EVENTS = 300_000
REPEATS = 5
SECONDS = 25.0
GOALS = {"off": 0.22, "paper": 0.095, "directory": 0.076}
"""Millions of timeouts per second of sensing, by `feedback`."""


def simpy_timeout_us(processes: int) -> float:
    """One timeout of plain SimPy."""
    env = simpy.Environment()

    def story() -> Story:
        for _ in range(EVENTS // processes):
            yield env.timeout(1)

    for _ in range(processes):
        env.process(story())
    started = time.process_time()
    env.run()
    return (time.process_time() - started) / EVENTS * 1e6


def callback_us() -> float:
    """One light callback of our kernel."""
    kernel = Kernel()

    def again(left: int) -> None:
        if left:
            kernel.call_later(1, again, left - 1)

    kernel.call_later(1, again, EVENTS)
    started = time.process_time()
    kernel.advance(EVENTS + 2)
    assert kernel.processed == EVENTS + 1
    return (time.process_time() - started) / EVENTS * 1e6


def zipf(feedback: str, seconds: float) -> LoadedScenario:
    """The paper's load: 2,000 sensors, one reading a second each, window of a minute."""
    content = load_scenario("gas-cloud").scenario.model_dump(mode="json", exclude={"phenomenon"})
    content["duration_s"] = seconds
    content["motes"]["battery_j"] = 1e6
    content["join"].update(feedback=feedback, window_s=60.0)
    content["trace"].update(messages="off", partners=False)
    content["phenomenon"] = {"kind": "zipf", "locality": 1.0}
    return LoadedScenario(validate_scenario(content, "zipf"), "zipf", Path())


def run(loaded: LoadedScenario) -> tuple[float, int]:
    """CPU seconds and messages of one run."""
    with tempfile.TemporaryDirectory() as directory:
        started = time.process_time()
        manifest = run_scenario(loaded, Path(directory) / "run")
        cpu_s = time.process_time() - started
    counts = manifest.counts
    assert counts["readings_with_value"] > 1_000, counts
    assert counts["fates"]["joined"] > 0.999 * counts["readings_with_value"], counts["fates"]
    return cpu_s, counts["messages"]


def main() -> None:
    """Print the ratios."""
    bare_us = simpy_timeout_us(1)
    print(f"SimPy timeout, one process        {bare_us:6.2f} us")
    crowd_us = simpy_timeout_us(2000)
    print(f"SimPy timeout, 2,000 processes    {crowd_us:6.2f} us")
    light_us = callback_us()
    print(
        f"light callback                    {light_us:6.2f} us  {light_us / bare_us:.2f}x a timeout"
    )
    for feedback, goal in GOALS.items():
        costs = []
        messages = 0
        for _ in range(REPEATS):
            timeout_us = simpy_timeout_us(2000)
            loaded = zipf(feedback, SECONDS)
            cpu_s, messages = run(loaded)
            motes = loaded.scenario.motes
            second_s = cpu_s / (SECONDS - motes.start_s - motes.drain_s)
            costs.append((second_s / timeout_us, second_s, cpu_s / messages * 1e6 / timeout_us))
        in_timeouts, second_s, hop = sorted(costs)[REPEATS // 2]
        print(
            f"2,000 motes, feedback {feedback}: {second_s:.3f} CPU s per second of sensing,"
            f" {messages:,} messages, a hop all in {hop:.2f} timeouts, median of {REPEATS}"
        )
        print_goal(f"feedback {feedback}, a second of sensing", in_timeouts, goal, "M timeouts")
        if feedback == "off":
            print_goal("a hop, all heads probed, all in", hop, 1.5, "timeouts")


if __name__ == "__main__":
    main()
