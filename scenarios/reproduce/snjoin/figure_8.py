"""SNJoin Fig. 8: output rate of SNJoin* with and without feedback and of distributed MJoin, over the load."""

from typing import TYPE_CHECKING, Final

from scenarios.reproduce.drawing import curves, label_axes, panels
from scenarios.reproduce.figure import Figure, Finding, Point, Size
from scenarios.reproduce.snjoin.simulated import CPU_US, LABELS, measure
from scenarios.reproduce.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

# §7.3: the gain is stated at 2,000 sensors.
SENSORS: Final = {Size.FULL: 2000, Size.QUICK: 200}
LOADS: Final = (0.0, 0.03, 0.06, 0.125, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
"""Share of a second that a head would need to serve one request of every sensor; 0: all work takes no time."""
LOADS_QUICK: Final = (0.0, 0.06, 0.5, 1.0, 2.0, 3.0)
SEEDS: Final = {Size.FULL: (1, 2, 3), Size.QUICK: (1,)}
DURATION_S: Final = {Size.FULL: 15.0, Size.QUICK: 10.0}
FREE: Final = {f"join.cpu_us.{step}": 0.0 for step in CPU_US}
CONTENDERS: Final = ("all-heads", "paper", "distributed-mjoin", "directory")
UNFINISHED: Final = 0.01
"""Share of readings whose request does not finish, from which a contender counts as saturated."""
GAIN: Final = 0.9
"""The gain that the paper prints."""
ALIKE: Final = 0.1


def points(size: Size) -> list[Point]:
    """Every contender at every load."""
    return [
        {
            "variant": variant,
            "sensors": SENSORS[size],
            "load": load,
            **(FREE if load == 0 else {}),
            "duration_s": DURATION_S[size],
            "phenomenon.locality": 1.0,
            "seed": seed,
        }
        for variant in CONTENDERS
        for load in (LOADS_QUICK if size is Size.QUICK else LOADS)
        for seed in SEEDS[size]
    ]


def _draw(table: Table) -> "Canvas":
    canvas, axes = panels(2)
    labels = {name: LABELS[name] for name in CONTENDERS}
    curves(axes[0], table, "load", "output_rate", "variant", labels)
    label_axes(
        axes[0], "load", "results/s at the sink", title=f"{table.column('sensors')[0]:,} sensors"
    )
    curves(axes[1], table, "load", "unfinished_rate", "variant", labels)
    label_axes(axes[1], "load", "readings without a finished request")
    return canvas


def _rates(table: Table, variant: str) -> dict[float, float]:
    loads, rates = table.curve("load", "output_rate", variant=variant)
    return dict(zip(loads, rates, strict=True))


def _saturation(table: Table) -> str:
    parts = []
    for variant in CONTENDERS:
        rows = table.where(variant=variant)
        over = [
            load
            for load in sorted(rows.distinct("load"))
            if (rows.estimate("unfinished_rate", load=load).mean or 0.0) > UNFINISHED
        ]
        parts.append(f"{LABELS[variant]} at {f'{over[0]:g}' if over else 'none of the loads'}")
    return f"saturated: {', '.join(parts)}"


def _listed(loads: list[float]) -> str:
    return ", ".join(f"{load:g}" for load in loads)


def _feedback(table: Table) -> Finding:
    without, paper = _rates(table, "all-heads"), _rates(table, "paper")
    gained = {load: paper[load] / without[load] - 1 for load in without if without[load]}
    region = [load for load, gain in gained.items() if gain >= GAIN]
    text = ", ".join(f"{100 * gain:+.0f} % at load {load:g}" for load, gain in gained.items())
    where = f"at least 90 % at loads {_listed(region)}" if region else "90 % at no load"
    why = f"Without feedback heads must be overloaded for that: {text}."
    return Finding(bool(region), f"{text}; {where}; {_saturation(table)}", "" if region else why)


def _above_mjoin(table: Table) -> Finding:
    mjoin, paper = _rates(table, "distributed-mjoin"), _rates(table, "paper")
    loaded = [load for load in mjoin if load]
    worse = [load for load in loaded if paper[load] < mjoin[load]]
    ratio = ", ".join(f"{paper[load]:.0f} to {mjoin[load]:.0f} at load {load:g}" for load in loaded)
    holds = len(worse) < len(loaded)
    first = [load for load in loaded if paper[load] >= mjoin[load]]
    where = f"higher at loads {_listed(first)}" if first else "higher at no load"
    why = "Feedback loses some results, and nobody is overloaded." if not holds else ""
    return Finding(holds, f"results/s: {ratio}; {where}", why)


def _communication(table: Table) -> Finding:
    rows = table.where(load=min(table.column("load")))
    ours, theirs = (
        rows.mean("bytes_per_s", variant=variant) for variant in ("all-heads", "distributed-mjoin")
    )
    apart = ours / theirs - 1
    text = f"{ours:,.0f} to {theirs:,.0f} bytes/s ({100 * apart:+.1f} %) where nobody drops"
    holds = abs(apart) <= ALIKE
    if holds:
        return Finding(holds, text)
    columns = {
        "probes_per_reading": "heads probed",
        "unfinished_rate": "of the requests unfinished",
    }
    reasons = [
        f"{name} {', '.join(f'{rows.mean(column, variant=v):.3g}' for v in ('all-heads', 'distributed-mjoin'))}"
        for column, name in columns.items()
    ]
    return Finding(holds, text, f"SNJoin* and distributed MJoin: {'; '.join(reasons)}.")


FIGURE = Figure(
    "snjoin-8",
    "SNJoin §7.3, Fig. 8",
    "output rate of SNJoin* and distributed MJoin over the load of the heads",
    points,
    measure,
    _draw,
    {
        "snjoin-8-feedback": _feedback,
        "snjoin-8-mjoin": _above_mjoin,
        "snjoin-8-communication": _communication,
    },
    (
        "The paper does not give the speed of its heads, so the figure is over the load and no load was chosen.",
        "Values are local to places (1,000 each), where feedback can learn something; the paper does not say.",
        "Runs of 15 s, learning included.",
    ),
)
