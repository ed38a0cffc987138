"""`motejoin run`: one simulation, live progress, a summary, a run directory."""

import argparse
import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from analysis.store.place import folder_path

if TYPE_CHECKING:
    from scenarios.schema.load import LoadedScenario

EXAMPLES = """examples:
  motejoin run gas-cloud
  motejoin run gas-cloud-small --seed 7 --out runs/seed-7
  motejoin run my-field.toml --set motes.count=500 --set join.feedback=off
  motejoin run gas-cloud-small --out runs/cloud --baseline centralised

Every key: motejoin docs scenarios. Runs that differ only in clustering.protocol elect different numbers of heads:
motejoin docs clustering explains how to compare protocols.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.description = "Run one simulation. The last line on stdout is the run directory."
    parser.epilog = EXAMPLES
    parser.add_argument("scenario", help="a scenario file, or the name of a shipped one")
    parser.add_argument("--seed", type=int, help="random seed (default: the scenario's)")
    parser.add_argument(
        "--out", type=folder_path, metavar="DIR", help="run directory (default: runs/NAME-SEED)"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change one key of the scenario, such as motes.count=500; may be repeated",
    )
    parser.add_argument(
        "--baseline",
        metavar="STRATEGY",
        help="run the scenario with this join.strategy too, into DIR-STRATEGY, to compare costs with",
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
    """Run the simulation, and its baseline if there is to be one, and print the summaries."""
    from scenarios.commands.audit import audit_and_print
    from scenarios.schema.load import load_scenario
    from scenarios.simulation.run import check_free, free_directory

    settings = list(args.set)
    if args.seed is not None:
        settings.append(f"seed={args.seed}")
    allowed = args.allow_functions
    loaded = load_scenario(args.scenario, settings, allow_functions=allowed)
    name, seed = loaded.scenario.name, loaded.scenario.seed
    directory: Path = args.out or free_directory(Path("runs") / f"{name}-{seed}")
    check_free(directory, loaded.source, force=args.force)
    made = [directory]
    if args.baseline is None:
        _simulate(loaded, directory, force=args.force)
    else:
        changed = [*settings, f"join.strategy={args.baseline}"]
        other = load_scenario(args.scenario, changed, allow_functions=allowed)
        beside = directory.with_name(f"{directory.name}-{args.baseline}")
        check_free(beside, other.source, force=args.force)
        _simulate(other, beside, force=args.force)
        _simulate(loaded, directory, force=args.force)
        both = f"{quote(str(directory))} --baseline {quote(str(beside))}"
        print(f"  to see both: motejoin report {both}")
        made.append(beside)
    audits = [audit_and_print(each) for each in made] if args.audit else []
    print(directory)
    return 0 if all(audits) else 1


def _simulate(loaded: "LoadedScenario", directory: Path, *, force: bool) -> None:
    """Run a scenario and print its summary."""
    from scenarios.simulation.run import run_scenario
    from scenarios.simulation.summary import summary
    from scenarios.terminal.progress import ProgressDisplay
    from scenarios.wiring.expected_load import expected_load, load_warning
    from scenarios.wiring.simulation import Simulation
    from sim.units import US_PER_S

    scenario = loaded.scenario
    if warning := load_warning(expected_load(loaded, scenario.seed), scenario.radio.mac):
        print(warning, file=sys.stderr)
    title = f"{scenario.name}: {scenario.motes.count:,} motes, {scenario.duration_s:g} s"
    with ProgressDisplay(title, scenario.duration_s) as display:

        def progress(simulation: Simulation) -> None:
            tracking = simulation.tracking
            note = f"{tracking.inside:,} motes inside, {tracking.answered:,} in the answer"
            display.update(simulation.kernel.now_us / US_PER_S, note)

        manifest = run_scenario(
            loaded,
            directory,
            force=force,
            progress=progress,
            measuring=lambda: display.update(scenario.duration_s, "computing the metrics"),
            warn=lambda text: print(text, file=sys.stderr),
        )
    print(summary(manifest, directory))
