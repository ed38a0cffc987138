"""The numbers of a report: metrics as tiles, by the names and units that they are declared with, and tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.metrics.registry import METRICS, figure, number, quantity
from analysis.report.figure import noted
from analysis.report.html import Html, join, tag
from analysis.report.verdict import Baseline
from sim.trace.manifest import Manifest

Tile = tuple[str, str, str]
"""Label, figure, and what more there is to say about it."""


Metrics = Mapping[str, Any]
"""Metrics of the run by name, as far as they are known."""


def tiles(manifest: Manifest, metrics: Metrics, baseline: Baseline | None) -> Html:
    """The key figures, in groups; costs with those of the baseline beside them."""
    gas = manifest.scenario.get("phenomenon", {}).get("kind") == "gas-cloud"
    groups = {
        "The cloud" if gas else "The phenomenon": _phenomenon_tiles(manifest, metrics),
        "The answer": _answer_tiles(metrics),
        noted("On air", manifest): _air_tiles(metrics, baseline),
        "Energy and losses": _energy_tiles(manifest, metrics, baseline),
    }
    return join(
        *(
            tag(
                "section",
                tag("h2", title),
                tag("dl", *(_tile(*each) for each in group)),
                class_="group",
            )
            for title, group in groups.items()
            if group
        )
    )


def _tile(label: str, shown: str, more: str) -> Html:
    return tag(
        "div",
        tag("dt", label),
        tag("dd", tag("span", shown, class_="figure"), tag("span", more, class_="more")),
        class_="tile",
    )


def _known(
    metrics: Metrics, notes: Mapping[str, str], baseline: Baseline | None = None
) -> list[Tile]:
    """A tile for each metric that is known, by its label, with its note and its value in the baseline."""
    return [
        (
            METRICS[name].title,
            figure(name, metrics[name]),
            "; ".join(
                text for text in (note, baseline and baseline.beside(name, metrics[name])) if text
            ),
        )
        for name, note in notes.items()
        if metrics.get(name) is not None
    ]


def _phenomenon_tiles(manifest: Manifest, metrics: Metrics) -> list[Tile]:
    tracking = manifest.counts.get("tracking", {})
    if not tracking.get("inside_most"):
        return []
    most = f"up to {number(tracking['inside_most'])} motes inside"
    tiles = [("Appeared", f"{number(tracking['appeared_s'])} s", most)]
    if metrics["detection_delay_s"] is None:
        tiles.append(("Detected", "never", "no result came once a mote was inside"))
    return tiles + _known(
        metrics,
        {
            "detection_delay_s": f"at {number(tracking['detected_s'])} s",
            "coverage": "motes both inside and in the answer, of those that are either",
            "false_alarms": "on average over time",
            "misses": "on average over time",
        },
    )


def _answer_tiles(metrics: Metrics) -> list[Tile]:
    useful = f"{METRICS['probe_usefulness'].label} {quantity('probe_usefulness', metrics['probe_usefulness'])}"
    return _known(
        metrics,
        {
            "results": "at the sink",
            "tuple_width": "per result, on average",
            "delay_ms": "after the reading, on average",
            "recall": f"{number(metrics['delivered'])} of {number(metrics['owed'])} pairs owed",
            "probes_per_reading": useful,
        },
    )


def _air_tiles(metrics: Metrics, baseline: Baseline | None) -> list[Tile]:
    of_all = _share(metrics["control_bytes"], metrics["bytes"])
    return _known(
        metrics,
        {
            "bytes_per_s": f"{quantity('bytes', metrics['bytes'])} in all",
            "messages_per_s": f"{quantity('messages', metrics['messages'])} in all",
            "control_bytes": f"{of_all} of all bytes",
            "copies_lost": "on air or at dead motes",
        },
        baseline,
    )


def _energy_tiles(manifest: Manifest, metrics: Metrics, baseline: Baseline | None) -> list[Tile]:
    drops = sum(manifest.counts["drops"].values())
    dropped = quantity("readings_dropped", metrics["readings_dropped"])
    spent = metrics["energy_j"]
    idle = _share((metrics["idle_j"] or 0.0) + (metrics["sleep_j"] or 0.0), spent)
    known = _known(
        metrics,
        {
            "hottest_radio_j": "to send and receive",
            "tx_j": "all motes together",
            "rx_j": f"all motes together; {quantity('control_j', metrics['control_j'])} of both for elections",
            "energy_j": f"{idle} of it idle: listening to silence, or asleep",
            "dead": f"of {number(manifest.scenario['motes']['count'])}",
            "drop_rate": f"{dropped} of {number(metrics['readings_valued'])} with a value",
        },
        baseline,
    )
    return [*known, ("Drops", number(drops), "readings, messages and held readings")]


def tables(manifest: Manifest) -> Html:
    """Traffic by kind, energy by cause, fates and drops."""
    counts = manifest.counts
    kinds = sorted(counts["traffic"].items(), key=lambda item: -item[1]["sent_bytes"])
    columns = ("sent", "sent_bytes", "received", "lost", "in_flight")
    traffic = [[kind, *(cells[column] for column in columns)] for kind, cells in kinds]
    sums = [sum(cells[column] for _, cells in kinds) for column in columns]
    joules = sorted(counts["energy_by_cause_j"].items(), key=lambda item: -item[1])
    total_j = counts["energy_j"]
    readings = counts["readings_with_value"]
    drops = sorted(counts["drops"].items(), key=lambda item: -item[1])
    return join(
        table(
            noted("Traffic by message kind", manifest),
            ["kind", "messages", "bytes", "copies received", "lost", "in flight at the end"],
            [[kind, *(f"{n:,}" for n in numbers)] for kind, *numbers in traffic],
            total=["all", *(f"{number:,}" for number in sums)],
            bars=[row[2] / (sums[1] or 1) for row in traffic],
        ),
        table(
            "Energy by cause",
            ["cause", "joules", "share"],
            [[cause, f"{spent:,.6f}", _share(spent, total_j)] for cause, spent in joules],
            total=["all", f"{total_j:,.6f}", "100%"],
            bars=[spent / (total_j or 1) for _, spent in joules],
        ),
        table(
            "Readings with a value",
            ["fate", "readings", "share"],
            [[fate, f"{n:,}", _share(n, readings)] for fate, n in counts["fates"].items()],
            total=["all", f"{readings:,}", "100%"],
        ),
        table(
            "Drops by reason",
            ["reason", "drops", "share"],
            [[reason, f"{n:,}", _share(n, sum(n for _, n in drops))] for reason, n in drops],
            total=["all", f"{sum(n for _, n in drops):,}", "100%"],
        ),
    )


def provenance(manifest: Manifest) -> Html:
    """What was run with what: scenario, trace, versions, inputs, fingerprint."""
    files = [[table, f"{rows:,}"] for table, rows in sorted(manifest.rows.items())]
    facts = {
        "fingerprint": manifest.fingerprint,
        "simulated": f"{manifest.simulated_s:g} s",
        "computed in": f"{manifest.wall_s:.1f} s",
        **{f"version of {name}": number for name, number in manifest.versions.items()},
        **{f"input {path}": digest for path, digest in manifest.inputs.items()},
    }
    scenario = [[key, value] for key, value in _flat(manifest.scenario)]
    values = [[value, label] for value, label in manifest.values.items()]
    return join(
        table("This run", ["what", ""], [[what, text] for what, text in facts.items()], text=True),
        _details("Scenario as resolved", table("", ["key", "value"], scenario, text=True)),
        _details("Joined values", table("", ["value", "meaning"], values, text=True))
        if values
        else "",
        _details("Rows in the trace", table("", ["table", "rows"], files)),
    )


def table(
    caption: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    total: Sequence[str] = (),
    bars: Sequence[float] = (),
    text: bool = False,
) -> Html:
    """A table whose first column names the rows; the others are numbers unless they are `text`.

    `bars` gives each row a bar behind its name, as a share of the full width.
    """
    body = []
    for position, (name, *cells) in enumerate(rows):
        style = f"--share:{bars[position]:.4f}" if bars else None
        row_head = tag("th", name, scope="row", style=style, class_="bar" if bars else None)
        body.append(tag("tr", row_head, *(tag("td", cell) for cell in cells)))
    if not rows:
        body.append(tag("tr", tag("td", "none", colspan=str(len(heads)))))
    foot = ""
    if total and rows:
        name, *cells = total
        foot = tag("tfoot", tag("tr", tag("th", name, scope="row"), *(tag("td", c) for c in cells)))
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption) if caption else "",
            tag("thead", tag("tr", *(tag("th", head, scope="col") for head in heads))),
            tag("tbody", *body),
            foot,
            class_="text" if text else "numbers",
        ),
        class_="table",
    )


def _details(title: str, content: Html) -> Html:
    return tag("details", tag("summary", title), content)


def _flat(value: Any, key: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 (a JSON value)
    """A nested scenario as dotted keys, in the order of the file."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _flat(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        for position, item in enumerate(value):
            yield from _flat(item, f"{key}[{position}]")
    elif value is not None:
        yield key, ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.1%}" if whole else "0.0%"
