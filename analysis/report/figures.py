"""The plots of a report: what each shows, in words and in numbers.

The script draws, this module decides. A specification holds plain sums, so that what a plot shows adds
up to what the tables say.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from analysis.metrics.number_format import percent
from analysis.metrics.registry import METRICS, number
from analysis.report.energy import EnergyHistory
from analysis.report.figure import (
    SLOTS,
    Figure,
    Section,
    cut_peaks,
    drawn,
    layers,
    missing_table,
    series,
    without,
)
from analysis.report.replay import Frames, Sizes
from analysis.report.series import (
    Bins,
    Round,
    Sums,
    clustering_rounds,
    delays_ms,
    drops_by_reason,
    fates_of_readings,
    probes_over_time,
    traffic_bytes,
)
from analysis.trace.reader import TraceTables

DELAY_BINS = 40
BATTERY_BINS = 25
IDLE = ("idle", "sleep")
"""Causes of energy that say more about the radio than about what is sent."""


def sections(
    tables: TraceTables,
    bins: Bins,
    frames: Frames,
    sizes: Sizes,
    energy: EnergyHistory | None,
    *,
    missing_sizes: str,
    traffic_title: str,
) -> list[Section]:
    """All plots of the report, in reading order."""

    def with_table(
        table: str, name: str, title: str, caption: str, draw: Callable[[Figure], Figure]
    ) -> Figure:
        figure = Figure(name, title, caption)
        if not tables.has(table):
            return without(figure, missing_table(table))
        return draw(figure)

    return [
        Section("Tracking", _tracking(frames, sizes, missing_sizes)),
        Section(
            "Communication",
            [
                with_table(
                    "traffic",
                    "traffic",
                    traffic_title,
                    "Every transmission counts once per hop. Elections: all messages that keep the"
                    " clustering going.",
                    lambda f: cut_peaks(
                        _stack(f, bins, traffic_bytes(tables, bins), "bytes per second")
                    ),
                ),
                with_table(
                    "probes",
                    "probes",
                    METRICS["probes_per_reading"].title,
                    "By the probe requests that reached the sink in the same span of time. The gap"
                    " between the lines is probes without a match.",
                    lambda f: _probes(f, bins, probes_over_time(tables, bins)),
                ),
            ],
        ),
        Section("Energy", _energy(energy, missing=missing_table("energy"))),
        Section(
            "Readings and answers",
            [
                with_table(
                    "fates",
                    "fates",
                    "What became of readings",
                    "Readings with a value to join, at the time they were taken.",
                    lambda f: _stack(
                        f, bins, fates_of_readings(tables, bins), "readings per second"
                    ),
                ),
                with_table(
                    "drops",
                    "drops",
                    "Drops by reason",
                    "Readings, messages about readings, and held readings that went down with"
                    " their head.",
                    lambda f: _stack(f, bins, drops_by_reason(tables, bins), "drops per second"),
                ),
                with_table(
                    "results",
                    "delay",
                    "Delay of results",
                    "From the moment of the reading to the answer at the sink.",
                    lambda f: _delay(f, delays_ms(tables)),
                ),
            ],
        ),
        Section("Clusters", _clusters(tables, bins.duration_s)),
    ]


def _tracking(frames: Frames, sizes: Sizes, missing: str) -> list[Figure]:
    size = Figure(
        "tracking",
        "Motes inside, and motes in the answer",
        "Inside: truly in the phenomenon. In the answer: sensors that the sink reports as joining.",
        missing=missing,
        wide=True,
    )
    match = Figure(
        "coverage",
        "Coverage",
        "Coverage: motes both inside and in the answer, as a share of those that are either. False alarms:"
        " share of the answer that is not inside.",
        wide=True,
    )
    times_s = frames.times_s()
    lines = []
    if sizes.inside is not None:
        lines.append(series("inside", sizes.inside.tolist(), area=True))
    if sizes.answered is not None:
        lines.append(series("in the answer", sizes.answered.tolist(), slot=SLOTS["answer"]))
    if not lines:
        return [without(size, missing), without(match, missing)]
    peaks = [
        f"motes {line['name']} reach {max(line['values']):,}"
        f" at {times_s[line['values'].index(max(line['values']))]} s"
        for line in lines
    ]
    size = drawn(
        size,
        f"Lines over time: {', '.join(peaks)}.",
        {"type": "lines", "times_s": times_s, "y": {"label": "motes"}, "series": lines},
    )
    if sizes.inside is None or sizes.answered is None or sizes.both is None:
        return [size, without(match, missing)]
    covered = _ratios(sizes.both, sizes.inside + sizes.answered - sizes.both)
    false = _ratios(sizes.answered - sizes.both, sizes.answered)
    match = drawn(
        match,
        f"Lines over time. Coverage at the end is {_percent(covered[-1])}, false alarms"
        f" {_percent(false[-1])}.",
        {
            "type": "lines",
            "times_s": times_s,
            "y": {"label": "share", "most": 1.0, "format": "percent"},
            "series": [series("coverage", covered), series("false alarms", false)],
        },
    )
    return [size, match]


def _stack(figure: Figure, bins: Bins, sums: Sums, label: str) -> Figure:
    if not sums:
        return without(figure, "Not shown: there were none.")
    largest_first = sorted(sums.items(), key=lambda item: -int(item[1].sum()))
    totals = ", ".join(f"{name} {int(values.sum()):,}" for name, values in largest_first)
    return drawn(
        figure,
        f"Stacked areas over time. In total: {totals}.",
        {
            "type": "stack",
            "edges_s": bins.edges_s(),
            "y": {"label": label},
            "series": layers({name: values.tolist() for name, values in largest_first}),
        },
    )


def _probes(figure: Figure, bins: Bins, sums: Sums) -> Figure:
    readings = sums["readings"]
    if not readings.any():
        return without(figure, "Not shown: no probe request was sent.", needless=True)
    probed, matched = sums["heads_probed"], sums["heads_matched"]
    edges_s = bins.edges_s()
    return drawn(
        figure,
        f"Lines over time. Over the run {number(probed.sum() / readings.sum())} heads were probed per"
        f" reading, and {number(matched.sum() / readings.sum())} had a match.",
        {
            "type": "lines",
            "times_s": [(a + b) / 2 for a, b in pairwise(edges_s)],
            "y": {"label": "heads per reading"},
            "series": [
                series("probed", _ratios(probed, readings), slot=1),
                series("had a match", _ratios(matched, readings), slot=3, area=True),
            ],
        },
    )


def _energy(energy: EnergyHistory | None, *, missing: str) -> list[Figure]:
    spent = Figure("energy", "Energy spent by cause", "All motes together, since the start.")
    left = Figure(
        "residual",
        "What is left in the batteries",
        "Each line: that share of the motes has less left than shown. Heads drain first, so the"
        " lowest lines show how even the load is.",
    )
    last = Figure(
        "batteries",
        "Batteries at the end",
        "Number of motes by what is left of their battery; the scale of counts is logarithmic.",
    )
    if energy is None:
        return [without(figure, missing) for figure in (spent, left, last)]
    idle_j = sum(float(energy.spent_j[cause][-1]) for cause in IDLE)
    total_j = sum(float(joules[-1]) for joules in energy.spent_j.values())
    left_out = IDLE if idle_j > total_j / 2 else ()
    if left_out:
        spent = replace(
            spent,
            caption=f"{spent.caption} Not drawn: {number(idle_j)} J while radios were idle,"
            f" {percent(idle_j / total_j)} of all.",
        )
    causes = {c: j for c, j in energy.spent_j.items() if j[-1] > 0 and c not in left_out}
    largest_first = sorted(causes.items(), key=lambda item: -item[1][-1])
    totals = ", ".join(f"{cause} {joules[-1]:.3f} J" for cause, joules in largest_first)
    quantiles = {"median": 0.5, "5 % of motes": 0.05, "1 % of motes": 0.01, "emptiest mote": 0.0}
    counts, edges = np.histogram(energy.residual_last, bins=BATTERY_BINS, range=(0, 1))
    return [
        drawn(
            spent,
            f"Stacked areas over time. At the end: {totals}.",
            {
                "type": "stack",
                "times_s": energy.times_s.tolist(),
                "y": {"label": "joules"},
                "idle_apart": bool(left_out),
                "series": layers(
                    {c: [float(f"{x:.9g}") for x in j.tolist()] for c, j in largest_first}
                ),
            },
        ),
        drawn(
            left,
            f"Lines over time. At the end the median mote has {np.median(energy.residual_last):.1%}"
            f" of its battery left, the emptiest {energy.residual_last.min():.1%}.",
            {
                "type": "lines",
                "times_s": energy.times_s.tolist(),
                "y": {"label": "share of battery", "most": 1.0, "format": "percent"},
                "series": [
                    series(
                        name,
                        np.quantile(energy.share, level, axis=1, method="lower").round(5).tolist(),
                        slot=slot,
                    )
                    for slot, (name, level) in zip((7, 1, 2, 5), quantiles.items(), strict=True)
                ],
            },
        ),
        drawn(
            last,
            f"Histogram of {len(energy.residual_last):,} motes; {int(counts[-1]):,} have more than"
            f" {edges[-2]:.0%} left, {int((energy.residual_last <= 0).sum()):,} nothing.",
            {
                "type": "bars",
                "edges": edges.round(6).tolist(),
                "counts": counts.tolist(),
                "x": {"label": "share of battery left", "format": "percent"},
                "y": {"label": "motes", "log": True},
            },
        ),
    ]


def _delay(figure: Figure, delays: NDArray[np.float64]) -> Figure:
    if not len(delays):
        return without(figure, "Not shown: there were no results.")
    lowest, highest = max(float(delays.min()), 1e-3), max(float(delays.max()), 2e-3)
    if highest <= lowest * 1.001:
        lowest, highest = lowest / 2, highest * 2
    edges = np.geomspace(lowest, highest * 1.000001, DELAY_BINS + 1)
    counts, _ = np.histogram(np.clip(delays, lowest, highest), bins=edges)
    marks = {
        "median": float(np.median(delays)),
        "mean": float(delays.mean()),
        "99 %": float(np.quantile(delays, 0.99)),
    }
    texts = ", ".join(f"{name} {delay_ms:.1f} ms" for name, delay_ms in marks.items())
    return drawn(
        figure,
        f"Histogram of {len(delays):,} delays on a logarithmic axis: {texts}.",
        {
            "type": "bars",
            "edges": [float(f"{edge:.6g}") for edge in edges],
            "counts": counts.tolist(),
            "x": {"label": "milliseconds", "log": True},
            "y": {"label": "results"},
            "marks": [{"at": at_ms, "label": f"{n} {at_ms:.1f} ms"} for n, at_ms in marks.items()],
        },
    )


def _clusters(tables: TraceTables, duration_s: float) -> list[Figure]:
    heads = Figure("heads", "Heads per round", "Cluster heads from one election to the next.")
    sizes = Figure(
        "clusters",
        "Cluster sizes per round",
        "Motes per cluster, head included. Box: middle half of the clusters; line: median; whiskers:"
        " smallest and largest.",
    )
    if not tables.has("elections"):
        return [without(figure, missing_table("elections")) for figure in (heads, sizes)]
    rounds = clustering_rounds(tables)
    if not rounds:
        return [without(f, "Not shown: no election came to its end.") for f in (heads, sizes)]
    ends_s = [*(each.at_s for each in rounds[1:]), duration_s]
    counted = ", ".join(f"{len(each.sizes):,}" for each in rounds)
    return [
        drawn(
            heads,
            f"Bars over time, one per round. Heads: {counted}.",
            {
                "type": "spans",
                "y": {"label": "heads"},
                "spans": [
                    {"from_s": r.at_s, "to_s": end, "value": len(r.sizes)}
                    for r, end in zip(rounds, ends_s, strict=True)
                ],
            },
        ),
        drawn(
            sizes,
            f"Box plots, one per round. The largest cluster of all has"
            f" {max(int(r.sizes.max()) for r in rounds):,} motes.",
            {
                "type": "spans",
                "y": {"label": "motes per cluster"},
                "spans": [
                    {"from_s": r.at_s, "to_s": end, "box": _five_numbers(r)}
                    for r, end in zip(rounds, ends_s, strict=True)
                ],
            },
        ),
    ]


def _five_numbers(each: Round) -> list[float]:
    """Smallest, quartiles and largest cluster size."""
    return [float(number) for number in np.quantile(each.sizes, [0, 0.25, 0.5, 0.75, 1])]


def _ratios(part: NDArray[np.int64], whole: NDArray[np.int64]) -> list[float | None]:
    """Shares, with None where there is nothing to share."""
    pairs = zip(part.tolist(), whole.tolist(), strict=True)
    return [round(p / w, 5) if w else None for p, w in pairs]


def _percent(share: float | None) -> str:
    return "undefined" if share is None else f"{share:.0%}"
