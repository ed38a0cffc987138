"""One self-contained HTML page about a run: verdict, animated replay, plots, tables.

The page needs no network: styles, scripts and data stand in it, and its content policy forbids it to
fetch anything. It grows with the motes and with how much changes, not with the length of the trace: plots
have at most `BINS_MOST` points per line, and `analysis.report.replay` and `analysis.report.map.mote_history` say how the
replay is kept small.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Final

from analysis.metrics.registry import number
from analysis.report.comparison import comparison
from analysis.report.figure import Figure, Section, missing_table
from analysis.report.html import Html, join, tag
from analysis.report.map.mote_history import events, pulses, readings, traffic_by_mote
from analysis.report.map.scenery import Scenery, agrees, scenery_payload
from analysis.report.numbers import provenance, tables, tiles
from analysis.report.replay import replay_payload
from analysis.report.verdict import Baseline, baseline_of, verdict
from analysis.report.view import RunView, open_run
from sim.errors import InputError
from sim.files import write_whole

REPORT: Final = "report.html"
LEAD_WORDS_MOST: Final = 6
SCRIPTS: Final = (
    "common.js",
    "charts.js",
    "replay_world.js",
    "map_marks.js",
    "map_causes.js",
    "replay_map.js",
    "map_legend.js",
    "mote_story.js",
    "replay_player.js",
)

SceneryOf = Callable[[RunView], Scenery | None]
"""Computes what there is beside motes; None if the phenomenon has nothing to show."""


def write_report(
    directory: Path,
    out: Path | None = None,
    *,
    baseline: Path | None = None,
    scenery_of: SceneryOf = lambda _: None,
) -> Path:
    """Write the report of a complete run; returns where it is.

    Raises:
        TraceError: a run directory is missing, unfinished, damaged or not ours.
        InputError: the page cannot be written where it should be, or the baseline does not compare.
    """
    path = page_path(out or directory / REPORT)
    run = open_run(directory)
    beside = None if baseline is None else baseline_of(run, open_run(baseline))
    write_page(path, report_page(run, baseline=beside, scenery=scenery_of(run)))
    return path


def page_path(path: Path) -> Path:
    """The path of a page to be written.

    Raises:
        InputError: it is a directory.
    """
    if path.is_dir():
        raise InputError(f"{path}: is a directory; expected the name of a file for the page")
    return path


def write_page(path: Path, page: str) -> None:
    """Write a page, whole or not at all.

    Raises:
        InputError: it cannot be written there.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, page)
    except OSError as fault:
        raise InputError(f"{path}: cannot be written ({fault.strerror})") from fault


def report_page(
    run: RunView, *, baseline: Baseline | None = None, scenery: Scenery | None = None
) -> str:
    """The page about a run."""
    manifest = run.manifest
    replay, notes = replay_of(run, scenery)
    data = {
        "duration_s": manifest.simulated_s,
        "first_s": run.sizes.most_s(run.frames),
        "replay": replay,
        "charts": [f.specification for f in run.figures if f.specification],
    }
    return page(
        title=manifest.name,
        description=str(manifest.scenario.get("description", "")),
        facts=run_facts(run),
        verdict=verdict(run, baseline),
        comparison=comparison(run, baseline),
        notes=notes,
        stages=[""],
        body=join(
            tag(
                "section",
                tag("h2", f"Over the whole run, 0 to {number(manifest.simulated_s)} s"),
                Html() if baseline else _how_to_compare(),
                tag("div", tiles(manifest, run.metrics, baseline), class_="groups"),
            ),
            *(section_html(section) for section in run.plots),
            tag("section", tag("h2", "Numbers"), tag("div", tables(manifest), class_="tables")),
            tag(
                "section",
                tag("h2", "Provenance"),
                tag("div", provenance(manifest), class_="tables"),
            ),
        ),
        foot=f"fingerprint {manifest.fingerprint}",
        data=data,
    )


def page(
    *,
    title: str,
    description: str,
    facts: list[str],
    verdict: list[str],
    comparison: Html,
    notes: list[str],
    stages: list[str],
    body: Html,
    foot: str,
    data: Mapping[str, Any],
) -> str:
    """A page with a verdict, a map per stage (each with its caption) and whatever else is in `body`."""
    first, *others = verdict or [""]
    return Template(_packaged("template.html")).substitute(
        title=join(title),
        description=join(description),
        facts=join(*(tag("li", fact) for fact in facts)),
        verdict=join(
            tag("p", *_lead(first), class_="first") if first else "",
            *(tag("p", *_lead(sentence)) for sentence in others),
        ),
        comparison=comparison,
        summary_layout="summary compared" if comparison else "summary",
        style=_packaged("report.css"),
        replay_note=join(*(tag("p", note, class_="note") for note in notes)),
        replay_state="" if data["replay"] else "hidden",
        stages=join(*(_stage(position, caption) for position, caption in enumerate(stages))),
        layout="replay" if len(stages) == 1 else "replay pair",
        body=body,
        foot=join(foot),
        data=_json(data),
        script="\n".join(_packaged(name) for name in SCRIPTS),
    )


def _lead(sentence: str) -> tuple[str, ...]:
    """A sentence with what it is about set apart: `Found: …`."""
    lead, colon, rest = sentence.partition(": ")
    short = colon and len(lead.split()) <= LEAD_WORDS_MOST
    return (tag("b", f"{lead}:"), f" {rest}") if short else (sentence,)


def _how_to_compare() -> Html:
    """Which commands make a page that has something to compare costs with."""
    return tag(
        "p",
        "These costs stand alone. ",
        tag("code", "motejoin run SCENARIO --out DIR --baseline centralised"),
        " makes a run to compare with, ",
        tag("code", "motejoin report DIR --baseline DIR-centralised"),
        " a page that does.",
        class_="note",
    )


def _stage(position: int, caption: str) -> Html:
    label = f"Map of the motes{f' of {caption}' if caption else ''} at the time shown"
    return tag(
        "div",
        tag("h3", caption) if caption else "",
        tag(
            "canvas",
            tabindex="0",
            role="img",
            data_stage=str(position),
            aria_label=f"{label}; the counts beside it say the same in numbers",
            aria_describedby="keys",
        ),
        class_="map",
    )


def run_facts(run: RunView) -> list[str]:
    """Short facts about a run."""
    scenario = run.manifest.scenario
    return [
        f"seed {run.manifest.seed}",
        f"{run.motes:,} motes",
        f"{run.manifest.simulated_s:g} s",
        f"{scenario['join']['strategy']} over {scenario['clustering']['protocol']} clusters",
        f"window {scenario['join']['window_s']:g} s",
    ]


def replay_of(run: RunView, scenery: Scenery | None) -> tuple[dict[str, Any] | None, list[str]]:
    """The data of a run's replay, and notes on what it does not show."""
    trace, manifest = run.trace, run.manifest
    replay = replay_payload(trace, manifest, run.frames, run.truth, run.answer, run.energy)
    if replay is None:
        return None, [missing_table("motes")]
    lacking = [t for t in ("elections", "deaths", "faults", "energy") if not trace.has(t)]
    notes = [run.missing] if run.missing else []
    notes += [missing_table(*lacking)] if lacking else []
    replay["pulses"] = pulses(trace, manifest, run.frames)
    replay["readings"] = readings(trace, manifest)
    replay["traffic"] = traffic_by_mote(trace, manifest)
    replay["events"] = events(trace, manifest, most=run.sizes.most_inside(run.frames))
    replay["scenery"] = None
    if scenery is not None:
        if trace.has("truth") and not agrees(scenery, run.truth, motes=run.motes):
            notes.append(
                "Not shown: leak, wind, barriers and contours. This version of motejoin computes"
                " another cloud from the scenario than the run's."
            )
        else:
            corners = [(each.x_m, each.y_m) for each in scenery.leaks]
            corners += [(x, y) for x, y in scenery.barriers_m.reshape(-1, 2).tolist()]
            left, low, right, high = replay["map_m"]
            replay["map_m"] = [
                min([left, *(x for x, _ in corners)]),
                min([low, *(y for _, y in corners)]),
                max([right, *(x for x, _ in corners)]),
                max([high, *(y for _, y in corners)]),
            ]
            replay["scenery"] = scenery_payload(scenery, replay["map_m"])
    return replay, notes


def section_html(section: Section) -> Html:
    """Plots under their heading."""
    figures = [each for each in section.figures if not each.needless]
    if len(figures) == 1:
        figures = [replace(figures[0], wide=True)]
    return tag(
        "section",
        tag("h2", section.title),
        tag(
            "div",
            *(_figure(figure) for figure in figures),
            class_="plots three" if len(figures) == 3 else "plots",
        ),
    )


def _figure(figure: Figure) -> Html:
    caption = tag("figcaption", tag("h3", figure.title), tag("p", figure.caption))
    body = tag("p", figure.missing, class_="note") if figure.missing else Html()
    if figure.specification is not None:
        series = figure.specification.get("series", [])
        legend = tag(
            "ul",
            *(
                tag("li", tag("i", class_=f"swatch s{each['slot']}"), each["name"])
                for each in series
            ),
            class_="legend",
        )
        plot = tag(
            "div",
            class_="plot",
            role="img",
            aria_label=figure.alternative,
            data_chart=figure.specification["name"],
        )
        body = join(body, legend if len(series) > 1 else "", plot)
    return tag("figure", caption, body, class_="wide" if figure.wide else None)


def _json(data: Mapping[str, Any]) -> str:
    """Data that no text in it can end early: a script element ends at the first `</`."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _packaged(name: str) -> str:
    return files("analysis.report.assets").joinpath(name).read_text(encoding="utf-8")
