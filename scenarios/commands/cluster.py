"""`motejoin cluster`: one election on a random field, with its figures and its picture."""

import argparse
from pathlib import Path

from clustering.protocols.registry import option_flags, protocol_options, registered

EXAMPLES = """examples:
  motejoin cluster --protocol heed --nodes 1000 --side 2000 --range 100 --seed 1 --json
  motejoin cluster --protocol heed --cost degree --range 200 --plot clusters.png
  motejoin cluster --protocol heed --range 100 --upper-range 600
  motejoin cluster --protocol max-min --hops 3 --weight energy
  motejoin cluster --protocol leach --heads 50 --loss 0.3
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.description = (
        "Hold one election among motes placed at random in a square, all batteries full unless set"
        " otherwise, and show its outcome and what its messages cost."
    )
    parser.epilog = EXAMPLES
    field = parser.add_argument_group("field")
    field.add_argument("--nodes", type=int, default=1000, help="motes (default: 1000)")
    field.add_argument(
        "--side", type=float, default=2000.0, help="of the square, m (default: 2000)"
    )
    field.add_argument("--seed", type=int, default=1, help="random seed (default: 1)")
    field.add_argument(
        "--battery",
        type=float,
        default=1.0,
        metavar="SHARE",
        help="least battery level: each mote's is uniform between it and 1 (default: 1)",
    )
    field.add_argument(
        "--loss", type=float, default=0.0, help="share of message copies lost (default: 0)"
    )
    election = parser.add_argument_group("election")
    election.add_argument(
        "--protocol",
        choices=[protocol.name for protocol in registered()],
        default="heed",
        metavar="NAME",
        help="how heads are elected: %(choices)s (default: heed)",
    )
    election.add_argument(
        "--range", type=float, default=100.0, help="cluster range, m (default: 100)"
    )
    for key, flag in option_flags().items():
        _add_option(election, key, flag)
    output = parser.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    output.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw the clusters (.png, .svg, .pdf)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Hold the election and print its figures."""
    from scenarios.simulation.single_election import single_election

    print(single_election(args))
    return 0


def _add_option(group: "argparse._ArgumentGroup", key: str, flag: str) -> None:
    """Add an option that protocols declare; its limits are checked with all others when the command runs."""
    shared = protocol_options()[key]
    option, meaning = shared.option, shared.meaning.replace("%", "%%")
    if option.kind is tuple:
        help_text = f"{meaning}; may be repeated"
        group.add_argument(
            flag, dest=key, action="append", default=[], type=float, metavar="N", help=help_text
        )
        return
    by_default = "" if option.default is None else f" (default: {option.default})"
    if option.choices:
        group.add_argument(
            flag,
            dest=key,
            choices=option.choices,
            default=str(option.default),
            metavar="NAME",
            help=f"{meaning}: %(choices)s{by_default}",
        )
    elif option.kind is bool:
        group.add_argument(
            flag,
            dest=key,
            action=argparse.BooleanOptionalAction,
            default=option.default,
            help=f"{meaning}{by_default}",
        )
    else:
        group.add_argument(
            flag,
            dest=key,
            type=option.kind,
            default=option.default,
            metavar="N",
            help=f"{meaning}{by_default}",
        )
