"""A grid of cells over the field, each with a leader: the live mote nearest to the cell's centre."""

from collections.abc import Sequence

from join.strategies.contract import Point


class Grid:
    """Cells by number, row by row; every row crosses every column in one cell.

    Every cell has a leader while any mote lives; one mote may lead several cells. A leader stays until it is down.
    """

    def __init__(
        self, motes_m: Sequence[Point], *, field_m: Point, cell_m: float, alive: Sequence[bool]
    ) -> None:
        """Lay a grid of cells of about `cell_m` over a field; `alive` says which motes work now."""
        assert cell_m > 0, cell_m
        self._motes_m = motes_m
        self._alive = alive
        self.columns = max(1, round(field_m[0] / cell_m))
        self.rows = max(1, round(field_m[1] / cell_m))
        self._width_m = field_m[0] / self.columns
        self._height_m = field_m[1] / self.rows
        self._leaders: dict[int, int] = {}
        self._nearest: dict[int, list[int]] = {}
        """By cell: the motes from the nearest to its centre on."""

    def cell_of(self, mote: int) -> int:
        """The cell that a mote is in; one outside of the field is in the nearest."""
        x_m, y_m = self._motes_m[mote]
        column = min(self.columns - 1, max(0, int(x_m // self._width_m)))
        row = min(self.rows - 1, max(0, int(y_m // self._height_m)))
        return row * self.columns + column

    def beside(self, cell: int, step: int) -> int | None:
        """The next cell of the row, to the left (`step` -1) or right (1); None at its end."""
        column = cell % self.columns + step
        return cell + step if 0 <= column < self.columns else None

    def column(self, cell: int) -> tuple[int, ...]:
        """The cells of the column, in the order in which a probe from `cell` visits all of them.

        First the cell itself, then on to the nearer end, and last from there to the other end.
        """
        row, column = divmod(cell, self.columns)
        above = range(row - 1, -1, -1)
        below = range(row + 1, self.rows)
        nearer, farther = (above, below) if len(above) <= len(below) else (below, above)
        return tuple(each * self.columns + column for each in (row, *nearer, *farther))

    def leader(self, cell: int) -> int:
        """The leader of a cell; -1 if no mote lives."""
        leader = self._leaders.get(cell, -1)
        if leader < 0 or not self._alive[leader]:
            leader = self._leaders[cell] = self._find(cell)
        return leader

    def _find(self, cell: int) -> int:
        order = self._nearest.get(cell)
        if order is None:
            row, column = divmod(cell, self.columns)
            x_m, y_m = (column + 0.5) * self._width_m, (row + 0.5) * self._height_m
            order = self._nearest[cell] = sorted(
                range(len(self._motes_m)),
                key=lambda mote: (
                    (self._motes_m[mote][0] - x_m) ** 2 + (self._motes_m[mote][1] - y_m) ** 2
                ),
            )
        return next((mote for mote in order if self._alive[mote]), -1)
