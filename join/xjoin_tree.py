"""Left-deep tree of XJoins, complete and variable-arity (SNJoin §7, after Urhan & Franklin 2000).

An XJoin is a symmetric hash join whose tables may spill to disk. The tree is that of `join.shj_tree`; the
three stages, and the timestamps against duplicates, are those of `join.spilling_join`. Memory is freed by
flushing the largest part of any stream and partition, wherever its partners are: that is what sets XJoin
apart from the coordinated flushing of MJoin and SNJoin.
"""

from collections.abc import Iterable
from pathlib import Path

from join.contract import Arity, Operator, Stream
from join.shj_tree import TreeTable
from join.spilling_join import PARTITIONS, Flushing, SpillingJoin
from join.table import TableWindows
from join.table_join import TableJoin
from join.watermark import FUTURE_US_MAX


def xjoin_tree(
    *,
    windows: TableWindows,
    arity: Arity,
    streams: Iterable[Stream] = (),
    late_us: int = 0,
    future_us: int = FUTURE_US_MAX,
    memory: int | None = None,
    spill_dir: Path | None = None,
    partitions: int = PARTITIONS,
    early: bool = True,
) -> Operator:
    """A tree of XJoins; with `memory`, at most so many tuples in memory and the rest in `spill_dir`."""
    if memory is None:
        return TableJoin(
            TreeTable,
            windows=windows,
            arity=arity,
            streams=streams,
            late_us=late_us,
            future_us=future_us,
        )
    return SpillingJoin(
        TreeTable,
        flushing=Flushing.LARGEST,
        windows=windows,
        arity=arity,
        streams=streams,
        late_us=late_us,
        future_us=future_us,
        memory=memory,
        spill_dir=spill_dir,
        partitions=partitions,
        early=early,
    )
