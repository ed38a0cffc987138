"""A metric in one file: what a match costs, in bytes that probe requests put on air."""

from analysis.metrics.inputs import MATCHED
from analysis.metrics.metric import Metric, Sum, ratio
from analysis.metrics.registry import register

PROBE_BYTES = Sum(
    "probes.bytes",
    ("probes",),
    "bytes that probe requests put on air until they reached the sink",
    column="bytes",
)

register(
    Metric(
        "bytes_per_match",
        "probing per match",
        "bytes",
        needs=(PROBE_BYTES, MATCHED),
        value=ratio,
        what="Bytes of probe requests per head that had a match.",
        null="no probed head had a match",
        main=True,
    )
)
