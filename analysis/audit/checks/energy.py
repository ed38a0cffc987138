"""Energy: every joule has a cause, causes only grow, and exactly the motes without energy are dead."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from analysis.audit.arrays import repeated, row_keys
from analysis.audit.registry import Violation, check
from analysis.audit.run_trace import US_PER_S, Column, RunTrace

CAUSES: Final = ("tx_j", "rx_j", "idle_j", "cpu_j", "sense_j", "overhear_j", "sleep_j")
_FIRST_ORDER_RX_J: Final = 8 * 50e-9
"""Joules per byte received: 50 nJ a bit (Heinzelman, Chandrakasan & Balakrishnan, HICSS 2000)."""


def spent_j(trace: RunTrace) -> Column:
    """What each row of `energy` has in all."""
    total_j: Column = np.sum([trace.column("energy", cause) for cause in CAUSES], axis=0)
    return total_j


def batteries_j(trace: RunTrace) -> Column:
    """The full battery of each mote."""
    battery_j = np.full(trace.motes, np.nan)
    nodes = trace.column("motes", "node")
    of_mote = (nodes >= 0) & (nodes < trace.motes)
    battery_j[nodes[of_mote]] = trace.column("motes", "battery_j")[of_mote]
    return battery_j


def last_samples(trace: RunTrace) -> Column:
    """The rows of `energy` at the end of the run, by mote; -1 if there is none."""
    rows = np.full(trace.motes, -1, np.int64)
    at_us, nodes = trace.column("energy", "at_us"), trace.column("energy", "node")
    final = np.flatnonzero((at_us == trace.end_us) & (nodes >= 0) & (nodes < trace.motes))
    rows[nodes[final]] = final
    return rows


@check("energy balance", "energy", "motes")
def books_do_not_balance(trace: RunTrace) -> Iterator[Violation]:
    """What is missing from a battery is what its mote has spent; nothing is below zero."""
    residual_j = trace.column("energy", "residual_j")
    nodes = np.clip(trace.column("energy", "node"), 0, trace.motes - 1)
    battery_j = batteries_j(trace)[nodes]
    off_j = np.abs(battery_j - residual_j - spent_j(trace))
    wrong = ~(off_j <= 1e-6 * np.maximum(1.0, battery_j / 1e5))
    if wrong.any():
        text = f"battery - residual is not what was spent: {trace.example('energy', wrong)}"
        yield Violation(text, int(wrong.sum()))
    below = residual_j < 0
    for cause in (*CAUSES, "control_j"):
        below |= trace.column("energy", cause) < 0
    if below.any():
        yield Violation(f"energy below zero: {trace.example('energy', below)}", int(below.sum()))
    radio_j = trace.column("energy", "tx_j") + trace.column("energy", "rx_j")
    above = trace.column("energy", "control_j") > radio_j + 1e-9
    if above.any():
        text = f"elections cost more than all messages: {trace.example('energy', above)}"
        yield Violation(text, int(above.sum()))


@check("energy cumulative", "energy")
def energy_shrinks(trace: RunTrace) -> Iterator[Violation]:
    """What was spent on a cause never becomes less."""
    nodes = trace.column("energy", "node")
    order = np.lexsort((trace.column("energy", "at_us"), nodes))
    follows = nodes[order[1:]] == nodes[order[:-1]]
    for cause in (*CAUSES, "control_j"):
        joules = trace.column("energy", cause)[order]
        shrinks = follows & (joules[1:] < joules[:-1])
        if shrinks.any():
            example = trace.example("energy", order[1:][shrinks])
            yield Violation(f"{cause} becomes less: {example}", int(shrinks.sum()))


@check("energy samples", "energy")
def samples_missing(trace: RunTrace) -> Iterator[Violation]:
    """At 0, every `energy_every_s` and at the end there is one row of every mote."""
    at_us, nodes = trace.column("energy", "at_us"), trace.column("energy", "node")
    again = repeated(row_keys(at_us, nodes))
    if again.any():
        yield Violation(f"sampled twice: {trace.example('energy', again)}", int(again.sum()))
    every_us = round(trace.scenario["trace"]["energy_every_s"] * US_PER_S)
    due_us = {*range(0, trace.end_us, every_us), trace.end_us}
    times_us, samples = np.unique(at_us[~again], return_counts=True)
    if {*times_us.tolist()} != due_us:
        off_us = sorted({*times_us.tolist()} ^ due_us)
        yield Violation(f"samples are missing or not due at {off_us[0]} us", len(off_us))
    for time_us, found in zip(times_us.tolist(), samples.tolist(), strict=True):
        if found != trace.motes:
            yield Violation(f"at {time_us} us, {found} of {trace.motes} motes have a row")


@check("energy of receptions", "energy", "traffic", "deaths")
def receptions_not_paid(trace: RunTrace) -> Iterator[Violation]:
    """Where nothing is overheard or repeated, first-order radios pay for the bytes that they receive and no others."""
    scenario = trace.scenario
    simple = scenario["motes"]["profile"] == "first-order"
    if not simple or scenario["radio"]["mac"] not in {"ideal", "tdma"}:
        return
    nodes = trace.column("traffic", "node")
    of_mote = nodes >= 0
    weights = trace.column("traffic", "received_bytes")[of_mote]
    received = np.bincount(nodes[of_mote], weights, minlength=trace.motes)[: trace.motes]
    rows = last_samples(trace)
    alive = rows >= 0
    alive[trace.column("deaths", "node")] = False
    paid_j = trace.column("energy", "rx_j")[rows]
    wrong = alive & (np.abs(paid_j - _FIRST_ORDER_RX_J * received) > 1e-9)
    if wrong.any():
        node = int(np.argmax(wrong))
        text = f"mote {node} paid {paid_j[node]} J to receive {received[node]:.0f} bytes"
        yield Violation(text, int(wrong.sum()))


@check("deaths", "energy", "deaths")
def deaths_wrong(trace: RunTrace) -> Iterator[Violation]:
    """Exactly the motes without energy at the end are dead, each once."""
    nodes = trace.column("deaths", "node")
    again = repeated(nodes)
    if again.any():
        yield Violation(f"dies twice: {trace.example('deaths', again)}", int(again.sum()))
    rows = last_samples(trace)
    is_empty = (rows >= 0) & (trace.column("energy", "residual_j")[rows] == 0)
    is_dead = np.zeros(trace.motes, np.bool_)
    is_dead[nodes] = True
    for node in np.flatnonzero(is_empty & ~is_dead)[:5].tolist():
        yield Violation(f"mote {node} has no energy left and no row in deaths")
    for node in np.flatnonzero(is_dead & ~is_empty)[:5].tolist():
        yield Violation(f"mote {node} is dead and has energy left")
