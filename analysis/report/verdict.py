"""What happened in a run, in a few sentences: found when, tracked how well, at what cost, under which radio."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from analysis.metrics.number_format import percent
from analysis.metrics.registry import number, quantity
from analysis.report.view import RunView
from sim.errors import InputError
from sim.units import US_PER_S

COSTS: Final = ("bytes_per_s", "hottest_radio_j")
"""The costs that a strategy answers for. Most of all energy may be idle listening, which is the same for every strategy."""
_SAME: Final = (
    ("motes", "count"),
    ("duration_s",),
    ("phenomenon",),
    ("field",),
    ("join", "answer"),
    ("join", "delay_s"),
)
"""What a run and its baseline must have in common, beside the seed: what their readings depend on, and what the sink
must know and how soon."""
_ENDS_EARLY_SHARE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Baseline:
    """The run that costs are compared with."""

    name: str
    """What it is called beside a number: its strategy."""
    metrics: Mapping[str, Any]
    does: str = ""
    """What its strategy does."""

    def beside(self, name: str, own: float) -> str:
        """The baseline's value of a metric, and how many times that is."""
        base = self.metrics.get(name)
        if base is None:
            return ""
        text = f"{self.name}: {quantity(name, base)}"
        return f"{text} ({times(own, base)})" if base else text

    def against(self, name: str, own: float, *, named: bool) -> str:
        """A value of the run compared with the baseline's, to follow it in a sentence; `named` if it should say whose that is."""
        base = self.metrics.get(name)
        if base is None:
            return ""
        if not base:
            return f" ({self.name}: {quantity(name, base)})"
        if not named:
            return f", {as_much(own, base)}"
        return f", {compared(own, base, f'“{self.name}”')}"


def baseline_of(run: RunView, other: RunView) -> Baseline:
    """Another run as the baseline of `run`.

    Raises:
        InputError: the two had different readings, so that their costs do not compare.
    """
    if run.manifest.seed != other.manifest.seed:
        raise InputError(
            f"{other.directory}: seed = {other.manifest.seed}, expected {run.manifest.seed}"
            f" as in {run.directory}"
        )
    for keys in _SAME:
        own, found = (_at(view.manifest.scenario, keys) for view in (run, other))
        if own != found:
            raise InputError(
                f"{other.directory}: {'.'.join(keys)} differs from that of {run.directory}:"
                " expected runs of one scenario that differ in how they cluster, route or join"
            )
    strategy, own_strategy = (view.manifest.scenario["join"]["strategy"] for view in (other, run))
    name = strategy if strategy != own_strategy else other.directory.name
    return Baseline(name, other.metrics, other.manifest.strategy)


def verdict(run: RunView, baseline: Baseline | None) -> list[str]:
    """The sentences, the most important first."""
    return [
        text
        for text in (_found(run), _tracked(run), _cost(run, baseline), radio(run), _recording(run))
        if text
    ]


def times(value: float, base: float) -> str:
    """How many times `base` a value is, in words."""
    ratio = value / base
    if 0.995 <= ratio <= 1.005:
        return "the same"
    if 0 < ratio < 0.95:
        # A factor below 1 is harder to grasp than its inverse.
        return f"{number(float(f'{1 / ratio:.2g}'))} times less"
    return f"{number(float(f'{ratio:.2g}'))} times that"


def as_much(own: float, base: float) -> str:
    """How a value compares with another, where it is clear with which."""
    return times(own, base).replace("times that", "times as much")


def compared(own: float, base: float, whose: str) -> str:
    """How a value compares with that under another strategy, in words."""
    words = times(own, base)
    if words.endswith("less"):
        return f"{words} than with {whose}"
    return f"the same as with {whose}" if words == "the same" else f"{words} with {whose}"


def radio(run: RunView) -> str:
    """What the radio of a run left out or had."""
    scenario = run.manifest.scenario
    settings, routing = scenario.get("radio", {}), scenario.get("routing", {})
    mac = settings.get("mac")
    if mac is None:
        return ""
    hops = {routing.get("heads"), routing.get("sink")}
    reach = "one hop" if hops == {"one-hop"} else "several hops"
    losses = _losses(settings)
    if mac == "ideal":
        return (
            f"Idealised radio: {reach}, no collisions, {losses or 'no random losses'}; bytes on air may"
            " exceed what a real channel can carry."
        )
    collisions = "no collisions" if "no collisions" in run.manifest.idealised else "frames collide"
    text = f"Radio: {', '.join(part for part in (mac, reach, collisions, losses) if part)}"
    dropped = run.metrics.get("drop_rate")
    if dropped is None:
        return f"{text}."
    return f"{text}; {quantity('drop_rate', dropped)} of the readings with a value were lost or dropped."


def _losses(settings: Mapping[str, Any]) -> str:
    if settings.get("channel") == "shadowing":
        return "losses by shadowing"
    share = settings.get("loss") or 0.0
    return f"{percent(share)} of messages lost at random" if share else ""


def _found(run: RunView) -> str:
    tracking = run.manifest.counts.get("tracking") or {}
    what = "gas cloud" if _is_gas(run) else "phenomenon"
    results = run.metrics["results"]
    if not tracking.get("inside_most"):
        if run.trace.has("truth") and _is_gas(run):
            return f"The {what} never reached a mote, so there was nothing to find."
        if not results:
            return "No result reached the sink: no two motes had the same value within the window."
        return f"{number(results)} join results reached the sink."
    appeared = (
        f"The {what} reached the first of {number(run.motes)} motes (sensors) at"
        f" {number(tracking['appeared_s'])} s"
    )
    delay_s = run.metrics["detection_delay_s"]
    if delay_s is None:
        return f"{appeared}, and was never found: no result reached the sink after that."
    return (
        f"Found: {appeared[0].lower()}{appeared[1:]}, and the sink (base station) knew"
        f" {number(delay_s)} s later."
    )


def _tracked(run: RunView) -> str:
    parts = []
    if run.metrics["coverage"] is not None:
        covered = quantity("coverage", run.metrics["coverage"])
        parts.append(f"the sink's answer matched the motes truly inside by {covered} (coverage)")
    recall = run.metrics.get("recall")
    if recall is not None:
        share = quantity("recall", recall)
        parts.append(f"{share} of the matching pairs of readings reached the sink (recall)")
    return f"Tracked: {', and '.join(parts)}." if parts else ""


def _cost(run: RunView, baseline: Baseline | None) -> str:
    known = [name for name in COSTS if run.metrics.get(name) is not None]
    if not known:
        return ""
    strategy = run.manifest.scenario["join"]["strategy"]
    texts = [_cost_text(name, run.metrics[name]) for name in known]
    if baseline is None:
        return (
            f"Cost with “{strategy}”: {'; '.join(texts)}. No baseline was given to compare it with."
        )
    against = [
        f"{text}{baseline.against(name, run.metrics[name], named=not n)}"
        for n, (name, text) in enumerate(zip(known, texts, strict=True))
    ]
    does = (
        f" Here {run.manifest.strategy}; with “{baseline.name}” {baseline.does}."
        if run.manifest.strategy and baseline.does
        else ""
    )
    return f"Cost with “{strategy}”: {'; '.join(against)}.{does}"


def _cost_text(name: str, value: float) -> str:
    shown = quantity(name, value)
    return f"{shown} on air" if name == "bytes_per_s" else f"{shown} by the busiest radio"


def _recording(run: RunView) -> str:
    """Whether a recording ended before the run."""
    if run.manifest.scenario.get("phenomenon", {}).get("kind") != "replay":
        return ""
    if not run.trace.has("readings"):
        return ""
    last_us = max(
        (int(batch.column(0).to_numpy().max()) for batch in run.trace.batches("readings", "at_us")),
        default=0,
    )
    if last_us >= _ENDS_EARLY_SHARE * run.manifest.simulated_s * US_PER_S:
        return ""
    return (
        f"The recording ends at {number(last_us / US_PER_S)} s of"
        f" {number(run.manifest.simulated_s)} s: nothing is sensed after that."
    )


def _is_gas(run: RunView) -> bool:
    return bool(run.manifest.scenario.get("phenomenon", {}).get("kind") == "gas-cloud")


def _at(scenario: Mapping[str, Any], keys: tuple[str, ...]) -> Any:  # noqa: ANN401 (any scenario value)
    here: Any = scenario
    for key in keys:
        here = here.get(key, {})
    return here
