"""Message kinds and causes of energy: declared once, and what traces have."""

from sim.trace import kinds
from sim.trace.kinds import CAUSES, CONTROL, CONTROL_KINDS, DATA_KINDS
from sim.trace.tables import TABLES


def test_kinds_and_causes_are_plain_and_different() -> None:
    names = [*DATA_KINDS, *CONTROL_KINDS, kinds.STATE]
    assert len(set(names)) == len(names)
    assert len({*CAUSES, CONTROL}) == len(CAUSES) + 1
    assert {type(name) for name in (*names, *CAUSES, CONTROL)} == {str}


def test_each_constant_is_listed() -> None:
    constants = {name: value for name, value in vars(kinds).items() if isinstance(value, str)}
    texts = {value for name, value in constants.items() if name.isupper()}
    assert texts == {*DATA_KINDS, *CONTROL_KINDS, kinds.STATE, *CAUSES, CONTROL}
    for name, value in constants.items():
        assert not name.isupper() or value == name.lower().replace("_", "-")


def test_the_energy_table_has_a_column_for_each_cause() -> None:
    columns = {column.name for column in TABLES["energy"]} - {"at_us", "node", "residual_j"}
    assert columns == {f"{cause}_j" for cause in (*CAUSES, CONTROL)}
