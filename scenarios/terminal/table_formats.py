"""Tables of answers as text for papers and spreadsheets: Markdown, LaTeX, CSV."""

import csv
import io
from collections.abc import Callable, Sequence
from typing import Final

_SPECIAL: Final = {
    "\\": r"\textbackslash{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "–": "--",
    "±": r"$\pm$",
    "µ": r"$\mu$",
    "−": "$-$",
}

Rows = Sequence[Sequence[str]]


def as_markdown(header: Sequence[str], rows: Rows, caption: str) -> str:
    """A table in Markdown, its caption below."""

    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    rule = ["---", *("---:" for _ in header[1:])]
    return "\n".join([line(header), line(rule), *map(line, rows), "", caption, ""])


def as_latex(header: Sequence[str], rows: Rows, caption: str) -> str:
    """A table in LaTeX, with its caption; it needs the package booktabs."""

    def line(cells: Sequence[str]) -> str:
        return f"    {' & '.join(map(_escaped, cells))} \\\\"

    return "\n".join(
        [
            "\\begin{table}",
            "  \\centering",
            f"  \\caption{{{_escaped(caption)}}}",
            f"  \\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
            "    \\toprule",
            line(header),
            "    \\midrule",
            *map(line, rows),
            "    \\bottomrule",
            "  \\end{tabular}",
            "\\end{table}",
            "",
        ]
    )


def as_csv(header: Sequence[str], rows: Rows, caption: str) -> str:
    """A table as CSV, without its caption."""
    del caption
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(letter, letter) for letter in text)


FORMATS: Final[dict[str, Callable[[Sequence[str], Rows, str], str]]] = {
    "md": as_markdown,
    "latex": as_latex,
    "csv": as_csv,
}
"""By the name that `--format` takes."""
