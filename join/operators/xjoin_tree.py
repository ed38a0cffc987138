"""Left-deep tree of XJoins, complete and variable-arity (SNJoin §7, after Urhan & Franklin 2000).

An XJoin is a symmetric hash join whose tables may spill to disk. The tree is that of `join.operators.shj_tree`; the
three stages, and the timestamps against duplicates, are those of `join.operators.spilling_join`. Memory is freed by
flushing the largest part of any stream and partition, wherever its partners are; in this XJoin differs from the
coordinated flushing of MJoin and SNJoin.
"""

from functools import partial

from join.operators.shj_tree import TreeTable
from join.operators.spill import Flushing
from join.operators.spilling_join import table_join

xjoin_tree = partial(table_join, TreeTable, Flushing.LARGEST)
"""A tree of XJoins: see `table_join`."""
