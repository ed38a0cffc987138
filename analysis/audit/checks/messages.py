"""Messages: the log and the sums agree, every transmission has one outcome, and nothing arrives before it is sent."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from analysis.audit.arrays import repeated, row_keys, shared_keys
from analysis.audit.registry import Violation, check
from analysis.audit.run_trace import NULL, US_PER_S, Column, Flags, Ints, RunTrace

_AIRTIME_US: Final = {"first-order": 8.0, "mica2": 8e6 / 19_200, "micaz": 32.0, "telosb": 32.0}
"""Microseconds a byte is on air, by profile: 1 Mbit/s (Heinzelman et al.), 19.2 kbit/s (CC1000), 250 kbit/s (CC2420)."""


_SENDS_ONCE: Final = {"ideal", "tdma", "csma"}
"""MACs under which a receiver gets the bytes that were sent; others may repeat a frame until its receiver wakes up."""


@check("traffic of messages", "traffic", "messages")
def sums_differ(trace: RunTrace) -> Iterator[Violation]:
    """`traffic` is the sum of `messages`: by second, node and kind for the sender; by second and kind for receivers."""
    kinds = trace.words("messages", "kind")
    cells = trace.words("traffic", "kind")
    everything = {
        word: code for code, word in enumerate(dict.fromkeys([*kinds.words, *cells.words]))
    }
    sent_kinds = np.array([everything[word] for word in kinds.words] or [0])[kinds.codes]
    cell_kinds = np.array([everything[word] for word in cells.words] or [0])[cells.codes]
    column = {name: trace.column("messages", name) for name in ("bytes", "addressed", "received")}
    in_flight = trace.words("messages", "outcome").among("in flight")
    seconds = trace.column("messages", "at_us") // US_PER_S
    ours: tuple[Ints, ...] = (
        trace.column("traffic", "at_s"),
        trace.column("traffic", "node"),
        cell_kinds,
    )
    theirs: tuple[Ints, ...] = (seconds, trace.column("messages", "source"), sent_kinds)
    lost = np.where(in_flight, 0, column["addressed"] - column["received"])
    sums = {
        "sent": np.ones(len(seconds), np.int64),
        "sent_bytes": column["bytes"],
        "lost": lost,
        "addressed": column["addressed"],
    }
    yield from _compared(trace, "second, node and kind", ours, theirs, sums)
    arrived_us = trace.column("messages", "arrived_us")
    arrived = (column["received"] > 0) & (arrived_us != NULL)
    theirs = (arrived_us[arrived] // US_PER_S, sent_kinds[arrived])
    received = column["received"][arrived]
    sums = {"received": received}
    if trace.scenario["radio"]["mac"] in _SENDS_ONCE:
        sums["received_bytes"] = received * column["bytes"][arrived]
    yield from _compared(trace, "second and kind", (ours[0], ours[2]), theirs, sums)


def _compared(
    trace: RunTrace,
    by: str,
    ours: tuple[Ints, ...],
    theirs: tuple[Ints, ...],
    sums: dict[str, Ints],
) -> Iterator[Violation]:
    our_keys, their_keys = shared_keys(ours, theirs)
    _, codes = np.unique(np.concatenate([our_keys, their_keys]), return_inverse=True)
    codes = codes.reshape(-1)
    size = int(codes.max(initial=-1)) + 1
    our_codes, their_codes = codes[: len(our_keys)], codes[len(our_keys) :]
    for name, amounts in sums.items():
        said = np.bincount(our_codes, trace.column("traffic", name), minlength=size)
        found = np.bincount(their_codes, amounts, minlength=size)
        wrong = said != found
        if wrong.any():
            first = int(np.argmax(wrong))
            text = f"traffic.{name} by {by} is {said[first]:.0f}, messages have {found[first]:.0f}"
            rows = np.flatnonzero(our_codes == first)
            if len(rows):
                text += f": {trace.example('traffic', rows)}"
            yield Violation(text, int(wrong.sum()))


@check("traffic cells", "traffic")
def cells_repeated(trace: RunTrace) -> Iterator[Violation]:
    """One row per second, node and kind; copies that should arrive are received, lost or in flight."""
    columns = (trace.column("traffic", "at_s"), trace.column("traffic", "node"))
    kinds = trace.words("traffic", "kind")
    again = repeated(row_keys(*columns, kinds.codes))
    if again.any():
        yield Violation(f"counted twice: {trace.example('traffic', again)}", int(again.sum()))
    amounts = {name: trace.column("traffic", name) for name in ("addressed", "received", "lost")}
    for code, kind in enumerate(kinds.words):
        mine = kinds.codes == code
        left = amounts["addressed"][mine].sum()
        left -= amounts["received"][mine].sum() + amounts["lost"][mine].sum()
        if left < 0:
            yield Violation(f"{kind}: more copies received and lost than addressed", int(-left))


@check("outcomes", "messages")
def outcomes_wrong(trace: RunTrace) -> Iterator[Violation]:
    """A transmission has a source, receivers and bytes, and its outcome says how many received it."""
    addressed, received = (trace.column("messages", name) for name in ("addressed", "received"))
    target = trace.column("messages", "target")
    outcome = trace.words("messages", "outcome")
    arrived_us = trace.column("messages", "arrived_us")
    is_unicast = target != NULL
    nobody_missed = outcome.among("delivered", "duplicate")
    some_missed = outcome.among("partial", "lost", "collided", "dead") | (
        outcome.among("in flight") & (addressed > 0)
    )
    known = nobody_missed | some_missed | outcome.among("in flight")
    rules: dict[str, Flags] = {
        "more received it than should": (received > addressed) | (received < 0),
        "it was sent to itself": target == trace.column("messages", "source"),
        "it has no bytes": trace.column("messages", "bytes") <= 0,
        "delivered, but not to all": nobody_missed & (received != addressed),
        "not delivered, but to all": some_missed & (received >= addressed),
        "a unicast has one receiver": is_unicast & known & (addressed != 1),
        "received, but never arrived": is_unicast & (received > 0) & (arrived_us == NULL),
        "arrived, but not received": is_unicast & (received == 0) & (arrived_us != NULL),
    }
    yield from _broken(trace, rules)


@check("causality of messages", "messages")
def arrives_too_early(trace: RunTrace) -> Iterator[Violation]:
    """A message is sent and arrives during the run, and is on air for as long as its bytes take."""
    at_us, arrived_us = (trace.column("messages", name) for name in ("at_us", "arrived_us"))
    arrived = arrived_us != NULL
    sends_once = trace.scenario["radio"]["mac"] in _SENDS_ONCE
    profile = trace.scenario["motes"]["profile"]
    byte_us = _AIRTIME_US.get(profile, 0.0) if sends_once else 0.0
    airtime_us = np.floor(trace.column("messages", "bytes") * byte_us)
    yield from _broken(
        trace,
        {
            "sent before the start": at_us < 0,
            "sent after the end": at_us >= trace.end_us,
            "arrives after the end": arrived & (arrived_us >= trace.end_us),
            "arrives before its airtime is over": arrived & (arrived_us < at_us + airtime_us),
        },
    )


def _broken(trace: RunTrace, rules: dict[str, Flags] | dict[str, Column]) -> Iterator[Violation]:
    for text, wrong in rules.items():
        if wrong.any():
            yield Violation(f"{text}: {trace.example('messages', wrong)}", int(wrong.sum()))
