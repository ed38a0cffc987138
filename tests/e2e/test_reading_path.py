"""How many of our files one reading passes through, from its sample to its row at the sink."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from scenarios.cli import main
from scenarios.schema.load import load_scenario
from scenarios.wiring.simulation import build_simulation, build_world
from sim.trace.recorder import Recorder
from tests.support.checkers.trace import Trace
from tests.support.places import ROOT

SCENARIO = "gas-cloud-small"
SETTLED_US = 60_000_000
"""By then motes have heads, and what is computed once has been."""
FILES_MAX = 24


def test_a_reading_passes_through_few_files(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    assert (
        main(
            ["run", SCENARIO, "--set", "join.strategy=snjoin-star", "--out", str(tmp_path / "run")]
        )
        == 0
    )
    # A reading that went from a member to its head, past another head and to the sink.
    ((sampled_us, joined_us),) = Trace(tmp_path / "run").rows(f"""
        SELECT origin_at_us, results.at_us FROM results JOIN probes USING (origin, origin_at_us)
        JOIN fates ON fates.node = origin AND fates.origin_at_us = results.origin_at_us
        WHERE origin_at_us > {SETTLED_US} AND heads_matched > 0 AND fates.head <> origin
        ORDER BY origin_at_us LIMIT 1""")
    visited = files_between(sampled_us, joined_us, tmp_path / "again")
    record_property(
        "measured", f"a reading passes through {len(visited)} files: {', '.join(visited)}"
    )
    assert {"scenarios/simulation/sensing.py", "join/sink/site.py"} < set(visited)
    assert len(visited) <= FILES_MAX, "\n".join(visited)


def files_between(from_us: Any, until_us: Any, folder: Path) -> list[str]:  # noqa: ANN401
    """The files in which a line ran, from the events at `from_us` to those at `until_us`."""
    loaded = load_scenario(SCENARIO, ["join.strategy=snjoin-star"])
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
