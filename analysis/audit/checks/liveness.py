"""Who works when: the dead and the absent do nothing, and faults follow each other in order."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from analysis.audit.arrays import Spans
from analysis.audit.registry import Violation, check
from analysis.audit.run_trace import Flags, Ints, RunTrace

_NEVER: Final = 1 << 62
_DOWN: Final = {"crash", "removed", "sink down"}
_FOLLOWS: Final = {
    "crash": {"up"},
    "recovery": {"crash"},
    "removed": {"up", "crash"},
    "sink down": {"up"},
    "sink up": {"sink down"},
    "added": {"absent"},
}
"""In which state a node must be for each event."""
_LEADS_TO: Final = {"recovery": "up", "added": "up", "sink up": "up"}


def _histories(trace: RunTrace) -> dict[int, list[tuple[int, str]]]:
    """By node: times and events, in the order of the table."""
    histories: dict[int, list[tuple[int, str]]] = {}
    events = trace.words("faults", "event")
    columns = (trace.column("faults", name).tolist() for name in ("node", "at_us"))
    for row, (node, at_us) in enumerate(zip(*columns, strict=True)):
        histories.setdefault(node, []).append((at_us, events.at(row) or ""))
    return histories


def down_spans(trace: RunTrace, *, absent_only: bool = False) -> Spans:
    """When each node was down; with `absent_only`, when it was not in the field."""
    spans: list[tuple[int, int, int]] = []
    for node, history in _histories(trace).items():
        since_us = -1 if any(event == "added" for _, event in history) else None
        for at_us, event in history:
            if event in _DOWN and since_us is None and not (absent_only and event == "crash"):
                since_us = at_us
            elif event not in _DOWN and since_us is not None:
                spans.append((node, since_us, at_us))
                since_us = None
        if since_us is not None:
            spans.append((node, since_us, _NEVER))
    return Spans(spans)


@check("actions of the dead", "messages", "readings", "deaths")
def the_dead_act(trace: RunTrace) -> Iterator[Violation]:
    """After its death a mote neither sends, nor receives, nor senses."""
    died_us = np.full(trace.motes + 1, _NEVER, np.int64)  # the sink is last, and lives
    died_us[trace.column("deaths", "node")] = trace.column("deaths", "at_us")
    received = _unicasts_received(trace)
    sent_us = trace.column("messages", "at_us")
    arrived_us = trace.column("messages", "arrived_us")
    by_sender = died_us[trace.column("messages", "source")]
    by_target = died_us[np.where(received, trace.column("messages", "target"), -1)]
    by_mote = died_us[trace.column("readings", "node")]
    rules: dict[str, tuple[str, Flags]] = {
        "a dead mote sends": ("messages", sent_us > by_sender),
        "a dead mote receives": ("messages", received & (arrived_us > by_target)),
        "a dead mote senses": ("readings", trace.column("readings", "at_us") > by_mote),
    }
    yield from _broken(trace, rules)


@check("actions of motes that are down", "messages", "readings", "elections", "faults")
def the_absent_act(trace: RunTrace) -> Iterator[Violation]:
    """While it is crashed, removed or not added yet, a mote does nothing; in an outage nothing arrives at the sink."""
    spans = down_spans(trace)
    source, sent_us = trace.column("messages", "source"), trace.column("messages", "at_us")
    received = np.flatnonzero(_unicasts_received(trace))
    arrives = np.zeros(trace.rows("messages"), np.bool_)
    arrives[received] = spans.hold(
        trace.column("messages", "target")[received],
        trace.column("messages", "arrived_us")[received],
    )
    sensed = (trace.column("readings", "node"), trace.column("readings", "at_us"))
    elected = (trace.column("elections", "node"), trace.column("elections", "at_us"))
    rules: dict[str, tuple[str, Flags]] = {
        "sends while down": ("messages", (source >= 0) & spans.hold(source, sent_us)),
        "receives while down": ("messages", arrives),
        "senses while down": ("readings", spans.hold(*sensed)),
        "is elected while down": ("elections", spans.hold(*elected)),
    }
    yield from _broken(trace, rules)


@check("order of faults", "faults")
def faults_out_of_order(trace: RunTrace) -> Iterator[Violation]:
    """Faults are in order of time, within the run, and each follows from the state before it."""
    at_us = trace.column("faults", "at_us")
    late = (at_us < 0) | (at_us > trace.end_us)
    if late.any():
        yield Violation(f"outside the run: {trace.example('faults', late)}", int(late.sum()))
    back = np.append(False, at_us[1:] < at_us[:-1])
    if back.any():
        yield Violation(f"earlier than the row before: {trace.example('faults', back)}")
    for node, history in _histories(trace).items():
        state = "absent" if any(event == "added" for _, event in history) else "up"
        for time_us, event in history:
            if event in _FOLLOWS and state not in _FOLLOWS[event]:
                yield Violation(f"node {node}, {time_us} us: {event} of a node that is {state}")
            state = _LEADS_TO.get(event, event)


@check("truth", "truth", "faults")
def the_absent_are_inside(trace: RunTrace) -> Iterator[Violation]:
    """A mote that is not in the field is inside nothing; a crashed one can be."""
    inside = trace.lists("truth", "nodes")
    times_us: Ints = trace.column("truth", "at_us")[inside.rows]
    wrong = down_spans(trace, absent_only=True).hold(inside.nodes, times_us)
    if wrong.any():
        first = int(np.argmax(wrong))
        text = f"mote {inside.nodes[first]} is inside at {times_us[first]} us and not in the field"
        yield Violation(text, int(wrong.sum()))


def _unicasts_received(trace: RunTrace) -> Flags:
    is_unicast = trace.column("messages", "target") >= -1
    received: Flags = is_unicast & (trace.column("messages", "received") > 0)
    return received


def _broken(trace: RunTrace, rules: dict[str, tuple[str, Flags]]) -> Iterator[Violation]:
    for text, (table, wrong) in rules.items():
        if wrong.any():
            yield Violation(f"{text}: {trace.example(table, wrong)}", int(wrong.sum()))
