"""What a manifest's counts say of metrics: aggregates that the simulation counted as it went.

They are there whatever tables a run recorded. Manifests call some of them by other names than metrics do; which
is which stands here and nowhere else.
"""

from typing import Any

from analysis.metrics.arrow.evaluate import run_aggregates
from analysis.metrics.inputs import (
    ANSWERED,
    APPEARED_US,
    ARITY,
    CAUSES_J,
    CONTROL_J,
    CONTROL_SENT,
    CONTROL_SENT_BYTES,
    DEAD,
    DELAY_US,
    DETECTED_US,
    DRAWN_J,
    DROPPED,
    HEADS,
    IN_FLIGHT,
    JOINED,
    LOST,
    MATCHED,
    MISSED,
    OVERLAP,
    PROBED,
    READINGS,
    REQUESTS,
    RESULTS,
    ROUNDS,
    SENT,
    SENT_BYTES,
    SUPPRESSED,
    VALUED,
    WRONG,
    facts_of,
)
from analysis.metrics.metric import Aggregate
from analysis.metrics.registry import row_of
from analysis.trace.reader import TraceTables
from sim.trace.kinds import CAUSES, CONTROL_KINDS
from sim.trace.manifest import Manifest
from sim.trace.tables import Fate
from sim.units import US_PER_MS, US_PER_S


def counted_metrics(manifest: Manifest, trace: TraceTables) -> dict[str, Any]:
    """The metrics that a manifest's counts give, by name; of those that need more, null.

    How many readings were probed for is not counted: that is read from the trace, if it is there.
    """
    known = counted_aggregates(manifest)
    if trace.has(ANSWERED.tables[0]) and all(
        trace.has_column(ANSWERED.tables[0], column) for column in ANSWERED.columns
    ):
        known |= run_aggregates(trace, manifest, [ANSWERED])
    return row_of(facts_of(manifest) | known)


def counted_aggregates(manifest: Manifest) -> dict[str, Any]:
    """The aggregates that a manifest's counts give, by name."""
    counts = manifest.counts
    traffic, fates, joules = counts["traffic"], counts["fates"], counts["energy_by_cause_j"]
    control = [cells for kind, cells in traffic.items() if kind in CONTROL_KINDS]
    tracking, results, rounds = counts.get("tracking", {}), counts["results"], counts["rounds"]
    found: dict[Aggregate, Any] = {
        SENT: counts["messages"],
        SENT_BYTES: counts["bytes"],
        CONTROL_SENT: sum(cells["sent"] for cells in control),
        CONTROL_SENT_BYTES: sum(cells["sent_bytes"] for cells in control),
        LOST: sum(cells["lost"] for cells in traffic.values()),
        DRAWN_J: counts["energy_j"],
        **{CAUSES_J[cause]: joules.get(cause, 0.0) for cause in CAUSES},
        CONTROL_J: counts["control_j"],
        DEAD: counts["deaths"],
        READINGS: counts["readings"],
        VALUED: counts["readings_with_value"],
        JOINED: fates.get(Fate.JOINED, 0),
        DROPPED: fates.get(Fate.DROPPED, 0),
        IN_FLIGHT: fates.get(Fate.IN_FLIGHT, 0),
        SUPPRESSED: fates.get(Fate.SUPPRESSED, 0),
        RESULTS: results,
        ARITY: round((counts["mean_width"] or 0) * results),
        DELAY_US: round((counts["mean_delay_ms"] or 0) * US_PER_MS * results),
        REQUESTS: counts["probes"],
        PROBED: counts["heads_probed"],
        MATCHED: counts["heads_matched"],
        ROUNDS: rounds,
        HEADS: round(counts["mean_heads"] * rounds),
        OVERLAP: tracking.get("coverage"),
        WRONG: tracking.get("false_alarms"),
        MISSED: tracking.get("misses"),
        APPEARED_US: _us(tracking.get("appeared_s")),
        DETECTED_US: _us(tracking.get("detected_s")),
    }
    return {aggregate.name: value for aggregate, value in found.items()}


def _us(at_s: float | None) -> int | None:
    return None if at_s is None else round(at_s * US_PER_S)
