"""Python's search for cyclic garbage, made rare while a simulation, a query or a sweep runs.

A run keeps millions of small objects (trace rows, held readings, messages on air), hardly any of them in cycles;
searching them as often as Python does by default took a fifth of the time.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG_MOST = 100_000
"""New objects between two searches among them: Python's own number is 700."""


@contextmanager
def rare_collection() -> Iterator[None]:
    """Search for cyclic garbage rarely until the block is left."""
    young, *older = gc.get_threshold()
    gc.set_threshold(max(young, YOUNG_MOST) if young else 0, *older)
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(young, *older)
