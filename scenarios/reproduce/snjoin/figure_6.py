"""SNJoin Fig. 6a to 6c: the variable-arity join of 200 to 2,000 slow streams."""

from functools import partial
from typing import Final

from scenarios.reproduce.figure import Figure, Finding, Size
from scenarios.reproduce.snjoin import figure_5
from scenarios.reproduce.snjoin.loaded.engine import LABELS, measure
from scenarios.reproduce.snjoin.loaded.experiment import Experiment, draw
from scenarios.reproduce.snjoin.loaded.judging import drops_less, gains, is_above, is_below
from scenarios.reproduce.table import Table

# §7.2: up to 2,000 sensors, a tuple a second on average, a window of one minute.
EXPERIMENT: Final = Experiment(
    arity="variable",
    interval_ms=1000.0,
    streams={Size.FULL: tuple(range(200, 2200, 200)), Size.QUICK: (100, 200, 400)},
    window_s={Size.FULL: 60.0, Size.QUICK: 10.0},
    duration_s={Size.FULL: 100.0, Size.QUICK: 20.0},
)


def _below_both(table: Table) -> Finding:
    findings = [is_below(table, "delay_ms", other) for other in ("mjoin", "xjoin-tree")]
    ours = "; ".join(
        f"against {LABELS[other]} {finding.ours}"
        for other, finding in zip(("mjoin", "xjoin-tree"), findings, strict=True)
    )
    holds = all(finding.holds for finding in findings)
    return Finding(holds, ours, "" if holds else "Delays are equal where nobody is overloaded.")


def _probes(table: Table) -> Finding:
    rows = table.where(streams=max(table.column("streams")), speed=1)
    probes = {name: rows.mean("probes", operator=name) for name in LABELS}
    ours = ", ".join(f"{LABELS[name]} {count:,.0f}" for name, count in probes.items())
    holds = probes["snjoin"] < min(probes["mjoin"], probes["xjoin-tree"])
    return Finding(holds, f"probes per tuple: {ours}")


def _more_than_complete(table: Table) -> Finding:
    """Against the complete join, as the work for a tuple at the largest number of streams of each experiment."""
    ours, holds = [], True
    complete = {"mjoin": COMPLETE_WORK[0], "xjoin-tree": COMPLETE_WORK[1]}
    for other, label in (("mjoin", "MJoin"), ("xjoin-tree", "XJoin tree")):
        found = gains(table.where(speed=1), "work_us", other)
        share = 1 / (1 + found[max(found)])
        ours.append(
            f"{label} works {share:.1f} times as much, at most {complete[other]:.1f} times in the complete join"
        )
        holds = holds and share > complete[other]
    return Finding(holds, "; ".join(ours))


def _complete_ratios() -> tuple[float, float]:
    """The most that MJoin and the tree can cost a tuple of a complete join of 20 streams, in costs of SNJoin's."""
    from scenarios.reproduce.snjoin.loaded.work import Steps, sorting_steps, worst_snjoin_us

    most = figure_5.EXPERIMENT.streams[Size.FULL][-1]
    others = most - 1
    mjoin = Steps(1, 1, sorting_steps(others), others, others).cost_us()
    tree = Steps(others, others, 0, others, others).cost_us()
    own = worst_snjoin_us(most)
    return mjoin / own, tree / own


COMPLETE_WORK: Final = _complete_ratios()

FIGURE = Figure(
    "snjoin-6",
    "SNJoin §7.2, Fig. 6a to 6c",
    "variable-arity join of 200 to 2,000 streams: output delay, drop rate, output rate",
    EXPERIMENT.points,
    measure,
    partial(draw, "sensors"),
    {
        "snjoin-6-delay": _below_both,
        "snjoin-6-drops": drops_less,
        "snjoin-6-rate-xjoin": partial(
            is_above, column="output_per_s", other="xjoin-tree", least=1.5
        ),
        "snjoin-6-rate-mjoin": partial(is_above, column="output_per_s", other="mjoin", least=0.6),
        "snjoin-6-more-than-complete": _more_than_complete,
        "snjoin-6-probes": _probes,
    },
    (
        "Values, ranks, buffer and speed as in `snjoin-5`.",
        "100 s of each stream, not 10,000 tuples: a run of 20 million tuples takes hours and measures the same.",
        "Results are counted, not combinations.",
    ),
)
