"""Two runs on one page: two maps on one clock, and what differs between them."""

from dataclasses import replace
from pathlib import Path

from analysis.metrics.inputs import FACTS
from analysis.metrics.registry import METRICS, cell, number
from analysis.report.figure import Figure, Section
from analysis.report.html import Html, join, tag
from analysis.report.numbers import table
from analysis.report.page import (
    SceneryOf,
    page,
    page_path,
    replay_of,
    run_facts,
    section_html,
    write_page,
)
from analysis.report.verdict import COSTS, radio, times
from analysis.report.view import RunView, open_run
from sim.errors import InputError

_PREFIXES = ("a-", "b-")


def write_side_by_side(
    first: Path, second: Path, out: Path, *, scenery_of: SceneryOf = lambda _: None
) -> Path:
    """Write a page about two complete runs; returns where it is.

    Raises:
        TraceError: a run directory is missing, unfinished, damaged or not ours.
        InputError: the page cannot be written there, or the runs cannot share a clock.
    """
    path = page_path(out)
    runs = (open_run(first), open_run(second))
    write_page(path, side_by_side_page(*runs, scenery_of=scenery_of))
    return path


def side_by_side_page(first: RunView, second: RunView, *, scenery_of: SceneryOf) -> str:
    """The page about two runs."""
    if first.manifest.simulated_s != second.manifest.simulated_s:
        raise InputError(
            f"{second.directory}: simulated_s = {second.manifest.simulated_s:g}, expected"
            f" {first.manifest.simulated_s:g} as in {first.directory}: two maps share one clock"
        )
    runs = (first, second)
    names = _names(first, second)
    replays, notes, charts = [], [], []
    for run, name, prefix in zip(runs, names, _PREFIXES, strict=True):
        replay, own_notes = replay_of(run, scenery_of(run))
        replays.append(replay and replay | {"chart_prefix": prefix})
        notes += [f"{name}: {note}" for note in own_notes]
        charts += [
            figure.specification
            for figure in (_renamed(each, name, prefix) for each in run.figures)
            if figure.specification
        ]
    both = all(replays)
    return page(
        title=" and ".join(names),
        description="Two runs side by side",
        facts=[
            f"{name}: {', '.join(run_facts(run))}" for run, name in zip(runs, names, strict=True)
        ],
        verdict=_verdict(runs, names),
        comparison=Html(),
        notes=notes,
        stages=list(names),
        body=join(
            tag(
                "section",
                tag("h2", "Differences"),
                tag("div", _differences(runs, names), class_="tables"),
            ),
            *(section_html(section) for section in _paired(runs, names)),
        ),
        foot="fingerprints " + " and ".join(run.manifest.fingerprint for run in runs),
        data={
            "duration_s": first.manifest.simulated_s,
            "first_s": first.sizes.most_s(first.frames),
            "replay": replays[0] if both else None,
            "beside": replays[1] if both else None,
            "charts": charts,
        },
    )


def _names(first: RunView, second: RunView) -> tuple[str, str]:
    """What to call the runs: their directories' names, with as many folders as make them differ."""
    parts = [run.directory.resolve().parts for run in (first, second)]
    length = next(n for n in range(1, 100) if parts[0][-n:] != parts[1][-n:] or n >= len(parts[0]))
    a, b = ("/".join(each[-length:]) for each in parts)
    return a, b


def _verdict(runs: tuple[RunView, RunView], names: tuple[str, str]) -> list[str]:
    sentences = []
    for name in ("detection_delay_s", "coverage", "recall", *COSTS):
        values = [run.metrics.get(name) for run in runs]
        if values[0] is None and values[1] is None:
            continue
        texts = [
            f"{cell(name, value)} in {label}" for value, label in zip(values, names, strict=True)
        ]
        text = f"{METRICS[name].heading[:1].upper()}{METRICS[name].heading[1:]}: {', '.join(texts)}"
        if values[0] and values[1] and name in COSTS:
            text += f" ({times(values[1], values[0])})"
        sentences.append(f"{text}.")
    seeds = {run.manifest.seed for run in runs}
    if len(seeds) > 1:
        sentences.append("The runs have different seeds, so their readings differ too.")
    return [*sentences, *dict.fromkeys(radio(run) for run in runs)]


def _differences(runs: tuple[RunView, RunView], names: tuple[str, str]) -> str:
    rows = []
    for fact in FACTS:
        values = [run.metrics.get(fact.name) for run in runs]
        if values[0] != values[1]:
            rows.append([fact.label, *(number(value) for value in values), ""])
    for metric in METRICS.values():
        values = [run.metrics.get(metric.name) for run in runs]
        if values[0] is None and values[1] is None:
            continue
        rows.append([metric.heading, *(cell(metric.name, v) for v in values), _change(*values)])
    return table("Metrics", ["metric", *names, "change"], rows)


def _change(before: float | None, after: float | None) -> str:
    if before is None or after is None:
        return "–"
    if before == after:
        return "the same"
    return f"{100 * (after - before) / abs(before):+,.1f} %" if before else "–"


def _paired(runs: tuple[RunView, RunView], names: tuple[str, str]) -> list[Section]:
    """Each plot of the first run beside that of the second."""
    sections = []
    for ours, theirs in zip(runs[0].plots, runs[1].plots, strict=True):
        pairs = [
            pair
            for pair in zip(ours.figures, theirs.figures, strict=True)
            if not all(figure.needless for figure in pair)
        ]
        figures = [
            _renamed(figure, name, prefix)
            for pair in pairs
            for figure, name, prefix in zip(pair, names, _PREFIXES, strict=True)
        ]
        sections.append(Section(ours.title, figures))
    return sections


def _renamed(figure: Figure, name: str, prefix: str) -> Figure:
    specification = figure.specification
    if specification is not None:
        specification = specification | {"name": f"{prefix}{specification['name']}"}
    return replace(
        figure,
        title=f"{figure.title}: {name}",
        specification=specification,
        wide=False,
        needless=False,
    )
