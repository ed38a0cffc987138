"""The one-screen summary of a run, from its manifest."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

from scenarios.recorded.figures import evictions
from sim.trace.manifest import Manifest

_WRONG = {
    "bad": "bad",
    "missing": "missing",
    "unknown": "of unknown nodes",
    "unordered": "out of order",
    "repeated": "repeated",
    "gaps": "gaps",
}
"""Words for what can be wrong with a recording."""


def summary(manifest: Manifest, directory: Path) -> str:
    """The run on one screen; `directory` is the run directory."""
    counts = manifest.counts
    lines = {
        "phenomenon": _phenomenon(counts["tracking"]),
        "answer": _answer(counts),
        "readings": _readings(counts),
        "on air": _on_air(counts),
        "energy": _energy(counts, manifest.scenario["motes"]["count"]),
        "clusters": f"{counts['mean_heads']:.1f} heads on average over {_n(counts['rounds'])} rounds",
    }
    if counts.get("recording"):
        lines["recording"] = _recording(counts["recording"])
    if counts.get("queries"):
        changed = ((name, cells["changes"]) for name, cells in counts["queries"].items())
        lines["queries"] = ", ".join(
            f"{name} changed {_n(changes)} times" for name, changes in changed
        )
    if let_go := evictions(counts.get("predicate_windows", {})):
        lines["let go"] = "; ".join(let_go)
    if counts["drops"]:
        drops = sorted(counts["drops"].items(), key=lambda item: -item[1])
        reasons = ", ".join(f"{_n(number)} {reason}" for reason, number in drops)
        lines["drops"] = f"{reasons} (of readings, messages and held readings)"
    if counts["requests"]:
        lines["probes"] = _probes(counts)
    if _has_recall(manifest):
        lines["recall"] = f"see motejoin compare {quote(str(directory))}"
    title = (
        f"{manifest.name}, seed {manifest.seed}: {manifest.simulated_s:g} s simulated"
        f" in {manifest.wall_s:.1f} s"
    )
    body = [f"  {name:<11} {text}" for name, text in lines.items() if text]
    return "\n".join([title, *body, f"  {'fingerprint':<11} {manifest.fingerprint}"])


def _has_recall(manifest: Manifest) -> bool:
    """Whether the trace has what recall is computed from; see `analysis/metrics/recall.py`."""
    scenario = manifest.scenario
    recorded = {"readings", "results"} <= manifest.rows.keys() and scenario["trace"]["partners"]
    return recorded and scenario["join"]["arity"] != "complete"


def _phenomenon(tracking: Mapping[str, Any]) -> str:
    appeared_s, detected_s = tracking["appeared_s"], tracking["detected_s"]
    if appeared_s is None:
        return ""
    text = f"appeared at {appeared_s:.0f} s"
    if detected_s is None:
        return f"{text}, never found"
    return (
        f"{text}, found {detected_s - appeared_s:.1f} s later, tracked with coverage"
        f" {tracking['coverage']:.2f} (on average {tracking['false_alarms']:.1f} motes wrongly in the"
        f" answer, {tracking['misses']:.1f} missed); up to {_n(tracking['inside_most'])} motes inside"
    )


def _answer(counts: Mapping[str, Any]) -> str:
    if not counts["results"]:
        return "no results"
    return (
        f"{_n(counts['results'])} results, {counts['mean_width']:.1f} sensors wide,"
        f" {counts['mean_delay_ms']:.1f} ms after their readings, on average"
    )


def _readings(counts: Mapping[str, Any]) -> str:
    fates = ", ".join(f"{_n(number)} {fate}" for fate, number in counts["fates"].items())
    text = f"{_n(counts['readings'])} taken, {_n(counts['readings_with_value'])} with a value"
    return f"{text}: {fates}" if fates else text


def _recording(counts: Mapping[str, int]) -> str:
    """How many readings were replayed, and how many the recording had that were not usable."""
    wrong = [f"{_n(counts[kind])} {words}" for kind, words in _WRONG.items() if counts[kind]]
    return ", ".join([f"{_n(counts['readings'])} readings", *wrong])


def _on_air(counts: Mapping[str, Any]) -> str:
    kinds = sorted(counts["traffic"].items(), key=lambda item: -item[1]["sent_bytes"])
    total = counts["bytes"]
    shares = ", ".join(f"{kind} {_share(cells['sent_bytes'], total)}" for kind, cells in kinds)
    lost = sum(cells["lost"] for _, cells in kinds)
    text = f"{_n(counts['messages'])} messages, {_n(total)} bytes: {shares}"
    return f"{text}; {_n(lost)} copies lost" if lost else text


def _energy(counts: Mapping[str, Any], motes: int) -> str:
    total = counts["energy_j"]
    causes = ", ".join(
        f"{cause} {_share(joules, total)}"
        for cause, joules in counts["energy_by_cause_j"].items()
        if joules
    )
    dead = f"{_n(counts['deaths'])} of {_n(motes)} motes dead"
    if counts.get("cut_off"):
        dead += f", {_n(counts['cut_off'])} without a path to the sink"
    return f"{total:.3f} J: {causes} (elections {_share(counts['control_j'], total)}); {dead}"


def _probes(counts: Mapping[str, Any]) -> str:
    probed = counts["heads_probed"]
    text = "requests " + ", ".join(
        f"{_n(number)} {end}" for end, number in counts["requests"].items()
    )
    if counts["probes"]:
        text += f"; {probed / counts['probes']:.1f} heads probed by those finished"
    return f"{text}, {_share(counts['heads_matched'], probed)} had a partner" if probed else text


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.0%}" if whole else "0%"


def _n(number: int) -> str:
    return f"{number:,}"
