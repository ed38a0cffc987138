"""Captions of figures and tables: what is shown, of which scenario and seeds, and how to make it again."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.compare.estimates import Answers, scale_of
from analysis.compare.groups import key_label
from analysis.compare.intervals import Scale, seeds_wanted
from analysis.metrics.registry import label

NOTE = (
    "Means over seeds, with 95 % intervals in square brackets, which stay within the possible: Student's t on the"
    " logit of shares and on the logarithm of other quantities; runs of one seed count once. > is what a time"
    " exceeds that had not come by the run's end. In parentheses, with a baseline: the difference from it,"
    " taken seed by seed."
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the numbers of an answer come from."""

    scenarios: Sequence[str]
    seeds: Sequence[int]
    fingerprint: str
    """One digest over the fingerprints of all runs."""
    command: str
    """The command line that makes the answer again; empty if there was none."""

    @property
    def sentence(self) -> str:
        """The origin in words."""
        seeds = ", ".join(map(str, self.seeds))
        text = (
            f"Scenario {', '.join(self.scenarios)}; seed{'s' if len(self.seeds) > 1 else ''} {seeds};"
            f" fingerprint {self.fingerprint}."
        )
        return f"{text} Made by: {self.command}" if self.command else text


def origin_of(
    rows: Sequence[Mapping[str, Any]], fingerprints: Sequence[str], command: str
) -> Origin:
    """The origin of metrics, a row and a fingerprint per run."""
    digest = hashlib.blake2b("\n".join(sorted(fingerprints)).encode(), digest_size=16).hexdigest()
    return Origin(
        list(dict.fromkeys(str(row["name"]) for row in rows)),
        sorted({row["seed"] for row in rows}),
        digest,
        command,
    )


def figure_captions(
    found: Answers, names: Sequence[str], origin: Origin, baseline: str | None
) -> dict[str, str]:
    """The caption of each figure of an answer, by the figure's name."""
    axes = [axis for axis in found.grouping.axes if axis not in {"point", "run"}]
    by = f" by {' and '.join(map(key_label, axes))}" if axes else ""
    captions = {}
    for name in names:
        metric, _, kind = name.partition("-")
        words = label(metric)[:1].upper() + label(metric)[1:]
        if kind == "difference":
            what = (
                f"{words}{by}: difference in % from {baseline}, seed by seed, with 95 % intervals."
            )
        elif kind == "heat":
            what = f"{words}{by}: means over seeds."
        elif metric in found.metrics:
            what = f"{words}{by}: means over seeds with 95 % intervals."
        else:
            what = f"{_RUN_FIGURES.get(name, words)}."
        captions[name] = f"{what} {origin.sentence}"
    return captions


_RUN_FIGURES = {
    "traffic": "Bytes on air per second of each run, by message kind",
    "energy": "Energy drawn by all motes of each run, by cause",
    "overview": "The main metrics of each run",
}


def seeds_note(found: Answers, shown: Sequence[str]) -> str:
    """A warning if the seeds are too few for what is shown, and about how many would do."""
    numbers = [found.means[group, metric].n for group in found.runs for metric in shown]
    most = max(numbers, default=0)
    if most == 0:
        return ""
    if most == 1:
        return "One seed gives no interval: run at least 5 seeds before citing a mean."
    wanted, group, metric = max(
        (seeds_wanted(found.means[group, metric], scale_of(metric)), group, metric)
        for group in found.runs
        for metric in shown
    )
    if wanted <= most:
        return ""
    about = "more than 1,000" if wanted >= 1000 else f"about {wanted}"
    share = scale_of(metric) is Scale.SHARE
    within = "within 5 points" if share else "within 10 % of its mean"
    return (
        f"{most} seeds are few: {about} would bring every interval here {within}"
        f" (the widest is {label(metric)} of {group})."
    )
