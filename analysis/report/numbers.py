"""The numbers of a report: key figures as tiles, and tables. All from the manifest."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.report.html import Html, join, tag
from sim.trace.kinds import CONTROL_KINDS
from sim.trace.manifest import Manifest
from sim.trace.tables import Fate

Tile = tuple[str, str, str]
"""Label, figure, and what more there is to say about it."""


def tiles(manifest: Manifest) -> Html:
    """The key figures, in groups."""
    counts = manifest.counts
    gas = manifest.scenario.get("phenomenon", {}).get("kind") == "gas-cloud"
    groups = {
        "The cloud" if gas else "The phenomenon": _phenomenon_tiles(counts.get("tracking", {})),
        "The answer": _answer_tiles(counts),
        "On air": _air_tiles(counts, manifest.simulated_s),
        "Energy and losses": _energy_tiles(counts, manifest),
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


def _tile(label: str, figure: str, more: str) -> Html:
    return tag(
        "div",
        tag("dt", label),
        tag("dd", tag("span", figure, class_="figure"), tag("span", more, class_="more")),
        class_="tile",
    )


def _phenomenon_tiles(tracking: Mapping[str, Any]) -> list[Tile]:
    if not tracking.get("inside_most"):
        return []
    most = f"up to {tracking['inside_most']:,} motes inside"
    appeared_s, detected_s = tracking["appeared_s"], tracking["detected_s"]
    found = [("Appeared", f"{appeared_s:g} s", most)]
    if detected_s is None:
        found.append(("Found", "never", "the answer never held a mote inside"))
    else:
        found.append(("Found after", f"{detected_s - appeared_s:.1f} s", f"at {detected_s:.1f} s"))
    if tracking["coverage"] is not None:
        found.append(("Coverage", f"{tracking['coverage']:.1%}", "answer ∩ truth / answer ∪ truth"))
    if tracking["false_alarms"] is not None:
        found.append(
            ("False alarms", f"{tracking['false_alarms']:.1f}", "motes in the answer, on average")
        )
    return found


def _answer_tiles(counts: Mapping[str, Any]) -> list[Tile]:
    tiles = [("Results", f"{counts['results']:,}", "at the sink")]
    if counts["results"]:
        tiles.append(("Width", f"{counts['mean_width']:.1f}", "sensors per result, on average"))
        delay_ms = counts["mean_delay_ms"]
        short = f"{delay_ms:.1f} ms" if delay_ms < 1000 else f"{delay_ms / 1000:.2f} s"
        tiles.append(("Delay", short, "after the reading, on average"))
    if counts.get("probes"):
        probed, matched = counts["heads_probed"], counts["heads_matched"]
        useful = f"{matched / probed:.0%} had a partner" if probed else ""
        tiles.append(
            ("Heads probed", f"{probed / counts['probes']:.1f}", f"per finished request; {useful}")
        )
    return tiles


def _air_tiles(counts: Mapping[str, Any], simulated_s: float) -> list[Tile]:
    total, messages = counts["bytes"], counts["messages"]
    control = sum(
        cells["sent_bytes"] for kind, cells in counts["traffic"].items() if kind in CONTROL_KINDS
    )
    lost = sum(cells["lost"] for cells in counts["traffic"].values())
    return [
        ("Bytes", _short(total), f"{total:,} in all, {total / simulated_s:,.0f} per second"),
        (
            "Messages",
            _short(messages),
            f"{messages:,} in all, {messages / simulated_s:,.0f} per second",
        ),
        ("For elections", _share(control, total), f"{control:,} bytes"),
        ("Copies lost", f"{lost:,}", "on air or at dead motes"),
    ]


def _energy_tiles(counts: Mapping[str, Any], manifest: Manifest) -> list[Tile]:
    motes = manifest.scenario["motes"]["count"]
    drops = sum(counts["drops"].values())
    dropped, with_value = counts["fates"].get(Fate.DROPPED, 0), counts["readings_with_value"]
    return [
        (
            "Energy",
            f"{counts['energy_j']:,.1f} J",
            f"{_share(counts['control_j'], counts['energy_j'])} for elections",
        ),
        ("Motes dead", f"{counts['deaths']:,}", f"of {motes:,}"),
        (
            "Not joined",
            f"{dropped:,}",
            f"of {with_value:,} readings with a value ({_share(dropped, with_value)})",
        ),
        ("Drops", f"{drops:,}", "readings, messages and held readings"),
    ]


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
            "Traffic by message kind",
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


def _short(number: int) -> str:
    """A count in at most four figures, for a tile that also gives it in full."""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if number >= size:
            return f"{number / size:.4g} {unit}"
    return str(number)


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.1%}" if whole else "0.0%"
