"""What metrics are called when people read them, with their units."""

from typing import Final

LABELS: Final = {
    "strategy": "strategy",
    "protocol": "clustering",
    "motes": "motes",
    "seed": "seed",
    "bytes_per_s": "bytes/s on air",
    "messages_per_s": "messages/s on air",
    "control_bytes": "election bytes",
    "control_messages": "election messages",
    "messages": "messages",
    "bytes": "bytes on air",
    "copies_lost": "copies lost",
    "energy_j": "energy (J)",
    "tx_j": "energy to send (J)",
    "rx_j": "energy to receive (J)",
    "idle_j": "energy while idle (J)",
    "cpu_j": "energy to compute (J)",
    "sense_j": "energy to sense (J)",
    "overhear_j": "energy to overhear (J)",
    "sleep_j": "energy asleep (J)",
    "control_j": "energy of elections (J)",
    "energy_per_mote_j": "energy per mote (J)",
    "energy_per_cluster_j": "energy per cluster (J)",
    "energy_max_j": "most energy of a mote (J)",
    "first_dead_s": "first mote dead (s)",
    "half_dead_s": "half of the motes dead (s)",
    "last_dead_s": "last mote dead (s)",
    "dead": "motes dead",
    "output_rate": "results/s",
    "tuple_width": "tuple width",
    "delay_ms": "delay (ms)",
    "delay_max_ms": "longest delay (ms)",
    "drop_rate": "drop rate",
    "probes_per_reading": "probes per reading",
    "probe_usefulness": "probe usefulness",
    "partners_per_reading": "partners per reading",
    "unfinished_rate": "requests not finished",
    "recall": "recall",
    "detection_delay_s": "detection delay (s)",
    "coverage": "coverage",
    "false_alarms": "motes wrongly in the answer",
    "misses": "motes missing in the answer",
    "clusters": "clusters",
    "cluster_size": "motes per cluster",
}

MAIN: Final = (
    "bytes_per_s",
    "control_bytes",
    "energy_j",
    "first_dead_s",
    "output_rate",
    "tuple_width",
    "delay_ms",
    "drop_rate",
    "probes_per_reading",
    "probe_usefulness",
    "recall",
    "coverage",
    "clusters",
)
"""The metrics shown unless others are asked for."""


def label(metric: str) -> str:
    """What a metric is called."""
    return LABELS.get(metric, metric.replace("_", " "))
