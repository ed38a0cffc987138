"""One self-contained HTML page about a run: animated replay, plots, tables.

The page needs no network: styles, scripts and data stand in it, and its content policy forbids it to
fetch anything. It grows with the motes and with how much changes, not with the length of the trace: plots
have at most `BINS_MOST` points per line, and `analysis.report.replay` says how the replay is kept small.
"""

import json
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from analysis.metrics.kept import known_metrics
from analysis.report.energy import energy_history
from analysis.report.figure import Figure, Section, missing_table
from analysis.report.figures import sections
from analysis.report.html import Html, join, tag
from analysis.report.numbers import noted, provenance, tables, tiles
from analysis.report.replay import (
    AnswerHistory,
    Frames,
    Toggles,
    answer_history,
    replay_payload,
    sizes_over,
    truth_toggles,
)
from analysis.report.series import Bins
from analysis.trace.count_check import check_counts
from analysis.trace.reader import TraceTables
from analysis.trace.run_check import check_run
from sim.errors import InputError, TraceError
from sim.files import write_whole
from sim.trace.manifest import Manifest

REPORT = "report.html"
SCRIPTS = ("common.js", "charts.js", "replay_world.js", "replay_map.js", "replay_player.js")


def write_report(directory: Path, out: Path | None = None) -> Path:
    """Write the report of a complete run; returns where it is.

    Raises:
        TraceError: the run directory is missing, unfinished, damaged or not ours.
        InputError: the page cannot be written where it should be.
    """
    path = out or directory / REPORT
    if path.is_dir():
        raise InputError(f"{path}: is a directory; expected the name of a file for the page")
    page = report_page(directory)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, page)
    except OSError as fault:
        raise InputError(f"{path}: cannot be written ({fault.strerror})") from fault
    return path


def report_page(directory: Path) -> str:
    """The page about a complete run."""
    manifest = check_run(directory)
    trace = TraceTables(directory, manifest)
    check_counts(directory, manifest, trace)
    try:
        return _page(trace, manifest)
    except KeyError as fault:
        raise TraceError(
            f"{directory}: the manifest lacks {fault}, which a report needs"
        ) from fault


def _page(trace: TraceTables, manifest: Manifest) -> str:
    motes = int(manifest.scenario["motes"]["count"])
    frames, bins = Frames.over(manifest.simulated_s), Bins.over(manifest.simulated_s)
    energy = energy_history(trace) if trace.has("energy") else None
    truth, answer, missing = _truth_and_answer(trace, manifest, frames, motes=motes)
    sizes = sizes_over(truth, answer.whole if answer else None, motes=motes)
    plots = sections(
        trace,
        bins,
        frames,
        sizes,
        energy,
        missing_sizes=missing,
        traffic_title=noted("Bytes on air by message kind", manifest),
    )
    replay = replay_payload(trace, manifest, frames, truth, answer, energy)
    data = {
        "duration_s": manifest.simulated_s,
        "first_s": sizes.most_s(frames),
        "replay": replay,
        "charts": [f.specification for s in plots for f in s.figures if f.specification],
    }
    strategy, protocol = manifest.scenario["join"]["strategy"], manifest.scenario["clustering"]
    facts = [
        f"seed {manifest.seed}",
        f"{motes:,} motes",
        f"{manifest.simulated_s:g} s",
        f"{strategy} over {protocol['protocol']} clusters",
        f"window {manifest.scenario['join']['window_s']:g} s",
    ]
    return Template(_packaged("template.html")).substitute(
        title=join(manifest.name),
        description=join(str(manifest.scenario.get("description", ""))),
        facts=join(*(tag("li", fact) for fact in facts)),
        style=_packaged("report.css"),
        tiles=tiles(manifest, known_metrics(manifest, trace)),
        replay_note=_replay_note(trace, replay, missing),
        replay_state="" if replay else "hidden",
        plots=join(*(_section(section) for section in plots)),
        tables=tables(manifest),
        provenance=provenance(manifest),
        fingerprint=join(manifest.fingerprint),
        data=_json(data),
        script="\n".join(_packaged(name) for name in SCRIPTS),
    )


def _truth_and_answer(
    trace: TraceTables, manifest: Manifest, frames: Frames, *, motes: int
) -> tuple[Toggles | None, AnswerHistory | None, str]:
    """The sets over time, as far as the trace has them, and a note on what it lacks."""
    truth = truth_toggles(trace, frames, motes=motes) if trace.has("truth") else None
    lacking = [table for table in ("truth", "results") if not trace.has(table)]
    notes = [missing_table(*lacking)] if lacking else []
    if truth is None and trace.has("truth"):
        notes.append("Not shown: the truth, because no mote was ever inside the phenomenon.")
    answer = None
    if not manifest.scenario.get("trace", {}).get("partners", True):
        notes.append("Not shown: who is in the answer (trace.partners = false).")
    elif trace.has("results"):
        answer = answer_history(trace, frames, motes=motes)
    return truth, answer, " ".join(notes)


def _replay_note(trace: TraceTables, replay: dict[str, Any] | None, missing: str) -> Html:
    if replay is None:
        return tag("p", missing_table("motes"), class_="note")
    lacking = [t for t in ("elections", "deaths", "faults", "energy") if not trace.has(t)]
    notes = [missing] if missing else []
    notes += [missing_table(*lacking)] if lacking else []
    return join(*(tag("p", note, class_="note") for note in notes))


def _section(section: Section) -> Html:
    return tag(
        "section",
        tag("h2", section.title),
        tag(
            "div",
            *(_figure(figure) for figure in section.figures),
            class_="plots three" if len(section.figures) == 3 else "plots",
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
            data_chart=figure.name,
        )
        body = join(body, legend if len(series) > 1 else "", plot)
    return tag("figure", caption, body, class_="wide" if figure.wide else None)


def _json(data: dict[str, Any]) -> str:
    """Data that no text in it can end early: a script element ends at the first `</`."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _packaged(name: str) -> str:
    return files("analysis.report.assets").joinpath(name).read_text(encoding="utf-8")
