"""Why a pair of readings did not reach the sink: what happened to each of them, and to the request that should have found it."""

from collections import defaultdict
from typing import Final, NamedTuple

import numpy as np

from analysis.audit.arrays import places, shared_keys
from analysis.audit.checks.readings import IN_NETWORK
from analysis.audit.checks.results import members, reading_places, result_rows
from analysis.audit.run_trace import US_PER_S, Ints, RunTrace

CLOCK_DEVIATIONS: Final = 6
"""Standard deviations by which clocks may be wrong."""


class _Fate(NamedTuple):
    fate: str
    reason: str | None
    head: int
    at_us: int


class _Request(NamedTuple):
    at_us: int
    head: int
    stamp_us: int
    known: int
    heads: list[int]
    passed_over: list[int]
    parts: int
    outcome: str
    reason: str | None


class Reasons:
    """Looks for the reasons of missing pairs of the readings `asked` for; readings are rows of `readings`."""

    def __init__(self, trace: RunTrace, asked: Ints) -> None:
        join = trace.scenario["join"]
        self._kept_us = trace.window_us + round(join["late_s"] * US_PER_S)
        faults = trace.scenario["faults"]
        wrong_us = faults["clock_offset_ms"] * 1e3 + faults["clock_drift_ppm"] * 1e-6 * trace.end_us
        self._clocks_us = round(CLOCK_DEVIATIONS * wrong_us)
        """How much a head's clock may be ahead."""
        self._fans_out = join["probing"] == "fan-out"
        self._in_network = join["strategy"] in IN_NETWORK
        self._stamps_us = trace.column("readings", "stamp_us")
        self._nodes = trace.column("readings", "node")
        self._fates = _fates(trace)
        joined_us = [fate.at_us for fate in self._fates.values() if fate.fate == "joined"]
        self._last_joined_us = max(joined_us, default=0)
        self._requests: defaultdict[int, list[_Request]] = defaultdict(list)
        self._state_lost_us: dict[int, int] = {}
        self._motes = trace.motes
        self._listed_keys, self._listed_us = self._read_listed(trace, asked)
        if self._in_network:
            self._read_requests(trace)
            self._read_lost_state(trace)

    def of(self, one: int, other: int) -> str | None:
        """Why the newest of two readings' pair is missing; None if nothing in the trace says so."""
        for reading in (one, other):
            fate = self._fates.get(reading)
            if fate is None:
                return "reading without fate"
            if fate.fate != "joined":
                return f"reading {fate.reason or fate.fate}"
        if not self._in_network:
            if self._has_newer(one, other) or self._has_newer(other, one):
                return "newer reading delivered instead"
            # Only the reading that a CPU was working on when the run ended can have no result yet.
            last_us = max(self._fates[one].at_us, self._fates[other].at_us)
            return "result not formed yet" if last_us >= self._last_joined_us else None
        stamps = [self._stamp(one), self._stamp(other)]
        if None in stamps:
            return None
        if stamps[0] == stamps[1]:
            return self._not_met(one, other) or self._not_met(other, one)
        is_later = stamps[0] > stamps[1]  # type: ignore[operator]
        return self._not_met(*((one, other) if is_later else (other, one)))

    def _has_newer(self, reading: int, partner: int) -> bool:
        """Whether the results of a reading have a newer one of the partner's mote."""
        newest_us = self._newest_of(reading, int(self._nodes[partner]))
        return newest_us is not None and newest_us > int(self._stamps_us[partner])

    def _newest_of(self, reading: int, mote: int) -> int | None:
        """The newest time of a mote in the results of a reading; None if they do not have it."""
        key = reading * self._motes + mote
        place = int(np.searchsorted(self._listed_keys, key, side="right")) - 1
        if place < 0 or int(self._listed_keys[place]) != key:
            return None
        return int(self._listed_us[place])

    def _read_listed(self, trace: RunTrace, asked: Ints) -> tuple[Ints, Ints]:
        """What the results of the readings asked for list: reading and mote as a key, and times, sorted."""
        rows, listed = result_rows(trace), members(trace)
        origin, at_us = (trace.column("results", name)[rows] for name in ("origin", "origin_at_us"))
        of_row = np.full(trace.rows("results"), -1)
        of_row[rows] = reading_places(trace, origin, at_us)
        is_asked = np.zeros(trace.rows("readings") + 1, np.bool_)  # the last one: not found
        is_asked[asked] = True
        wanted = is_asked[of_row[listed.rows]]
        keys = of_row[listed.rows[wanted]] * trace.motes + listed.node[wanted]
        times_us = listed.at_us[wanted]
        order = np.lexsort((times_us, keys))
        return keys[order], times_us[order]

    def _stamp(self, reading: int) -> tuple[int, int] | None:
        requests = self._requests.get(reading)
        return (requests[0].stamp_us, requests[0].head) if requests else None

    def _not_met(self, later: int, earlier: int) -> str | None:
        """Why the request of the reading stamped later did not deliver the earlier one."""
        if self._has_newer(later, earlier):
            return "newer reading delivered instead"
        requests = self._requests[later]
        holder = self._fates[earlier].head
        ended_us = max(request.at_us for request in requests)
        if self._state_lost_us.get(earlier, ended_us + 1) <= ended_us:
            return "holder's state lost"
        answered = [request for request in requests if request.outcome == "finished"]
        if not answered:  # what was given up has the heads whose parts had come
            given_up = (request for request in requests if request.outcome == "given up")
            answered = [request for request in given_up if holder in request.heads]
        if answered:
            reason = self._answered_without(later, earlier, answered)
            if reason or answered[0].outcome == "finished":
                return reason
        return self._never_finished(requests, holder, own=requests[0].head == holder)

    def _answered_without(self, later: int, earlier: int, answered: list[_Request]) -> str | None:
        holder, held_us = self._fates[earlier].head, self._fates[earlier].at_us
        made_us = int(self._stamps_us[earlier])
        for request in answered:
            if request.head != holder and holder not in request.heads:
                return _not_probed(len(request.heads), request.known)
            if holder in request.passed_over:
                return "head dead"
            if request.at_us + self._clocks_us > made_us + self._kept_us:
                return "expired before the request came"
        if (
            len(self._requests[later]) > 1
            and self._newest_of(later, int(self._nodes[earlier])) is not None
        ):
            # Another part, or an earlier attempt, had an older reading of the mote: it is not reported twice.
            return "older reading delivered before"
        return "clocks disagree" if held_us > self._fates[later].at_us else None

    def _never_finished(self, requests: list[_Request], holder: int, *, own: bool) -> str | None:
        probed = {head for request in requests for head in request.heads}
        if not own and holder not in probed:
            # All parts of a split request are accounted for, or the trace is incomplete.
            is_whole = len(probed) >= max(request.parts for request in requests) - 1
            return _not_probed(len(probed), requests[0].known) if is_whole else None
        for request in requests:
            mine = not self._fans_out or holder in request.heads or (own and not request.heads)
            if mine and request.outcome == "dropped":
                return f"request {request.reason}"
            # The initiator's own part may wait at the sink for others, in a row that lists their heads.
            if (mine or own) and request.outcome == "in flight":
                return "request in flight"
        return None

    def _read_requests(self, trace: RunTrace) -> None:
        origins = reading_places(
            trace, trace.column("requests", "origin"), trace.column("requests", "origin_at_us")
        )
        table = trace.table("requests")
        names = ("at_us", "origin_head", "stamp_us", "known", "heads", "passed_over", "parts")
        columns = [table.column(name).to_pylist() for name in (*names, "outcome", "reason")]
        for origin, *cells in zip(origins.tolist(), *columns, strict=True):
            self._requests[origin].append(_Request(*cells))

    def _read_lost_state(self, trace: RunTrace) -> None:
        rows = np.flatnonzero(trace.words("drops", "kind").among("state"))
        origins = reading_places(
            trace,
            trace.column("drops", "origin")[rows],
            trace.column("drops", "origin_at_us")[rows],
        )
        lost_us = trace.column("drops", "at_us")[rows]
        for origin, at_us in zip(origins.tolist(), lost_us.tolist(), strict=True):
            self._state_lost_us[origin] = min(at_us, self._state_lost_us.get(origin, at_us))


def _fates(trace: RunTrace) -> dict[int, _Fate]:
    """By row of `readings`: what happened to the reading."""
    wanted, known = shared_keys(
        (trace.column("fates", "node"), trace.column("fates", "origin_at_us")),
        (trace.column("readings", "node"), trace.column("readings", "stamp_us")),
    )
    rows: Ints = places(wanted, known)
    fate, reason = trace.words("fates", "fate"), trace.words("fates", "reason")
    columns = (trace.column("fates", name).tolist() for name in ("head", "at_us"))
    return {
        row: _Fate(fate.at(place) or "", reason.at(place), head, at_us)
        for place, (row, head, at_us) in enumerate(zip(rows.tolist(), *columns, strict=True))
    }


def _not_probed(probed: int, known: int) -> str:
    """Whether the initiator did not select a head, or did not have it on its roster."""
    return "head not selected" if probed < known else "head not known"
