"""How SNJoin's claims are judged: contenders compared at each number of streams, and over the load."""

from scenarios.reproduce.figure import Finding
from scenarios.reproduce.table import Table


def percent(part: float) -> str:
    """A share in words, with its sign."""
    return f"{100 * part:+.0f} %"


def gains(table: Table, column: str, other: str, by: str = "streams") -> dict[float, float]:
    """By number of streams: how far SNJoin's value lies above (or below) the other's, as a share of the other's."""
    found = {}
    for place in sorted(table.distinct(by)):
        rows = table.where(**{by: place})
        ours, theirs = rows.where(operator="snjoin"), rows.where(operator=other)
        if ours.column(column) and theirs.column(column) and theirs.mean(column):
            found[place] = ours.mean(column) / theirs.mean(column) - 1
    return found


def over_the_load(table: Table, column: str, other: str) -> str:
    """SNJoin against another over the processor's speed, at the largest number of streams, in words."""
    rows = table.where(streams=max(table.column("streams")))
    parts = [
        f"{percent(gain)} at speed {speed:g}"
        for speed, gain in gains(rows, column, other, "speed").items()
    ]
    return ", ".join(parts)


def is_below(table: Table, column: str, other: str, why: str = "") -> Finding:
    """SNJoin's value is lower than the other's at the largest number of streams, and nowhere much higher."""
    found = gains(table.where(speed=1), column, other)
    last = found[max(found)]
    holds = last < 0
    ours = f"{percent(last)} at {max(found):g} streams (best {percent(min(found.values()))}); {over_the_load(table, column, other)}"
    return Finding(holds, ours, "" if holds else why)


def is_above(table: Table, column: str, other: str, least: float = 0.0, why: str = "") -> Finding:
    """SNJoin's value exceeds the other's by `least` somewhere, and at the largest number of streams at all."""
    found = gains(table.where(speed=1), column, other)
    last, best = found[max(found)], max(found.values())
    holds = last > 0 and best >= least
    ours = f"{percent(last)} at {max(found):g} streams (best {percent(best)}); {over_the_load(table, column, other)}"
    return Finding(holds, ours, "" if holds else why)


def drops_less(table: Table) -> Finding:
    """SNJoin's drop rate is nowhere above the others', and below wherever they drop more than one tuple in a hundred."""
    worse, parts = [], []
    for other in ("mjoin", "xjoin-tree"):
        for speed in sorted(table.distinct("speed")):
            for streams in sorted(table.where(speed=speed).distinct("streams")):
                rows = table.where(speed=speed, streams=streams)
                ours = rows.mean("drop_rate", operator="snjoin")
                theirs = rows.mean("drop_rate", operator=other)
                if ours > theirs or (theirs > OVERLOADED and ours == theirs):
                    worse.append(f"{other} at {streams} streams, speed {speed:g}")
    rows = table.where(speed=1, streams=max(table.column("streams")))
    parts = [
        f"{name} {rows.mean('drop_rate', operator=name):.1%}" for name in rows.distinct("operator")
    ]
    ours_text = f"{', '.join(parts)} at {max(table.column('streams'))} streams"
    if worse:
        return Finding(False, ours_text, f"SNJoin drops as much or more than {'; '.join(worse)}.")
    return Finding(True, f"{ours_text}; at no load and number of streams more")


OVERLOADED = 0.01
"""Drop rate from which a contender counts as overloaded."""


def saturation(table: Table) -> str:
    """The least speed at which each contender drops no more than one tuple in a hundred, at the largest size."""
    rows = table.where(streams=max(table.column("streams")))
    parts = []
    for name in rows.distinct("operator"):
        keeps_up = [
            speed
            for speed in sorted(rows.distinct("speed"))
            if rows.mean("drop_rate", operator=name, speed=speed) <= OVERLOADED
        ]
        parts.append(f"{name} {f'{keeps_up[0]:g}' if keeps_up else 'above all tried'}")
    return f"speed needed to keep up: {', '.join(parts)}"
