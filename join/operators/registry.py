"""All join operators by name, and what each supports."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from join.contract import Arity, Operator, Stream
from join.operators.counted.tables import (
    CountedMJoinTable,
    CountedRippleTable,
    CountedSNJoinTable,
)
from join.operators.counted.tree import CountedTreeTable
from join.operators.mjoin import mjoin
from join.operators.ripple import ripple_join
from join.operators.shj_tree import shj_tree
from join.operators.snjoin import snjoin
from join.operators.spill import Flushing
from join.operators.spilling_join import table_join
from join.operators.table_join import TableJoin
from join.operators.wjoin.base import Predicate, WJoin
from join.operators.wjoin.bew import BEWHashJoin, BEWJoin
from join.operators.wjoin.few import FEWHashJoin, FEWJoin
from join.operators.wjoin.hw import HWJoin
from join.operators.wjoin.mw import MWJoin
from join.operators.wjoin.nlw import NLWJoin
from join.operators.wjoin.two_modes import TwoModes, TwoModesHash
from join.operators.xjoin_tree import xjoin_tree
from join.state.watermark import FUTURE_US_MAX
from join.windows import LastTuples, Pairs, Strategy, Windows


@dataclass(frozen=True, slots=True)
class OperatorKind:
    """An operator and what it supports."""

    make: Callable[..., Operator]
    summary: str
    spills: bool = False
    """Whether it accepts a memory limit."""
    counted: Callable[..., Operator] | None = None
    """The same operator with counters of the published one; None: it counts anyway."""
    two_modes: Callable[..., Operator] | None = None
    """The same operator, waiting for tuples as published; None: as published it does not wait."""

    @property
    def is_w_join(self) -> bool:
        """Whether it supports windows between pairs, strategies and, unless it hashes, predicates."""
        return isinstance(self.make, type) and issubclass(self.make, WJoin)


OPERATORS: dict[str, OperatorKind] = {
    "snjoin": OperatorKind(
        snjoin,
        "one hash table for all streams",
        spills=True,
        counted=partial(table_join, CountedSNJoinTable, Flushing.PARTITION),
    ),
    "mjoin": OperatorKind(
        mjoin,
        "a hash table per stream, probed in learned order",
        spills=True,
        counted=partial(table_join, CountedMJoinTable, Flushing.COORDINATED),
    ),
    "xjoin-tree": OperatorKind(
        xjoin_tree,
        "left-deep tree of XJoins",
        spills=True,
        counted=partial(table_join, CountedTreeTable, Flushing.LARGEST),
    ),
    "shj-tree": OperatorKind(
        shj_tree,
        "left-deep tree of symmetric hash joins",
        counted=partial(TableJoin, CountedTreeTable),
    ),
    "ripple": OperatorKind(
        ripple_join, "windowed ripple join: scans", counted=partial(TableJoin, CountedRippleTable)
    ),
    "nlw": OperatorKind(NLWJoin, "W-join pipeline, nested loops"),
    "hw": OperatorKind(HWJoin, "W-join pipeline, hashing"),
    "mw": OperatorKind(MWJoin, "W-join by merging in order of time", two_modes=TwoModes),
    "bew": OperatorKind(BEWJoin, "W-join, backward evaluation, nested loops"),
    "bew-hash": OperatorKind(BEWHashJoin, "W-join, backward evaluation, hashing"),
    "few": OperatorKind(FEWJoin, "W-join, forward evaluation, nested loops", two_modes=TwoModes),
    "few-hash": OperatorKind(
        FEWHashJoin, "W-join, forward evaluation, hashing", two_modes=TwoModesHash
    ),
}


class UnsupportedError(ValueError):
    """The operator does not support the requested options; the message lists all of them."""


def make_operator(
    name: str,
    *,
    windows: Windows,
    arity: Arity,
    streams: Iterable[Stream] = (),
    late_us: int = 0,
    future_us: int = FUTURE_US_MAX,
    memory: int | None = None,
    spill_dir: Path | None = None,
    early: bool = True,
    strategy: Strategy | None = None,
    predicate: Predicate | None = None,
    clean_every: int | None = None,
    two_modes: bool = False,
    counted: bool = False,
) -> Operator:
    """The operator called `name`.

    Args:
        name: A key of `OPERATORS`.
        windows: Which tuples are close enough.
        arity: Which streams a result must contain.
        streams: The streams of a complete join.
        late_us: How late a tuple may come.
        future_us: How far ahead of all others a tuple may be.
        memory: Tuples in memory before the rest spills.
        spill_dir: Where it spills to.
        early: Whether the results of a tuple may come in parts when it has partners on disk.
        strategy: How a W-join searches windows that differ.
        predicate: What a W-join joins on; None: equality.
        clean_every: Drop expired tuples once in so many, as W-join §4.3 does with ripple join and XJoin.
        two_modes: Wait for tuples as MW and FEW do as published.
        counted: Count the work of the published operator, at some cost in speed.

    Raises:
        UnsupportedError: The operator does not support the requested options.
        PredicateError: A predicate was given to an operator that hashes.
        WindowError: The windows do not fit the streams.
    """
    kind = OPERATORS[name]
    faults = unsupported(
        name,
        windows=windows,
        arity=arity,
        memory=memory,
        strategy=strategy,
        predicate=predicate,
        clean_every=clean_every,
        two_modes=two_modes,
    )
    if faults:
        raise UnsupportedError("\n".join(faults))
    if kind.is_w_join:
        make = kind.two_modes if two_modes else kind.make
        assert make is not None, name
        return make(
            windows=windows,
            streams=streams,
            late_us=late_us,
            future_us=future_us,
            strategy=strategy or Strategy.PAIRWISE,
            predicate=predicate,
        )
    limits = {} if memory is None else {"memory": memory, "spill_dir": spill_dir, "early": early}
    make = kind.counted if counted else kind.make
    assert make is not None, name
    return make(
        windows=windows,
        arity=arity,
        streams=streams,
        late_us=late_us,
        future_us=future_us,
        clean_every=clean_every,
        **limits,
    )


def unsupported(
    name: str,
    *,
    windows: Windows | None,
    arity: Arity,
    memory: int | None,
    strategy: Strategy | None,
    predicate: Predicate | None,
    clean_every: int | None = None,
    two_modes: bool = False,
) -> list[str]:
    """One message per unsupported option; `windows` None: not known yet."""
    kind = OPERATORS[name]
    w_joins = ", ".join(other for other, each in OPERATORS.items() if each.is_w_join)
    tables = ", ".join(other for other, each in OPERATORS.items() if not each.is_w_join)
    faults = []
    if kind.is_w_join:
        if arity is Arity.VARIABLE:
            faults.append(f"{name} forms complete results only; variable arity: {tables}")
        if isinstance(windows, LastTuples):
            faults.append(f"{name} supports time windows only; tuple windows: {tables}")
    else:
        if isinstance(windows, Pairs):
            faults.append(f"{name} has no windows between pairs of streams; use {w_joins}")
        if strategy is not None:
            faults.append(f"{name} has no strategy for different windows; use {w_joins}")
        if predicate is not None:
            faults.append(f"{name} joins equal values only; other predicates: nlw, mw, bew, few")
    if clean_every is not None:
        faults += _unclean(name, windows, memory)
    if two_modes and kind.two_modes is None:
        moded = ", ".join(other for other, each in OPERATORS.items() if each.two_modes)
        faults.append(f"{name} does not alternate between two modes; use {moded}")
    if memory is not None and not kind.spills:
        spilling = ", ".join(other for other, each in OPERATORS.items() if each.spills)
        faults.append(f"{name} keeps all in memory; a memory limit: {spilling}")
    elif memory is not None and isinstance(windows, LastTuples):
        faults.append("tuple windows are kept in memory and bound it themselves: no memory limit")
    return faults


def _unclean(name: str, windows: Windows | None, memory: int | None) -> list[str]:
    """Why expired tuples cannot be left in place for a while."""
    if OPERATORS[name].is_w_join:
        tables = ", ".join(other for other, each in OPERATORS.items() if not each.is_w_join)
        return [f"{name} cleans up as it joins; a periodic clean-up: {tables}"]
    if isinstance(windows, LastTuples):
        return ["tuple windows drop a tuple for each that comes: no periodic clean-up"]
    if memory is not None:
        return ["a memory limit cleans up when memory is full: no periodic clean-up"]
    return []
