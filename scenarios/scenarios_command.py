"""`motejoin scenarios`: what ships, and a file to start one's own from."""

import argparse
import tomllib

from scenarios.faults import near_miss
from scenarios.load import shipped_scenarios
from sim.errors import InputError

EXAMPLES = """examples:
  motejoin scenarios
  motejoin scenarios gas-cloud > my-field.toml
"""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "scenarios",
        help="list the scenarios that ship, or print one to start your own from",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="?", help="print this scenario's file")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry the command out."""
    shipped = shipped_scenarios()
    if args.name is None:
        width = max(map(len, shipped))
        for name, text in shipped.items():
            print(f"{name:<{width}}  {tomllib.loads(text).get('description', '')}")
        return 0
    if args.name not in shipped:
        hint = near_miss(args.name, shipped)
        raise InputError(f"{args.name}: no such scenario{hint}; there are: {', '.join(shipped)}")
    print(shipped[args.name], end="")
    return 0
