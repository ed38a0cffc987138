"""The one-screen summary of a run: metrics by the names and units that they are declared with, and counts."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

from analysis.metrics.inputs import ANSWER, facts_of
from analysis.metrics.kept import kept_metrics, known_metrics
from analysis.metrics.registry import METRICS, figure, number, quantity
from analysis.trace.reader import TraceTables
from scenarios.recorded.figures import evictions
from sim.trace.manifest import Manifest, radio_note
from sim.trace.tables import AnswerLevel

_WRONG = {
    "bad": "bad",
    "missing": "missing",
    "unknown": "of unknown nodes",
    "unordered": "out of order",
    "repeated": "repeated",
    "gaps": "gaps",
}
"""Words for what can be wrong with a recording."""

_ERRORS = ("missed_share", "wrong_share", "wrong_stretch_max_s", "count_error_share")
"""What is shown of answers below level `results`, which have no recall."""

Metrics = Mapping[str, Any]
"""Metrics of the run by name, as far as they are known."""


def summary(manifest: Manifest, directory: Path) -> str:
    """The run on one screen; `directory` is the run directory."""
    counts = manifest.counts
    metrics = known_metrics(manifest, TraceTables(directory, manifest))
    lines = {
        "phenomenon": _phenomenon(metrics, counts["tracking"]),
        "answer": _listed(metrics, "results", "tuple_width", "delay_ms", "change_delay_ms"),
        "readings": _readings(metrics, counts["fates"]),
        "on air": _on_air(metrics, counts["traffic"]),
        "": radio_note(manifest),
        "energy": _energy(metrics, counts, manifest.scenario["motes"]["count"]),
        "clusters": _listed(metrics, "clusters", "rounds"),
        "rosters": _rosters(counts),
    }
    if counts.get("recording"):
        lines["recording"] = _recording(counts["recording"])
    if counts.get("queries"):
        changed = ((name, cells["changes"]) for name, cells in counts["queries"].items())
        lines["queries"] = ", ".join(
            f"{name} changed {number(changes)} times" for name, changes in changed
        )
    if let_go := evictions(counts.get("predicate_windows", {})):
        lines["let go"] = "; ".join(let_go)
    if counts["drops"]:
        drops = sorted(counts["drops"].items(), key=lambda item: -item[1])
        reasons = ", ".join(f"{number(count)} {reason}" for reason, count in drops)
        lines["drops"] = f"{reasons} (of readings, messages and held readings)"
    if counts["requests"]:
        lines["probes"] = _probes(metrics, counts["requests"])
    if facts_of(manifest)[ANSWER.name] == AnswerLevel.RESULTS:
        lines["recall"] = _recall(manifest, metrics, directory)
    else:
        lines["errors"] = _errors(manifest, metrics, directory)
    title = (
        f"{manifest.name}, seed {manifest.seed}: {manifest.simulated_s:g} s simulated"
        f" in {manifest.wall_s:.1f} s"
    )
    body = [f"  {name:<11} {text}" for name, text in lines.items() if text]
    return "\n".join([title, *body, f"  {'fingerprint':<11} {manifest.fingerprint}"])


def _recall(manifest: Manifest, metrics: Metrics, directory: Path) -> str:
    """Recall with the pairs it is of, or why there is none; empty where it is not defined."""
    if manifest.scenario["join"]["arity"] == "complete":
        return ""
    missing = [table for table in METRICS["recall"].tables if table not in manifest.rows]
    if missing:
        return f"not known: trace.tables leaves out {' and '.join(missing)}"
    if not manifest.scenario["trace"]["partners"]:
        return "not known: partners are not recorded (trace.partners = false)"
    if kept_metrics(manifest) is None:
        return _too_large(directory)
    if metrics["owed"] is None:
        return ""
    if metrics["owed"] == 0:
        return "not defined: no pairs were owed"
    pairs = f"{number(metrics['delivered'])} of {number(metrics['owed'])} pairs owed"
    text = f"{quantity('recall', metrics['recall'])}: {pairs}"
    wrong = {"listed again": metrics["duplicates"], "no match": metrics["spurious"]}
    return "; ".join([text, *(f"{number(count)} {what}" for what, count in wrong.items() if count)])


def _errors(manifest: Manifest, metrics: Metrics, directory: Path) -> str:
    """How far the answer is from the exact one, below level `results`; empty where that is not known."""
    if kept_metrics(manifest) is None:
        return _too_large(directory)
    return _listed(metrics, *_ERRORS)


def _too_large(directory: Path) -> str:
    return f"see motejoin compare {quote(str(directory))}: too many pairs for one process"


def _listed(metrics: Metrics, *names: str) -> str:
    """The metrics that are known, each with its label."""
    known = [name for name in names if metrics[name] is not None]
    return ", ".join(_labelled(name, metrics[name]) for name in known)


def _labelled(name: str, value: object) -> str:
    """`1,330 results`, where the label is the unit, or `delay 6.034 ms`."""
    metric = METRICS[name]
    if metric.label == metric.unit:
        return quantity(name, value)
    return f"{metric.label} {figure(name, value)}"


def _rosters(counts: Mapping[str, Any]) -> str:
    """How many heads were missing on the rosters, if any: their readings are not probed, and no message need be lost."""
    listed, elected = counts["mean_enrolled"], counts["mean_heads"]
    if not counts["requests"] or listed >= elected:
        return ""
    return (
        f"{number(listed)} of {number(elected)} heads, on average: the sink did not hear of the others,"
        " and recall falls since they are not probed"
    )


def _phenomenon(metrics: Metrics, tracking: Mapping[str, Any]) -> str:
    if tracking["appeared_s"] is None:
        return ""
    appeared = f"appeared at {number(tracking['appeared_s'])} s"
    if metrics["detection_delay_s"] is None:
        return f"{appeared}, never detected"
    followed = _listed(metrics, "detection_delay_s", "coverage", "false_alarms", "misses")
    return f"{appeared}: {followed}; up to {number(tracking['inside_most'])} motes inside"


def _readings(metrics: Metrics, fates: Mapping[str, int]) -> str:
    valued = number(metrics["readings_valued"])
    text = f"{quantity('readings', metrics['readings'])}, {valued} with a value"
    ends = ", ".join(f"{number(count)} {fate}" for fate, count in fates.items())
    return f"{text}: {ends}" if ends else text


def _recording(counts: Mapping[str, int]) -> str:
    """How many readings were replayed, and what the recording had beside them."""
    wrong = [f"{number(counts[kind])} {words}" for kind, words in _WRONG.items() if counts[kind]]
    return ", ".join([f"{number(counts['readings'])} readings", *wrong])


def _on_air(metrics: Metrics, traffic: Mapping[str, Mapping[str, int]]) -> str:
    kinds = sorted(traffic.items(), key=lambda item: -item[1]["sent_bytes"])
    total = metrics["bytes"]
    shares = ", ".join(f"{kind} {_share(cells['sent_bytes'], total)}" for kind, cells in kinds)
    text = f"{quantity('messages', metrics['messages'])}, {quantity('bytes', total)}: {shares}"
    lost = metrics["copies_lost"]
    return f"{text}; {_labelled('copies_lost', lost)}" if lost else text


def _energy(metrics: Metrics, counts: Mapping[str, Any], motes: int) -> str:
    total = metrics["energy_j"]
    causes = ", ".join(
        f"{cause} {_share(joules, total)}"
        for cause, joules in counts["energy_by_cause_j"].items()
        if joules
    )
    dead = f"{number(metrics['dead'])} of {number(motes)} motes dead"
    if counts.get("cut_off"):
        dead += f", {number(counts['cut_off'])} without a path to the sink"
    elections = _share(metrics["control_j"], total)
    return f"{quantity('energy_j', total)}: {causes} (elections {elections}); {dead}"


def _probes(metrics: Metrics, requests: Mapping[str, int]) -> str:
    ends = "requests " + ", ".join(f"{number(count)} {end}" for end, count in requests.items())
    useful = _listed(metrics, "probes_per_reading", "probe_usefulness")
    return f"{ends}; {useful}" if useful else ends


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.0%}" if whole else "0%"
