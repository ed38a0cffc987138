"""Finds a reason for every partner that did not reach the sink, from the trace alone.

An owed pair is a reading and a partner node with an earlier reading of the same value within the window. Its
two readings met, or should have met, at the head that holds the one stamped first, when the request of the other
arrived there.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

from sim.trace.tables import Fate, RequestEnd
from tests.support.checkers.trace import Trace

Occurrence = tuple[int, int]
"""A reading by its mote and its time on that mote's clock."""


class Request(NamedTuple):
    """A row of `requests`."""

    at_us: int
    head: int
    stamp_us: int
    known: int
    heads: list[int]
    passed_over: list[int]
    parts: int
    outcome: str
    reason: str | None


@dataclass(frozen=True)
class Missing:
    """The number of pairs owed and delivered, and why the rest were not."""

    owed: int
    delivered: int
    reasons: Counter[str]
    unexplained: list[tuple[Occurrence, Occurrence]]
    """A reading and the newest reading of the missing partner."""


def find_missing(trace: Trace) -> Missing:
    return _Inspection(trace).find()


class _Inspection:
    def __init__(self, trace: Trace) -> None:
        scenario = trace.manifest.scenario
        self._window_us = round(scenario["join"]["window_s"] * 1e6)
        self._kept_us = self._window_us + round(scenario["join"]["late_s"] * 1e6)
        self._fans_out = scenario["join"]["probing"] == "fan-out"
        self._readings: list[tuple[int, int, int]] = _rows(
            trace,
            "SELECT value, stamp_us, node FROM readings WHERE value IS NOT NULL ORDER BY stamp_us, node",
        )
        self._fates: dict[Occurrence, tuple[str, str | None, int, int]] = {
            (node, at_us): (fate, reason, head, joined_us)
            for node, at_us, fate, reason, head, joined_us in _rows(
                trace, "SELECT node, origin_at_us, fate, reason, head, at_us FROM fates"
            )
        }
        self._requests: defaultdict[Occurrence, list[Request]] = defaultdict(list)
        for origin, origin_at_us, *cells in _rows(
            trace,
            """SELECT origin, origin_at_us, at_us, origin_head, stamp_us, known, heads,
            passed_over, parts, outcome, reason FROM requests""",
        ):
            self._requests[origin, origin_at_us].append(Request(*cells))
        self._state_lost: dict[Occurrence, int] = {
            (origin, at_us): lost_us
            for origin, at_us, lost_us in _rows(
                trace,
                "SELECT origin, origin_at_us, min(at_us) FROM drops WHERE kind = 'state' GROUP BY ALL",
            )
        }
        self._delivered: defaultdict[Occurrence, dict[int, int]] = defaultdict(dict)
        """By reading: the partner nodes it was reported with, and the newest of their readings."""
        for origin, origin_at_us, partner, at_us in _rows(
            trace,
            """SELECT origin, origin_at_us, partner.node, partner.at_us FROM (
            SELECT origin, origin_at_us, unnest(partners) AS partner FROM results
            WHERE origin IS NOT NULL)""",
        ):
            delivered = self._delivered[origin, origin_at_us]
            delivered[partner] = max(at_us, delivered.get(partner, at_us))

    def find(self) -> Missing:
        owed = delivered = 0
        reasons: Counter[str] = Counter()
        unexplained = []
        recent: defaultdict[int, dict[int, list[int]]] = defaultdict(dict)
        for value, at_us, node in self._readings:
            reading = (node, at_us)
            for other, times in recent[value].items():
                near = [us for us in times if us >= at_us - self._window_us]
                if other == node or not near:
                    continue
                owed += 1
                if other in self._delivered[reading] or any(
                    self._delivered[other, us].get(node) == at_us for us in near
                ):
                    delivered += 1
                    continue
                reason = self._reason(reading, (other, near[-1]))
                reasons[reason or "unexplained"] += 1
                if reason is None:
                    unexplained.append((reading, (other, near[-1])))
            recent[value].setdefault(node, []).append(at_us)
        return Missing(owed, delivered, reasons, unexplained)

    def _reason(self, one: Occurrence, other: Occurrence) -> str | None:
        for reading in (one, other):
            fate, reason, _, _ = self._fates[reading]
            if fate == Fate.DROPPED:
                return f"reading {reason}"
            if fate == Fate.IN_FLIGHT:
                return "reading in flight"
        stamps = [self._stamp(one), self._stamp(other)]
        if None in stamps:
            return None
        if stamps[0] == stamps[1]:
            return self._not_met(one, other) or self._not_met(other, one)
        later, earlier = (one, other) if stamps[0] > stamps[1] else (other, one)  # type: ignore[operator]
        return self._not_met(later, earlier)

    def _stamp(self, reading: Occurrence) -> tuple[int, int] | None:
        requests = self._requests[reading]
        return (requests[0].stamp_us, requests[0].head) if requests else None

    def _not_met(self, later: Occurrence, earlier: Occurrence) -> str | None:
        """Why the request of the reading stamped later did not deliver the earlier one to the sink."""
        if self._delivered[later].get(earlier[0], -1) > earlier[1]:
            return "newer reading delivered instead"
        *_, holder, held_us = self._fates[earlier]
        requests = self._requests[later]
        own = requests[0].head == holder
        ended_us = max(request.at_us for request in requests)
        lost_us = self._state_lost.get(earlier)
        if lost_us is not None and lost_us <= ended_us:
            return "holder's state lost"
        finished = [r for r in requests if r.outcome == RequestEnd.FINISHED]
        for request in finished:
            if not own and holder not in request.heads:
                return _not_probed(len(request.heads), request)
            if holder in request.passed_over:
                return "head dead"
            if request.at_us > earlier[1] + self._kept_us:
                return "expired before the request came"
        if finished:
            *_, joined_us = self._fates[later]
            return "clocks disagree" if held_us > joined_us else None
        probed = {head for request in requests for head in request.heads}
        if not own and holder not in probed:
            # All parts of a split request are accounted for, or the trace is incomplete.
            is_whole = len(probed) >= max(request.parts for request in requests) - 1
            return _not_probed(len(probed), requests[0]) if is_whole else None
        for request in requests:
            mine = not self._fans_out or (holder in request.heads) or (own and not request.heads)
            if mine and request.outcome == RequestEnd.DROPPED:
                return f"request {request.reason}"
            if mine and request.outcome == RequestEnd.IN_FLIGHT:
                return "request in flight"
        return None


def _not_probed(probed: int, request: Request) -> str:
    """Whether the initiator did not select a head, or did not have it on its roster."""
    return "head not selected" if probed < request.known else "head not known"


def _rows(trace: Trace, sql: str) -> list[tuple[Any, ...]]:
    return trace.rows(sql)
