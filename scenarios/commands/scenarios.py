"""`motejoin scenarios`: lists the shipped scenarios and sweeps, prints one, or draws a scenario's gas cloud."""

import argparse
import tomllib
from pathlib import Path

from scenarios.files.outputs import unwritable
from scenarios.files.shipped import shipped_scenarios, shipped_sweeps
from sim.errors import Fault, InputError, ScenarioError, near_miss

EXAMPLES = """examples:
  motejoin scenarios
  motejoin scenarios gas-cloud > my-field.toml
  motejoin scenarios feedback-small > my-sweep.toml
  motejoin scenarios my-field.toml --picture cloud.png
  motejoin scenarios wind-shift --picture shift.png --times 90,140,180,220 --seed 7
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.epilog = EXAMPLES
    parser.add_argument(
        "name",
        nargs="?",
        help="print the file of this scenario or sweep; with --picture, also a scenario's path",
    )
    parser.add_argument(
        "--picture",
        type=Path,
        metavar="FILE.png",
        help="draw motes and gas cloud at several times instead; only the gas is simulated",
    )
    parser.add_argument(
        "--times",
        type=_times_s,
        metavar="S,S,…",
        help="the times to draw (default: evenly over the time that motes are inside)",
    )
    parser.add_argument("--seed", type=int, help="random seed (default: the scenario's)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """List, print or draw."""
    if args.picture is not None:
        return _draw(args)
    if args.times is not None or args.seed is not None:
        raise InputError("--times and --seed: expected with --picture FILE.png")
    scenarios, sweeps = shipped_scenarios(), shipped_sweeps()
    shipped = scenarios | sweeps
    if args.name is None:
        width = max(map(len, shipped))
        for title, texts in (("scenarios", scenarios), ("sweeps", sweeps)):
            print(f"{title}:")
            for name, text in texts.items():
                print(f"  {name:<{width}}  {tomllib.loads(text).get('description', '')}")
        return 0
    if args.name not in shipped:
        hint = near_miss(args.name, shipped)
        raise InputError(
            f"{args.name}: no such scenario or sweep{hint}; there are: {', '.join(shipped)}"
        )
    print(shipped[args.name], end="")
    return 0


def _draw(args: argparse.Namespace) -> int:
    path: Path = args.picture
    if args.name is None:
        raise InputError("--picture: expected a scenario's name or path before it")
    if path.suffix.lower() != ".png":
        raise InputError(f"--picture {path}: expected a file ending in .png")
    from scenarios.phenomena.registry import kind_of, kinds
    from scenarios.schema.load import load_scenario
    from scenarios.wiring.simulation import build_world

    loaded = load_scenario(args.name, [] if args.seed is None else [f"seed={args.seed}"])
    scenario = loaded.scenario
    draw = kind_of(scenario.phenomenon).draw
    if draw is None:
        expected = " or ".join(repr(kind.name) for kind in kinds() if kind.draw)
        fault = Fault("phenomenon.kind", repr(scenario.phenomenon.kind), f"expected {expected}")
        raise ScenarioError(f"--picture {loaded.source}", [fault])
    world = build_world(loaded, scenario.seed)
    try:
        draw(
            world.phenomenon,
            world.placement.motes_m,
            path,
            times_s=args.times or (),
            duration_s=scenario.duration_s,
            title=f"{scenario.name}, seed {scenario.seed}",
        )
    except OSError as fault:
        raise InputError(f"--picture {unwritable(path, fault)}") from None
    print(path)
    return 0


def _times_s(text: str) -> list[float]:
    """The times of `--times`, in order."""
    try:
        times_s = sorted(float(part) for part in text.split(","))
    except ValueError:
        times_s = []
    if not times_s or not 0 <= times_s[0] <= times_s[-1] < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r}: expected seconds, such as 60,120,240")
    return times_s
