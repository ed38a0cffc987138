"""The grid of `perpendicular`."""

from hypothesis import given
from hypothesis import strategies as st

from join.strategies.perpendicular.grid import Grid

SIDES_M = st.floats(1.0, 500.0)


def grid(motes_m: list[tuple[float, float]], alive: list[bool], *, cell_m: float = 10.0) -> Grid:
    return Grid(motes_m, field_m=(40.0, 30.0), cell_m=cell_m, alive=alive)


@given(
    width_m=SIDES_M,
    height_m=SIDES_M,
    cell_m=st.floats(5.0, 200.0),
    one=st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)),
    other=st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)),
)
def test_every_row_crosses_every_column_once(
    width_m: float,
    height_m: float,
    cell_m: float,
    one: tuple[float, float],
    other: tuple[float, float],
) -> None:
    motes_m = [(x * width_m, y * height_m) for x, y in (one, other)]
    made = Grid(motes_m, field_m=(width_m, height_m), cell_m=cell_m, alive=[True, True])
    row = {made.cell_of(0)}
    for step in (-1, 1):
        cell = made.beside(made.cell_of(0), step)
        while cell is not None:
            row.add(cell)
            cell = made.beside(cell, step)
    column = made.column(made.cell_of(1))
    assert len(row) == made.columns
    assert len(column) == len(set(column)) == made.rows
    assert len(row & set(column)) == 1


def test_a_probe_visits_its_own_cell_then_the_nearer_end_then_the_other() -> None:
    made = Grid([(0.5, 1.5)], field_m=(1.0, 4.0), cell_m=1.0, alive=[True])
    assert made.column(made.cell_of(0)) == (1, 0, 2, 3)


def test_the_leader_is_the_nearest_live_mote_and_stays_until_it_is_down() -> None:
    alive = [True, False, True]
    made = grid([(9.0, 9.0), (5.0, 5.0), (39.0, 29.0)], alive)
    assert made.leader(0) == 0
    alive[1] = True
    assert made.leader(0) == 0, "a nearer mote that comes back does not replace the leader"
    alive[0] = False
    assert made.leader(0) == 1
    alive[:] = [False, False, False]
    assert made.leader(0) == -1


def test_a_cell_without_motes_has_a_leader_too() -> None:
    made = grid([(1.0, 1.0)], [True])
    assert {made.leader(cell) for cell in range(made.rows * made.columns)} == {0}
