"""HEED's application study: rounds until the first, half and the last mote are dead."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from scenarios.reproduce.drawing import curves, label_axes, panels
from scenarios.reproduce.figure import Figure, Finding, Point, Row, Size
from scenarios.reproduce.heed.lifetime_model import BATTERY_J, Contender, Setting, live
from scenarios.reproduce.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

# Table 2: 300 to 700 nodes.
MOTES: Final = (300, 500, 700)
MOTES_QUICK: Final = (150, 300)
SEEDS: Final = {Size.FULL: 10, Size.QUICK: 1}
BATTERY_QUICK_J: Final = 0.2

LABELS: Final = {
    "heed": "HEED, costs sent when changed",
    "heed-every-round": "HEED, costs sent every round",
    "leach": "LEACH, all motes in turn",
    "gen-leach-sink": "gen-LEACH, total sent by the sink",
    "gen-leach-near": "gen-LEACH, advertisements to 25 m",
    "gen-leach": "gen-LEACH, energies sent by all",
    "direct": "no clusters",
}
DEATHS: Final = {"first_dead": "first", "half_dead": "half", "last_dead": "last"}


def points(size: Size) -> list[Point]:
    """Every contender on the same fields."""
    quick = size is Size.QUICK
    return [
        {
            "contender": contender,
            "motes": motes,
            "battery_j": BATTERY_QUICK_J if quick else BATTERY_J,
            "seed": seed,
        }
        for motes in reversed(MOTES_QUICK if quick else MOTES)
        for contender in LABELS
        for seed in range(1, SEEDS[size] + 1)
    ]


def measure(point: Point) -> list[Row]:
    """One life of one network."""
    contender = Contender(point["contender"])
    return [asdict(live(Setting(contender, point["motes"], point["seed"], point["battery_j"])))]


def _draw(table: Table) -> "Canvas":
    canvas, axes = panels(len(DEATHS))
    for panel, (column, name) in zip(axes, DEATHS.items(), strict=True):
        curves(panel, table, "motes", column, "contender", LABELS)
        label_axes(panel, "motes", "rounds", title=f"{name} of the motes dead")
        if panel is not axes[0]:
            legend = panel.get_legend()
            if legend is not None:
                legend.remove()
    return canvas


def _outlives(table: Table, other: str, column: str) -> tuple[bool, str]:
    """Whether HEED's mean is above the other's at every size, and both in words."""
    parts, holds = [], True
    for motes in sorted(table.distinct("motes")):
        ours, theirs = (table.mean(column, contender=name, motes=motes) for name in ("heed", other))
        holds = holds and ours > theirs
        parts.append(f"{ours:,.0f} to {theirs:,.0f} at {motes}")
    return holds, f"{LABELS[other]}: {', '.join(parts)}"


READINGS: Final = ("gen-leach", "gen-leach-near", "gen-leach-sink")
"""What the paper's gen-LEACH may be: it says neither how motes learn all energies nor how far heads advertise."""


NEEDED: Final = ("gen-leach", "gen-leach-near")
"""The readings that HEED must outlive for the claim to hold: both cost gen-LEACH something for what HEED does without."""


def _against_gen_leach(table: Table, column: str) -> Finding:
    """HEED against each reading of gen-LEACH."""
    found = {name: _outlives(table, name, column) for name in READINGS}
    beaten = [LABELS[name] for name in READINGS if not found[name][0]]
    ours = f"rounds of HEED to those of {'; '.join(text for _, text in found.values())}"
    if beaten:
        ours += f". HEED does not outlive {'; '.join(beaten)}"
    holds = all(found[name][0] for name in NEEDED)
    return Finding(holds, ours, "" if holds else _late(table))


def _late(table: Table) -> str:
    """Why motes that hear no head can outlive HEED's: what the second half of the motes spends in its last rounds."""
    rows = table.where(motes=max(table.column("motes")))
    near, own = rows.where(contender="gen-leach-near"), rows.where(contender="heed")
    early, late = (
        [f"{1e3 * each.mean(column):.2f}" for each in (near, own) for column in columns]
        for columns in (("data_j", "control_j"), ("late_data_j", "late_control_j"))
    )
    return (
        f"With advertisements to 25 m, {near.mean('alone'):.0f} of {rows.column('motes')[0]} motes hear no head in a round and send to"
        f" the sink themselves (HEED: {own.mean('alone'):.1f}), which wears out the far ones: up to the first death a mote spends {early[0]}"
        f" mJ a round on data (HEED: {early[2]}) and {early[1]} on elections ({early[3]}). When half of the motes are dead, the far ones among"
        f" them, data cost {late[0]} mJ ({late[2]}) and elections {late[1]} ({late[3]}): then HEED's elections shorten its life."
    )


def _first(table: Table) -> Finding:
    return _against_gen_leach(table, "first_dead")


def _last(table: Table) -> Finding:
    return _against_gen_leach(table, "last_dead")


def _control(table: Table) -> Finding:
    parts, holds = [], True
    for motes in sorted(table.distinct("motes")):
        spent = {
            name: 1e3 * table.mean("control_j", contender=name, motes=motes)
            for name in ("heed", "gen-leach", "gen-leach-near", "gen-leach-sink")
        }
        holds = holds and spent["heed"] < spent["gen-leach"]
        said = ", ".join(f"{name} {joules:.2f}" for name, joules in spent.items())
        parts.append(f"{motes} motes: {said}")
    ours = f"mJ per mote and round: {'; '.join(parts)}"
    return Finding(holds, ours, "" if holds else "HEED's tentative heads announce repeatedly.")


def _direct(table: Table) -> Finding:
    holds, text = _outlives(table, "direct", "first_dead")
    return Finding(holds, text)


def _leach(table: Table) -> Finding:
    holds, text = _outlives(table, "leach", "first_dead")
    return Finding(not holds, text)


FIGURE = Figure(
    "heed-lifetime",
    "HEED, application study, Table 2",
    "rounds until the first, half and the last mote are dead, HEED against LEACH",
    points,
    measure,
    _draw,
    {
        "heed-lifetime-first": _first,
        "heed-lifetime-last": _last,
        "heed-lifetime-control": _control,
        "heed-lifetime-direct": _direct,
        "heed-leach-own": _leach,
    },
    (
        "The paper was not available; settings are those of its Table 2 as others quote it, d0 = 75 m among them.",
        "The paper does not say how gen-LEACH learns the energy of all motes or how far its heads advertise: three readings are compared.",
    ),
)
