"""Python functions that queries call: found by name, as `module:function`.

To load one is to run its module. A scenario file that names functions is code, so they are loaded only where the user
allows it.
"""

import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from join.dsms.changes import Scalar
from sim.errors import InputError

NOT_ALLOWED: Final = (
    "not loaded: it is Python code, which can do anything on this machine;"
    " if you trust it, expected --allow-functions (in Python: allow_functions=True)"
)


def module_file(where: str) -> str:
    """The name of the module's file, if it is beside the file that names it."""
    return where.partition(":")[0].replace(".", "/") + ".py"


def load_function(where: str, folder: Path) -> tuple[Callable[..., Scalar], int]:
    """A function and how many arguments it takes, from a module in `folder` or an installed one.

    Raises:
        InputError: There is none.
    """
    module_name, _, function_name = where.partition(":")
    if not function_name:
        raise InputError("expected MODULE:FUNCTION")
    sys.path.insert(0, str(folder.resolve()))
    try:
        module = importlib.import_module(module_name)
        function = getattr(module, function_name)
    except (ImportError, AttributeError) as fault:
        raise InputError(str(fault)) from fault
    except (Exception, SystemExit) as fault:  # the module is the user's and may fail in any way
        raise InputError(f"{type(fault).__name__}: {fault}") from fault
    finally:
        sys.path.pop(0)
    meant, loaded = folder / module_file(where), getattr(module, "__file__", None)
    if meant.is_file() and (loaded is None or Path(loaded).resolve() != meant.resolve()):
        raise InputError(
            f"another module {module_name} is in use: expected another name for {meant}"
        )
    if not callable(function):
        raise InputError("this is no function")
    try:
        return function, len(inspect.signature(function).parameters)
    except ValueError:
        problem = "how many arguments it takes is not known: expected a function written in Python"
        raise InputError(problem) from None
