"""Users' own modules, imported before anything is looked up by name, so that their registrations count.

A module is named in the environment variable `MOTEJOIN_PLUGINS`, or in the entry-point group `motejoin.plugins` of an
installed package. Importing it must be enough: it calls `register(…)` for what it adds.
"""

import importlib
import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from typing import Final

from sim.errors import InputError

VARIABLE: Final = "MOTEJOIN_PLUGINS"
"""Names modules, installed or in the current folder, with commas between them."""
GROUP: Final = "motejoin.plugins"
"""The entry-point group in which packages name theirs."""


@cache
def load_plugins() -> None:
    """Import all plug-in modules, once.

    Raises:
        InputError: one cannot be imported.
    """
    for named_by, module in _named():
        sys.path.insert(0, "")
        try:
            importlib.import_module(module)
        except (Exception, SystemExit) as fault:  # it is the user's and may fail in any way
            problem = f"{type(fault).__name__}: {fault}"
            raise InputError(f"{named_by}: module {module!r} cannot be used: {problem}") from fault
        finally:
            sys.path.remove("")


def _named() -> Iterator[tuple[str, str]]:
    """Who names a module, and the module."""
    for name in os.environ.get(VARIABLE, "").split(","):
        if name.strip():
            yield VARIABLE, name.strip()
    for point in entry_points(group=GROUP):
        yield f"{GROUP}.{point.name}", point.module
