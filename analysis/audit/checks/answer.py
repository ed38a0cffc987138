"""The answer, replayed: who is in it after each row, and that every mote leaves it when its reading leaves the window."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from analysis.audit.registry import Violation, check
from analysis.audit.run_trace import NULL, RunTrace

_SLACK_US: Final = 2
"""A mote that comes too late to stay leaves at once, at the next microsecond at the latest."""
_MOST: Final = 20
"""Violations to report before giving up: one error makes all later rows of its value wrong."""


class _Answer:
    """The motes in the answer of one value, with their newest readings."""

    def __init__(self) -> None:
        self.newest_us: dict[int, int] = {}
        self.known_us = 0
        """When the last of them came."""


@check("answer", "results")
def answer_differs(trace: RunTrace) -> Iterator[Violation]:
    """Every row of the answer follows from those before it."""
    lists = trace.lists("results", "partners")
    answers = (trace.column("results", "value") != NULL) & (
        trace.words("results", "selected").codes < 0
    )
    levels = trace.words("results", "level")
    rows = np.flatnonzero(answers & (levels.among("results") | (levels.codes < 0)))
    if lists.is_null[rows].any():
        return  # the scenario asked for no partners
    names = ("at_us", "value", "origin", "origin_at_us", "answer")
    columns = [trace.column("results", name)[rows].tolist() for name in names]
    starts = np.append(0, np.cumsum(lists.lengths))
    nodes, times_us = lists.nodes.tolist(), lists.times_us.tolist()
    changes = trace.words("results", "change")
    current: dict[int, _Answer] = {}
    found = 0
    for row, at_us, value, origin, origin_at_us, size in zip(rows.tolist(), *columns, strict=True):
        span = slice(int(starts[row]), int(starts[row + 1]))
        listed = zip(nodes[span], times_us[span], strict=True)
        answer = current.setdefault(value, _Answer())
        wrong = _overdue(answer, at_us, trace.window_us)
        was_empty = not answer.newest_us
        if origin == NULL:
            wrong = wrong or _depart(answer, at_us, trace.window_us, {node for node, _ in listed})
            expected = "u" if answer.newest_us else "-"
        else:
            for node, us in [(origin, origin_at_us), *listed]:
                answer.newest_us[node] = max(us, answer.newest_us.get(node, us))
            answer.known_us = at_us
            expected = "+" if was_empty else "u"
        if not wrong and changes.at(row) != expected:
            wrong = f"change is {changes.at(row)}, expected {expected}"
        if not wrong and size != len(answer.newest_us):
            wrong = f"answer is {size}, expected {len(answer.newest_us)}"
        if wrong:
            yield Violation(f"results, row {row}, value {value} at {at_us} us: {wrong}")
            found += 1
            if found == _MOST:
                return
    for value, answer in current.items():
        if wrong := _overdue(answer, trace.end_us, trace.window_us):
            yield Violation(f"value {value} at the end: {wrong}")


def _overdue(answer: _Answer, at_us: int, window_us: int) -> str:
    """Whether a mote should have left the answer before `at_us`."""
    if not answer.newest_us:
        return ""
    node, oldest_us = min(answer.newest_us.items(), key=lambda entry: entry[1])
    due_us = max(oldest_us + window_us + 1, answer.known_us)
    if due_us + _SLACK_US >= at_us:
        return ""
    return f"mote {node} should have left at {due_us} us"


def _depart(answer: _Answer, at_us: int, window_us: int, left: set[int]) -> str:
    """Remove the motes whose readings have left the window, all if fewer than two stay; says what is wrong with `left`."""
    staying = {node: us for node, us in answer.newest_us.items() if us >= at_us - window_us}
    gone = answer.newest_us.keys() - staying.keys() if len(staying) >= 2 else {*answer.newest_us}
    answer.newest_us = staying if len(staying) >= 2 else {}
    if left == gone:
        return ""
    return f"left are {sorted(left)[:10]}, expected {sorted(gone)[:10]}"
