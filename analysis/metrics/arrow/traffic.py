"""Traffic of one run by message kind."""

from collections import Counter

import numpy as np

from analysis.trace.reader import TraceTables, codes, numbers


def traffic_by_kind(trace: TraceTables) -> dict[str, dict[str, int]]:
    """`messages` and `bytes` sent by message kind, in the order of kinds; empty if traffic was not recorded."""
    sums: Counter[tuple[str, str]] = Counter()
    kinds: set[str] = set()
    for batch in (
        trace.batches("traffic", "kind", "sent", "sent_bytes") if trace.has("traffic") else ()
    ):
        positions, texts = codes(batch.column("kind"))
        kinds.update(texts[position] for position in np.unique(positions).tolist())
        for name, column in (("messages", "sent"), ("bytes", "sent_bytes")):
            totals = np.zeros(len(texts), np.int64)
            np.add.at(totals, positions, numbers(batch.column(column)))
            sums.update({(kind, name): int(n) for kind, n in zip(texts, totals, strict=True)})
    return {
        kind: {name: sums[kind, name] for name in ("messages", "bytes")} for kind in sorted(kinds)
    }
