"""The files that one reading passes through: `python -m tests.support.reading_path SCENARIO FROM_US UNTIL_US FOLDER`.

In a process of its own, since lines of the compiled core cannot be traced: the caller has it interpreted.
"""

import json
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from scenarios.schema.load import load_scenario
from scenarios.wiring.simulation import build_simulation, build_world
from sim.compiled import is_compiled
from sim.trace.recorder import Recorder
from tests.support.places import ROOT


def files_between(scenario: str, from_us: int, until_us: int, folder: Path) -> list[str]:
    """The files in which a line ran, from the events at `from_us` to those at `until_us`."""
    loaded = load_scenario(scenario, ["join.strategy=snjoin-star"])
    recorder = Recorder(folder, loaded.scenario.trace.chosen())
    simulation = build_simulation(build_world(loaded, loaded.scenario.seed), recorder)
    simulation.network.churn.start()
    simulation.kernel.process(simulation.rounds.run())
    simulation.sensing.start()
    simulation.tracking.start()
    simulation.kernel.advance(from_us)
    visited: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> Any:  # noqa: ANN401
        path = Path(frame.f_code.co_filename)
        if event == "line" and path.is_relative_to(ROOT) and "tests" not in path.parts:
            visited.add(str(path.relative_to(ROOT)))
        return note

    sys.settrace(note)
    try:
        simulation.kernel.advance(until_us + 1)
    finally:
        sys.settrace(None)
    return sorted(name for name in visited if not name.startswith(".venv"))


def main() -> None:
    """Print the files as JSON."""
    assert not is_compiled()
    scenario, from_us, until_us, folder = sys.argv[1:]
    files = files_between(scenario, int(from_us), int(until_us), Path(folder))
    sys.stdout.write(json.dumps(files))


if __name__ == "__main__":
    main()
