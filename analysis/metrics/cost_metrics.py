"""Metrics of what a run cost: traffic on air, energy, lifetime."""

from collections.abc import Mapping
from typing import Any, Final

from analysis.metrics.inputs import (
    CAUSES_J,
    CONTROL_J,
    CONTROL_SENT,
    CONTROL_SENT_BYTES,
    DEAD,
    DRAWN_J,
    DRAWN_MAX_J,
    FIRST_DEAD_US,
    HALF_DEAD_US,
    HEADS,
    LAST_DEAD_US,
    LOST,
    MOTES,
    RADIO_MAX_J,
    ROUNDS,
    SENT,
    SENT_BYTES,
    SIMULATED_S,
)
from analysis.metrics.metric import Metric, difference, ratio, seconds


def _per_mean_cluster(joules: float, heads: int, rounds: int) -> float | None:
    """{0} / ({1} / {2})."""
    return joules / (heads / rounds) if heads and rounds else None


def _end_of_run(row: Mapping[str, Any]) -> float | None:
    """The run's end, if it is known that motes did not die before."""
    return None if row.get("dead") is None else row.get("simulated_s")


def _difference_per(all_of: int, part: int, simulated_s: float) -> float:
    """({0} − {1}) / {2}."""
    return (all_of - part) / simulated_s


def _energy_of(cause: str, label: str, what: str) -> Metric:
    return Metric(f"{cause}_j", label, "J", (CAUSES_J[cause],), what=what)


COST_METRICS: Final = (
    Metric(
        "messages",
        "messages",
        "messages",
        (SENT,),
        what="Transmissions on air; a message over three hops counts three times.",
        whole=True,
    ),
    Metric(
        "messages_per_s",
        "messages/s on air",
        "messages/s",
        (SENT, SIMULATED_S),
        ratio,
        what="Transmissions per simulated second.",
    ),
    Metric(
        "bytes",
        "bytes on air",
        "bytes",
        (SENT_BYTES,),
        what="Communication cost: all that was sent, each hop counted.",
        whole=True,
    ),
    Metric(
        "bytes_per_s",
        "bytes/s on air",
        "bytes/s",
        (SENT_BYTES, SIMULATED_S),
        ratio,
        what="Communication cost per simulated second.",
        main=True,
    ),
    Metric(
        "control_messages",
        "election messages",
        "messages",
        (CONTROL_SENT,),
        what="The transmissions among `messages` that keep the clustering going.",
        whole=True,
    ),
    Metric(
        "control_bytes",
        "election bytes",
        "bytes",
        (CONTROL_SENT_BYTES,),
        what="Control overhead: the part of `bytes` that keeps the clustering going.",
        whole=True,
        main=True,
    ),
    Metric(
        "data_bytes",
        "data bytes",
        "bytes",
        (SENT_BYTES, CONTROL_SENT_BYTES),
        difference,
        what="All bytes on air that do not keep the clustering going: readings, reports, refreshes, requests, notes,"
        " acknowledgements and repetitions, each hop counted.",
        whole=True,
    ),
    Metric(
        "data_bytes_per_s",
        "data bytes/s",
        "bytes/s",
        (SENT_BYTES, CONTROL_SENT_BYTES, SIMULATED_S),
        _difference_per,
        what="Data bytes per simulated second.",
        main=True,
    ),
    Metric(
        "copies_lost",
        "copies lost",
        "copies",
        (LOST,),
        what="Copies lost on air or at dead motes; a broadcast has one copy per live listener.",
        whole=True,
    ),
    Metric(
        "energy_j",
        "energy",
        "J",
        (DRAWN_J,),
        what="Energy that all motes drew; the causes below add up to it.",
        main=True,
    ),
    _energy_of("tx", "energy to send", "Energy of transmissions."),
    _energy_of("rx", "energy to receive", "Energy of receptions addressed to the mote."),
    _energy_of("idle", "energy while idle", "Energy of listening to an idle channel."),
    _energy_of("cpu", "energy to compute", "Energy of the processor."),
    _energy_of("sense", "energy to sense", "Energy of the sensors."),
    _energy_of("overhear", "energy to overhear", "Energy of receptions meant for others."),
    _energy_of("sleep", "energy asleep", "Energy of a radio that sleeps."),
    Metric(
        "control_j",
        "energy of elections",
        "J",
        (CONTROL_J,),
        what="The part of `tx_j` + `rx_j` that keeps the clustering going.",
    ),
    Metric(
        "energy_per_mote_j",
        "energy per mote",
        "J",
        (DRAWN_J, MOTES),
        ratio,
        what="Mean energy of a mote.",
    ),
    Metric(
        "energy_per_cluster_j",
        "energy per cluster",
        "J",
        (DRAWN_J, HEADS, ROUNDS),
        _per_mean_cluster,
        what="Energy by the mean number of clusters: motes change clusters between samples of batteries.",
        null="there were no clusters",
    ),
    Metric(
        "energy_max_j",
        "most energy of a mote",
        "J",
        (DRAWN_MAX_J,),
        what="Energy of the hottest mote.",
        null="no battery was sampled",
    ),
    Metric(
        "hottest_radio_j",
        "energy of the busiest radio",
        "J",
        (RADIO_MAX_J,),
        what="Energy to send and receive of the mote that spent most on both.",
        null="no battery was sampled",
    ),
    Metric("dead", "motes dead", "motes", (DEAD,), what="Motes whose battery ran out.", whole=True),
    Metric(
        "first_dead_s",
        "first mote dead",
        "s",
        (FIRST_DEAD_US,),
        seconds,
        what="Lifetime until the first death.",
        null="no mote died",
        least=_end_of_run,
        main=True,
    ),
    Metric(
        "half_dead_s",
        "half of the motes dead",
        "s",
        (HALF_DEAD_US,),
        seconds,
        what="Lifetime until half of the motes, rounded up, had died.",
        null="fewer died",
        least=_end_of_run,
    ),
    Metric(
        "last_dead_s",
        "last mote dead",
        "s",
        (LAST_DEAD_US,),
        seconds,
        what="Lifetime until all motes had died.",
        null="some lived on",
        least=_end_of_run,
    ),
)
"""In the order of their columns."""
