"""`motejoin cluster`: one election on a random field, with its figures and its picture."""

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

from scenarios.commands.choices import Choices

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
        "Hold one election among motes placed at random in a square, all batteries full unless said"
        " otherwise, and show what came out of it and what its messages cost."
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
    _add_choice(election, "--protocol", _protocols, "heed", "who elects how")
    election.add_argument(
        "--range", type=float, default=100.0, help="cluster range, m (default: 100)"
    )
    _add_choice(election, "--cost", _costs, "amrp", "heed: what heads are compared by")
    election.add_argument(
        "--c-prob",
        type=float,
        default=0.05,
        help="heed: first probability to stand (default: 0.05)",
    )
    election.add_argument(
        "--p-min", type=float, default=0.0005, help="heed: its least value (default: 0.0005)"
    )
    election.add_argument(
        "--upper-range",
        type=float,
        action="append",
        default=[],
        metavar="M",
        help="heed: let the heads elect heads among themselves at this range; may be repeated",
    )
    election.add_argument(
        "--heads",
        type=int,
        help="leach, k-means: heads wanted (default: as many as squares of side range·√2 fill the field)",
    )
    _add_choice(election, "--lot", _lots, "rotating", "leach: how probabilities are set")
    _add_choice(election, "--weight", _weights, "energy", "dca, max-min: what makes a good head")
    election.add_argument(
        "--hops", type=int, default=2, help="max-min: from a member to its head (default: 2)"
    )
    _add_choice(election, "--cell-head", _cell_heads, "energy", "grid: who leads a cell")
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


def _protocols() -> Iterable[str]:
    from clustering.protocols.registry import Protocol

    return Protocol


def _costs() -> Iterable[str]:
    from clustering.protocols.heed import Cost

    return Cost


def _lots() -> Iterable[str]:
    from clustering.protocols.leach import Lot

    return Lot


def _weights() -> Iterable[str]:
    from clustering.protocols.registry import Weight

    return Weight


def _cell_heads() -> Iterable[str]:
    from clustering.protocols.grid import CellHead

    return CellHead


def _add_choice(
    group: "argparse._ArgumentGroup",
    option: str,
    names: Callable[[], Iterable[str]],
    default: str,
    meaning: str,
) -> None:
    group.add_argument(
        option,
        choices=Choices(names),
        default=default,
        metavar="NAME",
        help=f"{meaning}: %(choices)s (default: {default})",
    )
