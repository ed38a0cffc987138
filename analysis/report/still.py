"""The plots of a report as still figures, from the same numbers, for notebooks and papers."""

from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from analysis.report.figure import Figure
from analysis.report.view import open_run
from sim.errors import InputError, near_miss

# The page's palette in its light scheme: `--s1` to `--s12` of report.css.
_SLOTS: Final = (
    *("#1f6fb2", "#e69f00", "#12936d", "#b8578f", "#cf4a1c", "#56b4e9"),
    *("#8a929d", "#5f43a6", "#8a6a12", "#a3c64a", "#f0a3b6", "#27384a"),
)
_SIZE_INCHES: Final = (8.0, 4.2)


def run_figure(directory: Path, name: str) -> Picture:
    """One plot of a run's report.

    Raises:
        TraceError: the directory is no complete run.
        InputError: its report has no such plot.
    """
    figures = {figure.name: figure for figure in open_run(directory).figures}
    if name not in figures:
        hint = near_miss(name, figures)
        raise InputError(f"plot {name!r}: no such plot{hint}; there are: {', '.join(figures)}")
    if figures[name].specification is None:
        raise InputError(f"plot {name!r}: {figures[name].missing}")
    return still(figures[name])


def still(figure: Figure) -> Picture:
    """A plot of the report, drawn by Matplotlib."""
    assert figure.specification is not None, figure.name
    picture = Picture(figsize=_SIZE_INCHES, layout="constrained")
    axes = picture.add_subplot()
    spec = figure.specification
    _DRAWN[spec["type"]](axes, spec)
    axes.set_title(figure.title, loc="left", fontsize=11)
    axes.set_ylabel(spec["y"]["label"])
    axes.set_xlabel(spec.get("x", {}).get("label", "time (s)"))
    if most := spec["y"].get("most"):
        axes.set_ylim(0, most * 1.02)
    if cut := spec["y"].get("cut"):
        axes.set_ylim(0, cut)
        for peak in spec["peaks"]:
            axes.annotate(
                "\u2191", (peak["at_s"], 1.0), xycoords=("data", "axes fraction"), ha="center"
            )
    axes.grid(visible=True, axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if len(spec.get("series", [])) > 1:
        picture.legend(loc="outside lower center", ncols=5, frameon=False)
    return picture


def _lines(axes: Axes, spec: dict[str, Any]) -> None:
    for each in spec["series"]:
        # A gap where there is no value.
        values = np.array(each["values"], dtype=float)
        colour = _SLOTS[each["slot"] - 1]
        axes.plot(spec["times_s"], values, color=colour, label=each["name"])
        if each.get("area"):
            axes.fill_between(spec["times_s"], 0, values, color=colour, alpha=0.2, linewidth=0)
    axes.set_ylim(bottom=0)


def _stack(axes: Axes, spec: dict[str, Any]) -> None:
    values = np.array([each["values"] for each in spec["series"]], dtype=float)
    if "edges_s" in spec:
        edges_s = np.array(spec["edges_s"])
        width_s = np.diff(edges_s)
        times_s = (edges_s[:-1] + edges_s[1:]) / 2
        values = values / np.where(width_s > 0, width_s, 1.0)
    else:
        times_s = np.array(spec["times_s"])
    colours = [_SLOTS[each["slot"] - 1] for each in spec["series"]]
    axes.stackplot(times_s, values, colors=colours, labels=[e["name"] for e in spec["series"]])


def _bars(axes: Axes, spec: dict[str, Any]) -> None:
    edges = np.array(spec["edges"])
    axes.bar(edges[:-1], spec["counts"], width=np.diff(edges), align="edge", color=_SLOTS[0])
    if spec["x"].get("log"):
        axes.set_xscale("log")
    if spec["y"].get("log"):
        axes.set_yscale("log")
    for mark in spec.get("marks", []):
        axes.axvline(mark["at"], color="black", linewidth=1, linestyle=":")
        axes.annotate(mark["label"], (mark["at"], 0.97), xycoords=("data", "axes fraction"))


def _spans(axes: Axes, spec: dict[str, Any]) -> None:
    for span in spec["spans"]:
        middle_s, width_s = (span["from_s"] + span["to_s"]) / 2, span["to_s"] - span["from_s"]
        if "value" in span:
            axes.bar(middle_s, span["value"], width=0.95 * width_s, color=_SLOTS[0])
            continue
        low, q1, median, q3, high = span["box"]
        axes.vlines(middle_s, low, high, color="black", linewidth=1)
        axes.bar(middle_s, q3 - q1, width=0.5 * width_s, bottom=q1, color=_SLOTS[5])
        axes.hlines(median, middle_s - width_s / 4, middle_s + width_s / 4, color="black")


_DRAWN: Final = {"lines": _lines, "stack": _stack, "bars": _bars, "spans": _spans}
