"""W-join Fig. 9a to 9c: 2 to 6 streams of different and of comparable rates, and a stream that is slow in turn."""

from typing import TYPE_CHECKING, Final

from join.windows import Uniform
from scenarios.reproduce.drawing import curves, label_axes, panels
from scenarios.reproduce.figure import Figure, Finding, Point, Row, Size
from scenarios.reproduce.table import Table
from scenarios.reproduce.wjoin.costs import COMPARISON_US, SCANS
from scenarios.reproduce.wjoin.retail import WINDOW_US, listed, ratios
from scenarios.reproduce.wjoin.service import make, total
from scenarios.reproduce.wjoin.streams import sales, synthetic

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

LABELS: Final = {"nlw": "NLW-join", "mw": "MW-join", "hw": "HW-join"}

# Fig. 9a: 2 to 6 streams, rates between 1,000 and 100 tuples/s. Fig. 9c: four streams of 1,000 tuples/s, one of which changes to
# 10 tuples/s and back every 100 tuples. The windows are not given: several, so that none has to be chosen.
STREAMS: Final = (2, 3, 4, 5, 6)
FAST_PER_S: Final = 1000.0
SLOW_PER_S: Final = 100.0
SLOWEST_PER_S: Final = 10.0
WINDOWS_MS: Final = (1, 2, 5, 10, 20)
WINDOWS_QUICK_MS: Final = (2, 10)
TUPLES: Final = 20_000
TUPLES_QUICK: Final = 4000
# Fig. 9b: the stores' sales, all with comparable rates, a window of an hour.
SHARE: Final = 0.2
SHARE_QUICK: Final = 0.05
LEAD: Final = 10.0
KEPT: Final = 0.5
"""A lead is maintained if at the most streams at least so much of it is left."""
UNCHANGED: Final = 1.5
"""Service times within this factor of each other have not changed significantly."""


def rates(streams: int) -> list[float]:
    """Rates from 1,000 down to 100 tuples/s, in equal ratios."""
    step = (SLOW_PER_S / FAST_PER_S) ** (1 / (streams - 1))
    return [FAST_PER_S * step**place for place in range(streams)]


def points(size: Size) -> list[Point]:
    """Parts a and c at each window, part b once."""
    quick = size is Size.QUICK
    tuples = TUPLES_QUICK if quick else TUPLES
    windows = WINDOWS_QUICK_MS if quick else WINDOWS_MS
    streams = (2, 4, 6) if quick else STREAMS
    both = [
        {"part": part, "streams": count, "window_ms": window, "tuples": tuples}
        for window in windows
        for part, counts in (("a", streams), ("equal", (4,)), ("slow", (4,)))
        for count in counts
    ]
    share = SHARE_QUICK if quick else SHARE
    sold = [{"part": "b", "streams": count, "share": share} for count in streams]
    return [
        {**place, "operator": operator, "seed": 1}
        for place in [*sold, *both]
        for operator in LABELS
    ]


def measure(point: Point) -> list[Row]:
    """Service time of one operator, once its buffers are full."""
    streams, part = point["streams"], point["part"]
    if part == "b":
        feed = list(sales(streams, days=1, share=point["share"], seed=point["seed"]))
        operator = make(point["operator"], Uniform(WINDOW_US), streams)
        return [total(point["operator"], operator, feed)]
    per_s = rates(streams) if part == "a" else [FAST_PER_S] * streams
    if part == "slow":
        per_s[-1] = SLOWEST_PER_S
    feed = synthetic(per_s, tuples=point["tuples"], seed=point["seed"], switching=part == "slow")
    operator = make(point["operator"], Uniform(point["window_ms"] * 1000), streams)
    return [total(point["operator"], operator, feed)]


def draw(table: Table) -> "Canvas":
    """Service time against the number of streams, and against the window with and without a slow stream."""
    parts = table.where(part="a")
    windows = sorted(parts.distinct("window_ms"))
    canvas, axes = panels(len(windows) + 3, rows=2)
    for panel, window in zip(axes, windows, strict=False):
        curves(panel, parts.where(window_ms=window), "streams", "service_us", "operator", LABELS)
        label_axes(panel, "streams", "service time (us)", title=f"different rates, {window} ms")
    curves(axes[-3], table.where(part="b"), "streams", "service_us", "operator", LABELS)
    label_axes(axes[-3], "streams", "service time (us)", title="comparable rates, 1 h")
    for panel, part, title in (
        (axes[-2], "equal", "four fast streams"),
        (axes[-1], "slow", "one slow in turn"),
    ):
        curves(panel, table.where(part=part), "window_ms", "service_us", "operator", LABELS)
        label_axes(panel, "window (ms)", "service time (us)", title=title)
    for panel in axes:
        panel.set_yscale("log")
    return canvas


def _leads(table: Table) -> dict[int, dict[int, float]]:
    """By window and number of streams: how many times as long NLW-join takes as MW-join."""
    rows = table.where(part="a")
    return {
        window: ratios(rows.where(window_ms=window), "nlw", "mw")
        for window in sorted(rows.distinct("window_ms"))
    }


def _order(table: Table) -> Finding:
    leads = _leads(table)
    fits = [window for window, found in leads.items() if min(found.values()) > LEAD]
    ours = "; ".join(f"{window} ms: {listed(found)}" for window, found in leads.items())
    best = max(max(found.values()) for found in leads.values())
    why = f"At no window is MW-join ten times as fast at every number of streams; at most {best:.1f} times. {_bounds(table)}"
    return Finding(bool(fits), f"NLW-join takes {ours} as long", "" if fits else why)


def _bounds(table: Table) -> str:
    """What MW-join could save at most: NLW-join's scanning at the shortest window, mode 1 at the longest."""
    rows = table.where(part="a", streams=max(table.where(part="a").column("streams")))
    windows = sorted(rows.distinct("window_ms"))
    nlw = rows.where(operator="nlw", window_ms=windows[0])
    scanning_us = SCANS["nlw"] * COMPARISON_US * nlw.mean("comparisons")
    in_mode_1 = ", ".join(
        f"{rows.mean('mode_1', operator='mw', window_ms=window):.0%} at {window} ms"
        for window in windows
    )
    return (
        f"With {rows.column('streams')[0]} streams and windows of {windows[0]} ms, scanning takes {scanning_us:.1f} of NLW-join's"
        f" {nlw.mean('service_us'):.1f} us, which bounds what can be saved. The longer the window, the more often the slowest stream has a"
        f" tuple in it, and a period spans it: tuples that MW-join meets in mode 1, {in_mode_1}."
    )


def _maintained(table: Table) -> Finding:
    leads = _leads(table)
    kept = {
        window: found[max(found)] / found[min(found)]
        for window, found in leads.items()
        if found[min(found)] > 1
    }
    fits = [window for window, share in kept.items() if share >= KEPT]
    ours = ", ".join(f"{window} ms {share:.2g}" for window, share in kept.items())
    why = "" if fits else "At every window the lead shrinks to less than half."
    return Finding(bool(fits), f"lead at the most streams over that at the fewest: {ours}", why)


def _converge(table: Table) -> Finding:
    found = ratios(table.where(part="b"), "nlw", "mw")
    holds = abs(found[max(found)] - 1) < abs(found[min(found)] - 1)
    return Finding(holds, f"NLW-join takes {listed(found)} as long as MW-join")


def _mode_2(table: Table) -> Finding:
    rows = table.where(part="b", operator="mw")
    streams, compared = rows.curve("streams", "comparisons")
    scanned = table.where(part="b", operator="nlw").curve("streams", "comparisons")[1]
    shares = [mw / nlw for mw, nlw in zip(compared, scanned, strict=True)]
    holds = shares[-1] > shares[0]
    ours = ", ".join(f"{share:.2f}" for share in shares)
    return Finding(
        holds,
        f"stored tuples that MW-join tests in mode 2 for each that NLW-join tests: {ours} at {', '.join(map(str, streams))} streams",
    )


def _hw(table: Table) -> Finding:
    worse, parts = [], []
    for part in ("a", "b"):
        rows = table.where(part=part)
        for window in sorted(rows.distinct("window_ms")) or [None]:
            at = rows.where(window_ms=window) if window else rows
            lead = [ratios(at, other, "hw") for other in ("nlw", "mw")]
            least = min(min(found.values()) for found in lead)
            name = f"{window} ms" if window else "1 h"
            parts.append(f"{name} {least:.2g}")
            if least <= 1:
                worse.append(name)
    holds = "1 h" not in worse and len(worse) < len(parts) / 2
    return Finding(
        holds,
        f"the others take at least {', '.join(parts)} times as long",
        "" if holds else f"Not at windows of {', '.join(worse)}. {_hashing(table)}",
    )


def _hashing(table: Table) -> str:
    """By window, where HW-join is worst: what hashing costs it, and what the better join scans more than it."""
    rows = table.where(part="a")
    parts = []
    for window in sorted(rows.distinct("window_ms")):
        at = rows.where(window_ms=window)
        lead, streams, other = min(
            (ratio, streams, other)
            for other in ("nlw", "mw")
            for streams, ratio in ratios(at, other, "hw").items()
        )
        if lead > 1:
            continue
        place = at.where(streams=streams)
        scans = {
            name: SCANS[name] * COMPARISON_US * place.mean("comparisons", operator=name)
            for name in (other, "hw")
        }
        hashing_us = place.mean("hashing_us", operator="hw")
        saved_us = scans[other] - scans["hw"]
        slower_us = place.mean("service_us", operator="hw") - place.mean(
            "service_us", operator=other
        )
        parts.append(
            f"at {window} ms and {streams} streams {hashing_us:.1f} us a tuple for hashing, {-saved_us:+.1f} for scanning and"
            f" {slower_us - hashing_us + saved_us:+.1f} for all else, compared with {LABELS[other]}"
        )
    return f"With few tuples in the window, hashing and storing partial results cost more than the scans that they save: {'; '.join(parts)}."


def _changes(table: Table) -> dict[str, dict[int, float]]:
    """By operator and window: service time with a slow stream over that without."""
    return {
        name: {
            window: table.mean("service_us", part="slow", operator=name, window_ms=window)
            / table.mean("service_us", part="equal", operator=name, window_ms=window)
            for window in sorted(table.where(part="slow").distinct("window_ms"))
        }
        for name in LABELS
    }


def _in_words(found: dict[int, float]) -> str:
    return ", ".join(f"{change:.2f} at {window} ms" for window, change in found.items())


def _faster_when_slow(table: Table) -> Finding:
    found = _changes(table)["mw"]
    holds = min(found.values()) < 1 / UNCHANGED
    why = "A stream of 10 tuples/s still has a tuple in most windows." if not holds else ""
    return Finding(holds, f"service time of MW-join changes to {_in_words(found)}", why)


def _in_mode_1(table: Table) -> Finding:
    rows = table.where(part="slow", operator="mw")
    windows, shares = rows.curve("window_ms", "mode_1")
    holds = max(shares) > 0.5
    ours = ", ".join(
        f"{share:.0%} at {window} ms" for window, share in zip(windows, shares, strict=True)
    )
    return Finding(holds, f"tuples met in mode 1: {ours}")


def _others(table: Table) -> Finding:
    found = _changes(table)
    changes = [change for name in ("nlw", "hw") for change in found[name].values()]
    holds = all(1 / UNCHANGED < change < UNCHANGED for change in changes)
    ours = "; ".join(f"{LABELS[name]} {_in_words(found[name])}" for name in ("nlw", "hw"))
    return Finding(holds, f"service time changes to: {ours}", "" if holds else _shortened(table))


def _shortened(table: Table) -> str:
    """What NLW-join and HW-join scan at the longest window, with and without a slow stream."""
    window = max(table.where(part="slow").column("window_ms"))
    parts = []
    for name in ("nlw", "hw"):
        rows = table.where(operator=name, window_ms=window, streams=4)
        before, after = (rows.mean("comparisons", part=part) for part in ("equal", "slow"))
        parts.append(f"{LABELS[name]} {after:.1f} in place of {before:.1f}")
    return (
        "A slow stream has fewer tuples, and fewer partial results with them, in the buffers that are scanned: stored tuples tested for"
        f" each that arrives, at {window} ms: {', '.join(parts)}."
    )


FIGURE = Figure(
    "wjoin-9",
    "W-join §4.3, Fig. 9a to 9c",
    "service time with 2 to 6 streams of different and comparable rates, and with a stream that is slow in turn",
    points,
    measure,
    draw,
    {
        "wjoin-9a-order": _order,
        "wjoin-9a-maintained": _maintained,
        "wjoin-9b-converge": _converge,
        "wjoin-9b-mode-2": _mode_2,
        "wjoin-9-hw": _hw,
        "wjoin-9c-mw": _faster_when_slow,
        "wjoin-9c-mode-1": _in_mode_1,
        "wjoin-9c-others": _others,
    },
    (
        "The paper gives neither window nor number of values for synthetic streams: 10 values and several windows; a claim holds if it does at one of them, and the numbers say at which.",
        "Fig. 9b uses a fifth of the paper's rate of sales, all stores alike.",
        "Service time is the work counted at stated costs, not measured.",
    ),
)
