"""Rows of the trace: plain values, in the order of their table's columns."""

import gc
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from sim.trace import rows
from sim.trace.tables import TABLES, AnswerLevel, Change, DropReason, Event, Fate, RequestEnd

IN_PLACE = {"readings", "messages", "traffic"}
"""Tables that have too many rows for a call each."""

FUNCTIONS: dict[str, Callable[..., rows.Row]] = {
    "motes": rows.mote_row,
    "truth": rows.truth_row,
    "fates": rows.fate_row,
    "probes": rows.probe_row,
    "requests": rows.request_row,
    "results": rows.result_row,
    "elections": rows.election_row,
    "energy": rows.energy_row,
    "drops": rows.drop_row,
    "deaths": rows.death_row,
    "faults": rows.fault_row,
}

MEMBERS: dict[tuple[str, str], Any] = {
    ("fates", "fate"): Fate.DROPPED,
    ("fates", "reason"): DropReason.LATE,
    ("requests", "outcome"): RequestEnd.GIVEN_UP,
    ("requests", "reason"): DropReason.DEAD,
    ("results", "change"): Change.UPDATE,
    ("results", "level"): AnswerLevel.COUNT,
    ("drops", "reason"): DropReason.QUEUE_FULL,
    ("faults", "event"): Event.RECOVERY,
}


def test_every_table_has_a_function_or_is_written_in_place() -> None:
    assert FUNCTIONS.keys() | IN_PLACE == TABLES.keys()
    assert not FUNCTIONS.keys() & IN_PLACE
    named = {f for name, f in inspect.getmembers(rows, inspect.isfunction) if name.endswith("_row")}
    assert named == set(FUNCTIONS.values())


@pytest.mark.parametrize("table", FUNCTIONS)
def test_a_row_has_its_columns_in_order_and_plain(table: str) -> None:
    names = [column.name for column in TABLES[table]]
    assert list(inspect.signature(FUNCTIONS[table]).parameters) == names
    given = {name: MEMBERS.get((table, name), f"<{name}>") for name in names}
    row = FUNCTIONS[table](**given)
    assert type(row) is tuple
    assert row == tuple(given.values())
    assert {type(cell) for cell in row} == {str}
    gc.collect()
    assert not gc.is_tracked(row)


@pytest.mark.parametrize("table", FUNCTIONS)
def test_only_columns_that_may_be_null_or_false_can_be_left_out(table: str) -> None:
    parameters = inspect.signature(FUNCTIONS[table]).parameters
    for column in TABLES[table]:
        default = parameters[column.name].default
        assert default is inspect.Parameter.empty or default is False or column.nullable
