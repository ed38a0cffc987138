"""Rows of most trace tables, a function each: takes columns by name, returns the tuple for the recorder.

A row is an exact tuple of plain values. The garbage collector stops tracking such tuples, but never a NamedTuple or a
tuple that holds an enumeration's member. Members are therefore converted to text, by `_value_`, which takes 45 ns in
Python 3.11 where `value` takes 174.

A call with names costs about 150 ns more than a tuple in place. Three tables have too many rows even for tuples and come as columns:
`readings`, a row per sample, from `scenarios/simulation/sensing.py`; `messages`, a row per hop, from
`network/transmission_log.py`; and `traffic`, from `network/traffic.py`.
"""

from collections.abc import Hashable, Sequence
from typing import Any

from sim.trace.tables import AnswerLevel, Change, DropReason, Event, Fate, RequestEnd

Row = tuple[Any, ...]


def mote_row(*, node: int, x_m: float, y_m: float, battery_j: float | None) -> Row:
    """A row of `motes`; the sink has no battery."""
    return (node, x_m, y_m, battery_j)


def truth_row(*, at_us: int, source: str, nodes: Sequence[int]) -> Row:
    """A row of `truth`."""
    return (at_us, source, nodes)


def fate_row(
    *,
    at_us: int,
    node: int,
    origin_at_us: int,
    fate: Fate,
    reason: DropReason | None = None,
    head: int | None = None,
) -> Row:
    """A row of `fates`."""
    return (at_us, node, origin_at_us, fate._value_, reason and reason._value_, head)


def probe_row(
    *,
    at_us: int,
    origin_head: int,
    value: Hashable,
    heads_probed: int,
    heads_matched: int,
    hops: int,
    bytes: int,
    origin: Hashable,
    origin_at_us: int,
) -> Row:
    """A row of `probes`."""
    return (
        at_us,
        origin_head,
        value,
        heads_probed,
        heads_matched,
        hops,
        bytes,
        origin,
        origin_at_us,
    )


def request_row(
    *,
    at_us: int,
    origin_head: int,
    origin: Hashable,
    origin_at_us: int,
    stamp_us: int,
    known: int,
    heads: Sequence[int],
    passed_over: Sequence[int],
    parts: int,
    outcome: RequestEnd,
    reason: DropReason | None = None,
    node: int | None = None,
) -> Row:
    """A row of `requests`."""
    return (
        at_us,
        origin_head,
        origin,
        origin_at_us,
        stamp_us,
        known,
        heads,
        passed_over,
        parts,
        outcome._value_,
        reason and reason._value_,
        node,
    )


def result_row(
    *,
    at_us: int,
    query: str,
    change: Change,
    value: Hashable | None = None,
    origin: Hashable | None = None,
    origin_at_us: int | None = None,
    arity: int | None = None,
    partners: Sequence[tuple[Hashable, int]] | None = None,
    delay_us: int | None = None,
    answer: int | None = None,
    partial: bool = False,
    amends: bool = False,
    selected: str | None = None,
    joined: Sequence[tuple[Hashable, int]] | None = None,
    region: int | None = None,
    level: AnswerLevel | None = None,
) -> Row:
    """A row of `results`: a reading's result, sensors that came or left, or a change of a query's answer."""
    return (
        at_us,
        query,
        change._value_,
        value,
        origin,
        origin_at_us,
        arity,
        partners,
        delay_us,
        answer,
        partial,
        amends,
        selected,
        joined,
        region,
        level and level._value_,
    )


def election_row(
    *,
    at_us: int,
    round: int,
    node: int,
    head: int,
    tentative_rounds: int,
    via: int,
    up: int | None = None,
) -> Row:
    """A row of `elections`."""
    return (at_us, round, node, head, tentative_rounds, via, up)


def energy_row(
    *,
    at_us: int,
    node: int,
    residual_j: float,
    tx_j: float,
    rx_j: float,
    idle_j: float,
    cpu_j: float,
    sense_j: float,
    control_j: float,
    overhear_j: float,
    sleep_j: float,
) -> Row:
    """A row of `energy`: joules since the start of the run."""
    return (
        at_us,
        node,
        residual_j,
        tx_j,
        rx_j,
        idle_j,
        cpu_j,
        sense_j,
        control_j,
        overhear_j,
        sleep_j,
    )


def drop_row(
    *,
    at_us: int,
    node: int,
    reason: DropReason,
    kind: str,
    origin: Hashable | None = None,
    origin_at_us: int | None = None,
) -> Row:
    """A row of `drops`: of a message, or of a held reading (`kinds.STATE`)."""
    return (at_us, node, reason._value_, kind, origin, origin_at_us)


def death_row(*, at_us: int, node: int) -> Row:
    """A row of `deaths`."""
    return (at_us, node)


def fault_row(*, at_us: int, node: int, event: Event) -> Row:
    """A row of `faults`."""
    return (at_us, node, event._value_)
