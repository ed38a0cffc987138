"""Counts the objects that a simulation holds on to: what grows without end in a steady state is a leak, however small."""

import gc
from collections import Counter
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType

from scenarios.wiring.simulation import Simulation

_CONSTANT = (type, ModuleType, CodeType, FrameType)
"""What belongs to the program and not to a run."""


def census(simulation: Simulation) -> Counter[str]:
    """How many objects of each type a simulation holds, rows that wait to be written left out."""
    waiting = [simulation.recorder.rows(table) for table in simulation.recorder.tables]
    counts: Counter[str] = Counter()
    seen = {id(rows) for rows in waiting}
    found: list[object] = [simulation]
    while found:
        each = found.pop()
        if id(each) in seen or isinstance(each, _CONSTANT):
            continue
        seen.add(id(each))
        counts[type(each).__name__] += 1
        if isinstance(each, FunctionType):
            found += each.__closure__ or ()
            found += each.__defaults__ or ()
        elif isinstance(each, BuiltinFunctionType):
            found.append(each.__self__)
        else:
            found += gc.get_referents(each)
    return counts
