"""`motejoin docs`: the documents that ship, such as every scenario key and every metric."""

import argparse
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from sim.errors import InputError, near_miss

_EXAMPLES: Final = """examples:
  motejoin docs                 list the documents
  motejoin docs scenarios       every key of a scenario
  motejoin docs metrics         every metric, with its formula
"""
_PACKAGED: Final = "documents"
"""Where the documents are in an installed package, beside this package's own folders."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.description = "List the documents, or print one."
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "name", nargs="?", help="a document, such as scenarios; case does not count"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """List or print."""
    known = documents()
    if args.name is None:
        width = max(map(len, known))
        for name, file in sorted(known.items()):
            title = file.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
            print(f"{name:<{width}}  {title}")
        return 0
    wanted = args.name.removeprefix("docs/").removesuffix(".md").lower()
    if wanted not in known:
        hint = near_miss(wanted, known)
        raise InputError(
            f"{args.name}: no such document{hint}; there are: {', '.join(sorted(known))}"
        )
    print(known[wanted].read_text(encoding="utf-8"), end="")
    return 0


def documents() -> dict[str, Traversable]:
    """The documents by name, in an installed package or beside the source."""
    installed = resources.files("scenarios").joinpath(_PACKAGED)
    folder = installed if installed.is_dir() else Path(__file__).parents[2] / "docs"
    found = (file for file in folder.iterdir() if file.name.endswith(".md"))
    return {file.name.removesuffix(".md").lower(): file for file in found}
