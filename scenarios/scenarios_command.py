"""`motejoin scenarios`: what ships, and a file to start one's own from."""

import argparse
import tomllib

from scenarios.faults import near_miss
from scenarios.load import shipped_scenarios
from scenarios.sweep_file import shipped_sweeps
from sim.errors import InputError

EXAMPLES = """examples:
  motejoin scenarios
  motejoin scenarios gas-cloud > my-field.toml
  motejoin scenarios feedback-small > my-sweep.toml
"""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "scenarios",
        help="list the scenarios and sweeps that ship, or print one to start your own from",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="?", help="print the file of this scenario or sweep")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry the command out."""
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
