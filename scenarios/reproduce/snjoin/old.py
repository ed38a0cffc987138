"""Figures of the SNJoin paper's experiments on SNJoin* (§7.3), compared with what the paper reports.

Each is drawn from a shipped sweep. Complete runs in DIR/sweeps are kept, so a figure can also be drawn from a
sweep that was run before, for example on a cluster.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from scenarios.reproduce.figure import Figure, Request, Verdict
from scenarios.sweep.file import Sweep, load_sweep
from sim.errors import MoteJoinError

if TYPE_CHECKING:
    from analysis.compare.estimates import Answers
    from analysis.compare.intervals import Estimate

COUNT: Final = "motes.count"
QUICK_COUNTS: Final = (200, 400)
QUICK_S: Final = 15.0

# SNJoin Fig. 9: percentage reduction in probes, output delay, drop rate, tuple width, communication cost.
PUBLISHED: Final[dict[int, tuple[float, ...]]] = {
    200: (0, 0, 0, 0, 0),
    400: (29.1, 23.6, 3.5, 3.4, 25.3),
    600: (41.2, 30.4, 5.1, 6.8, 38.6),
    800: (50.3, 37.7, 6.2, 7.2, 46.3),
    1000: (60.8, 47.5, 7.4, 7.9, 57.3),
    1200: (65.2, 54.1, 14.0, 8.1, 62.3),
    1400: (69.6, 58.8, 33.6, 8.6, 64.9),
    1600: (74.4, 65.4, 43.7, 9.3, 72.2),
    1800: (77.4, 67.6, 51.0, 9.9, 73.8),
    2000: (79.4, 70.1, 52.3, 11.5, 75.5),
}
REDUCTIONS: Final = {
    "probes": "probes_per_reading",
    "output delay": "delay_ms",
    "drop rate": "unfinished_rate",
    "tuple width": "tuple_width",
    "communication cost": "bytes_per_s",
}
"""The columns of Fig. 9, in its order, and our metrics."""
OVERLOADED: Final = "snjoin-fig8"
"""The sweep in which heads drop anything at all."""
PARTNERS: Final = "partners delivered"
COLUMNS: Final = {**REDUCTIONS, PARTNERS: "partners_per_reading"}
COLOURS: Final = {
    "all-heads": "#7f7f7f",
    "paper": "#2166ac",
    "directory": "#4dac26",
    "distributed-mjoin": "#e08214",
    "oracle": "#1a1a1a",
}
LABELS: Final = {
    "all-heads": "SNJoin* without feedback",
    "paper": "SNJoin* with the paper's feedback",
    "directory": "SNJoin* with the directory",
    "distributed-mjoin": "distributed MJoin",
    "oracle": "oracle",
}


def figure_8(request: Request) -> list[Verdict]:
    """Output rate by number of sensors, heads overloaded."""
    found = _answers(request, OVERLOADED)
    counts = _counts(found)
    variants = ("directory", "paper", "all-heads", "distributed-mjoin")
    canvas = Canvas(figsize=(6.5, 4.2), layout="constrained")
    axes = canvas.subplots()
    for variant in variants:
        rates = [found.means[_label(found, variant, n), "output_rate"] for n in counts]
        _plot(axes, counts, rates, variant)
    axes.set_xlabel("sensors")
    axes.set_ylabel("results/s at the sink")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    metrics = ("output_rate", "unfinished_rate", "delay_ms")
    header = [
        "sensors",
        *(f"{v}_{m}_{p}" for v in variants for m in metrics for p in ("mean", "half")),
    ]
    rows = [
        [
            n,
            *(
                part
                for variant in variants
                for metric in metrics
                for part in _parts(found.means[_label(found, variant, n), metric])
            ),
        ]
        for n in counts
    ]
    _save(request, "snjoin-8", canvas, header, rows)
    most = counts[-1]
    gain = found.differences[_label(found, "paper", most), "output_rate"]
    mjoin = found.differences[_label(found, "distributed-mjoin", most), "output_rate"]
    return [
        Verdict(
            f"feedback raises the output rate at {most:,} sensors",
            "up to 90 %",
            _percent(gain),
            None if request.quick else _number(gain.mean) >= 90,
        ),
        Verdict(
            f"SNJoin* without feedback and distributed MJoin at {most:,} sensors",
            "MJoin below SNJoin*",
            f"output rate of MJoin {_percent(mjoin)} beside SNJoin*'s",
            _number(mjoin.mean) <= 0,
        ),
    ]


def figure_9(request: Request) -> list[Verdict]:
    """What feedback saves where values are local to places; drop rates where heads are overloaded."""
    found, overloaded = _answers(request, "snjoin-fig9"), _answers(request, OVERLOADED)
    sources = {column: overloaded if column == "drop rate" else found for column in COLUMNS}
    return _reductions(request, sources, "snjoin-9", "local values")


def figure_9_global(request: Request) -> list[Verdict]:
    """What feedback saves, and loses, where all heads match."""
    found = _answers(request, "snjoin-fig9-global")
    sources = {column: found for column in COLUMNS if column != "drop rate"}
    return _reductions(request, sources, "snjoin-9-global", "the same values everywhere")


def _reductions(
    request: Request, sources: "Mapping[str, Answers]", name: str, what: str
) -> list[Verdict]:
    """The columns of Fig. 9 for each rule, from the sweep that each column is read off."""
    rules = ("paper", "directory")
    canvas = Canvas(figsize=(11, 6.5), layout="constrained")
    rows: list[list[object]] = []
    verdicts = []
    published_at = list(REDUCTIONS)
    for axes, (column, found) in zip(canvas.subplots(2, 3).flat, sources.items(), strict=False):
        counts = _counts(found)
        theirs = [
            PUBLISHED[n][published_at.index(column)] if column in REDUCTIONS else None
            for n in counts
        ]
        for rule in rules:
            savings = [_reduction(found, rule, n, COLUMNS[column]) for n in counts]
            _plot(axes, counts, savings, rule)
            rows += [
                [column, rule, n, *_parts(saving), their]
                for n, saving, their in zip(counts, savings, theirs, strict=True)
            ]
            paper = "not given" if theirs[-1] is None else f"{theirs[-1]} %"
            claim = f"{LABELS[rule]}, {what}, {counts[-1]:,} sensors: reduction in {column}"
            verdicts.append(Verdict(claim, paper, _percent(savings[-1]), None))
        if column in REDUCTIONS:
            axes.plot(counts, theirs, "k+--", markersize=9, label="published")
        axes.set_title(column)
        axes.set_xlabel("sensors")
    canvas.supylabel("reduction against no feedback (%)")
    canvas.axes[0].legend(frameon=False)
    header = ["reduction_in", "rule", "sensors", "percent", "half_interval", "published_percent"]
    _save(request, name, canvas, header, rows)
    return verdicts


def _plot(axes: Axes, xs: Sequence[float], estimates: "Sequence[Estimate]", name: str) -> None:
    """A line with 95 % intervals."""
    axes.errorbar(
        xs,
        [_number(estimate.mean) for estimate in estimates],
        yerr=[estimate.half or 0.0 for estimate in estimates],
        marker="o",
        capsize=3,
        color=COLOURS[name],
        label=LABELS[name],
    )


def target_recall(request: Request) -> list[Verdict]:
    """What a target recall costs, beside the oracle."""
    canvas = Canvas(figsize=(11, 3.8), layout="constrained")
    panels = canvas.subplots(1, 3)
    rows: list[Sequence[object]] = []
    verdicts = []
    gas = _answers(request, "target-recall-gas")
    zipf = _answers(request, "target-recall-zipf")
    cases = [
        ("gas cloud", gas, None),
        ("local Zipf", zipf, 1.0),
        ("global Zipf", zipf, 0.0),
    ]
    targets = (0.9, 0.95, 0.99)
    for axes, (title, found, locality) in zip(panels, cases, strict=True):
        labels = {
            place.get("variant", place.get("point")): label
            for label, place in found.grouping.places.items()
            if locality is None or place["phenomenon.locality"] == locality
        }
        points = [labels[f"target-{target}"] for target in targets]
        recalls = [found.means[point, "recall"] for point in points]
        costs = [found.means[point, "bytes_per_s"] for point in points]
        oracle = found.means[labels["oracle"], "bytes_per_s"]
        axes.errorbar(
            targets,
            [_number(cost.mean) / 1e3 for cost in costs],
            yerr=[(cost.half or 0.0) / 1e3 for cost in costs],
            marker="o",
            capsize=3,
            color=COLOURS["directory"],
            label="target recall",
        )
        axes.axhline(_number(oracle.mean) / 1e3, color=COLOURS["oracle"], ls="--", label="oracle")
        axes.set_title(title)
        axes.set_xlabel("target recall")
        axes.set_ylim(bottom=0)
        for target, point, recall in zip(targets, points, recalls, strict=True):
            apart = found.differences[point, "bytes_per_s"]
            rows.append([title, target, *_parts(recall), *_parts(apart)])
            verdicts.append(
                Verdict(
                    f"{title}: a target of {target} is held",
                    "not in the paper; within 0.01",
                    f"recall {_number(recall.mean):.4f}, bytes {_percent(apart)} beside the oracle",
                    abs(_number(recall.mean) - target) <= 0.01,
                )
            )
    panels[0].set_ylabel("kilobytes/s on air")
    panels[0].legend(frameon=False)
    header = ["values", "target", "recall", "half", "bytes_from_oracle_percent", "half"]
    _save(request, "target-recall", canvas, header, rows)
    return verdicts


def _answers(request: Request, name: str) -> "Answers":
    """The answers of a shipped sweep; complete runs are kept, the rest is run."""
    memo = request.memo.get(name)
    if memo is not None:
        return memo  # type: ignore[return-value]
    # Here and not above: Spark takes a second to import, and most figures do without.
    from analysis.compare.compare_runs import Question
    from scenarios.sweep.driver import run_sweep
    from scenarios.sweep.plan import plan_sweep

    sweep = load_sweep(name)
    directory = request.directory / "sweeps" / name
    if request.quick:
        sweep, directory = _shortened(sweep), Path(f"{directory}-quick")
    plan = plan_sweep(sweep, Question(sweep.metrics, sweep.by, sweep.baseline))
    result = run_sweep(plan, directory, resume=True, report=request.report)
    if result.failures or result.answer is None:
        raise MoteJoinError(f"{name}: {len(result.failures)} runs failed; see {directory}")
    request.memo[name] = result.answer.found
    return result.answer.found


def _shortened(sweep: Sweep) -> Sweep:
    points = [
        replace(point, settings=point.settings | {"duration_s": QUICK_S})
        for point in sweep.points
        if point.place.get(COUNT, QUICK_COUNTS[0]) in QUICK_COUNTS
    ]
    return replace(sweep, seeds=sweep.seeds[:1], points=points)


def _counts(found: "Answers") -> list[int]:
    return sorted({place[COUNT] for place in found.grouping.places.values()})


def _label(found: "Answers", variant: str, count: int) -> str:
    wanted = {"variant": variant, COUNT: count}
    return next(label for label, place in found.grouping.places.items() if place == wanted)


def _reduction(found: "Answers", variant: str, count: int, metric: str) -> "Estimate":
    difference = found.differences[_label(found, variant, count), metric]
    if difference.mean is None:
        return difference
    low, high = difference.high, difference.low
    return replace(
        difference,
        mean=-difference.mean,
        low=None if low is None else -low,
        high=None if high is None else -high,
    )


def _parts(estimate: "Estimate") -> tuple[float | None, float | None]:
    return estimate.mean, estimate.half


def _number(mean: float | None) -> float:
    return float("nan") if mean is None else mean


def _percent(estimate: "Estimate") -> str:
    if estimate.mean is None:
        return "nothing to compare"
    half = "" if estimate.half is None else f" ± {estimate.half:.1f}"
    # Adding 0.0 turns -0.0 into 0.0.
    return f"{round(estimate.mean, 1) + 0.0:.1f}{half} %"


def _save(
    request: Request,
    name: str,
    canvas: Canvas,
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
) -> None:
    canvas.savefig(request.directory / f"{name}.png", dpi=120)
    with (request.directory / f"{name}.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


FIGURES = (
    Figure("snjoin-8", "output rate of SNJoin* by number of sensors (SNJoin Fig. 8)", figure_8),
    Figure("snjoin-9", "what relevance feedback saves, local values (SNJoin Fig. 9)", figure_9),
    Figure(
        "snjoin-9-global",
        "what relevance feedback saves, the same values everywhere (SNJoin Fig. 9)",
        figure_9_global,
    ),
    Figure("target-recall", "what a target recall costs, beside the oracle", target_recall),
)
