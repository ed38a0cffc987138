"""`motejoin run`: one simulation, live progress, a summary, a run directory."""

import argparse
import os
import sys
from pathlib import Path

EXAMPLES = """examples:
  motejoin run gas-cloud
  motejoin run gas-cloud-small --seed 7 --out runs/seed-7
  motejoin run my-field.toml --set motes.count=500 --set join.feedback=off

Every key is in docs/SCENARIOS.md. Runs that differ only in clustering.protocol elect different numbers of heads:
docs/CLUSTERING.md explains how to compare protocols.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.description = "Run one simulation. The last line on stdout is the run directory."
    parser.epilog = EXAMPLES
    parser.add_argument("scenario", help="a scenario file, or the name of a shipped one")
    parser.add_argument("--seed", type=int, help="random seed (default: the scenario's)")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="run directory (default: runs/NAME-SEED)"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change one key of the scenario, such as motes.count=500; may be repeated",
    )
    parser.add_argument(
        "--audit",
        action="store_true",
        help="check the trace when the run is done, as `motejoin audit`",
    )
    parser.add_argument("--force", action="store_true", help="replace an earlier run in DIR")
    parser.add_argument(
        "--allow-functions",
        action="store_true",
        help="load the Python functions that [functions] of the scenario names: they are code",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the simulation and print its summary."""
    from scenarios.commands.audit import audit_and_print
    from scenarios.schema.load import load_scenario
    from scenarios.simulation.run import run_scenario
    from scenarios.simulation.summary import summary
    from scenarios.terminal.progress import ProgressDisplay
    from scenarios.wiring.expected_load import expected_load, load_warning
    from scenarios.wiring.simulation import Simulation
    from sim.units import US_PER_S

    settings = list(args.set)
    if args.seed is not None:
        settings.append(f"seed={args.seed}")
    loaded = load_scenario(args.scenario, settings, allow_functions=args.allow_functions)
    scenario = loaded.scenario
    if warning := load_warning(expected_load(loaded, scenario.seed), scenario.radio.mac):
        print(warning, file=sys.stderr)
    directory: Path = args.out or _free_directory(Path("runs") / f"{scenario.name}-{scenario.seed}")
    title = f"{scenario.name}: {scenario.motes.count:,} motes, {scenario.duration_s:g} s"
    with ProgressDisplay(title, scenario.duration_s) as display:

        def progress(simulation: Simulation) -> None:
            tracking = simulation.tracking
            note = f"{tracking.inside:,} motes inside, {tracking.answered:,} in the answer"
            display.update(simulation.kernel.now_us / US_PER_S, note)

        manifest = run_scenario(
            loaded,
            directory,
            force=args.force,
            progress=progress,
            measuring=lambda: display.update(scenario.duration_s, "computing the metrics"),
        )
    print(summary(manifest, directory))
    passed = not args.audit or audit_and_print(directory)
    print(directory)
    return 0 if passed else 1


def _free_directory(wanted: Path) -> Path:
    """`wanted`, or the first of wanted-2, wanted-3, … that does not exist yet."""
    directory, number = wanted, 1
    while os.path.lexists(directory):  # also False for a name that no file can have
        number += 1
        directory = wanted.with_name(f"{wanted.name}-{number}")
    return directory
