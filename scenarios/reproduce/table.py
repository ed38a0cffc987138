"""The measured rows of a figure: selected, averaged over seeds, and written as CSV."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis.compare.intervals import Estimate, estimate


@dataclass(frozen=True, slots=True)
class Table:
    """Rows in the order of the figure's points; each has the parameters of its point and what was measured."""

    rows: tuple[dict[str, Any], ...]

    def where(self, **wanted: object) -> "Table":
        """The rows that have these values."""
        return Table(
            tuple(
                row
                for row in self.rows
                if all(row.get(name) == value for name, value in wanted.items())
            )
        )

    def column(self, name: str) -> list[Any]:
        """The values of a column, without rows that lack it."""
        return [row[name] for row in self.rows if row.get(name) is not None]

    def distinct(self, name: str) -> list[Any]:
        """The different values of a column, in the order in which they come first."""
        return list(dict.fromkeys(self.column(name)))

    def estimate(self, name: str, **wanted: object) -> Estimate:
        """The mean of a column over the rows that have these values (its seeds), with its interval."""
        return estimate(self.where(**wanted).column(name))

    def mean(self, name: str, **wanted: object) -> float:
        """The mean of a column over the rows that have these values (its seeds)."""
        mean = self.estimate(name, **wanted).mean
        assert mean is not None, (name, wanted)
        return mean

    def curve(
        self, horizontal: str, vertical: str, **wanted: object
    ) -> tuple[list[Any], list[float]]:
        """Means of one column for each value of another, in ascending order."""
        rows = self.where(**wanted)
        places = sorted(rows.distinct(horizontal))
        places = [x for x in places if rows.where(**{horizontal: x}).column(vertical)]
        return places, [rows.mean(vertical, **{horizontal: x}) for x in places]

    def columns(self) -> Sequence[str]:
        """All columns, in the order in which they come first."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def csv(self) -> str:
        """The table as text: the same for the same rows on every machine."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return text.getvalue()
