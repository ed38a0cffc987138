"""A run beside its baseline: how well both answered, and what both cost."""

from typing import Final

from analysis.metrics.metric import SHARE
from analysis.metrics.registry import METRICS, cell
from analysis.report.html import Html, tag
from analysis.report.numbers import table
from analysis.report.verdict import Baseline, as_much
from analysis.report.view import RunView

COMPARED: Final = (
    *("coverage", "recall", "drop_rate", "delay_ms", "change_delay_ms"),
    *("bytes_per_s", "tx_j", "rx_j", "hottest_radio_j", "energy_j"),
)
"""Answers first, then costs; all energy comes last, as idle listening may hide what messages cost."""


def comparison(run: RunView, baseline: Baseline | None) -> Html:
    """The table of a run and its baseline; nothing without one."""
    if baseline is None:
        return Html()
    rows = [
        [METRICS[name].heading, cell(name, own), cell(name, base), _difference(name, own, base)]
        for name in COMPARED
        for own, base in ((run.metrics.get(name), baseline.metrics.get(name)),)
        if own is not None or base is not None
    ]
    strategy = run.manifest.scenario["join"]["strategy"]
    heads = [
        "whole run, same seed",
        f"this run: {strategy}",
        f"baseline: {baseline.name}",
        "compared",
    ]
    return tag("section", table("", heads, rows), class_="comparison", aria_label="Comparison")


def _difference(name: str, own: float | None, base: float | None) -> str:
    """How a value compares; shares speak for themselves."""
    if own is None or not base or METRICS[name].unit == SHARE:
        return ""
    return as_much(own, base)
