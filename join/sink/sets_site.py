"""The sink where less than results is asked for: it keeps sets of motes, or counts them, and writes how they change.

What changes within one instant is written as one change per value, so that no state is shown that exists only within it.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from join.contract import Partner, Value
from join.reading import Reading
from join.sink.activity import Activity, NetSetChange, SetChange, Vouched
from network.contract import Clock, LocalTime
from network.membership import Membership
from sim.trace.recorder import Rows
from sim.trace.rows import result_row
from sim.trace.tables import SINK, AnswerLevel, Change


@dataclass(frozen=True, slots=True)
class SetsSettings:
    """What the sink keeps."""

    query: str
    """Name of the answer in the trace."""
    window_us: int
    level: AnswerLevel


class SetsSite:
    """Receives results, readings or reports, and keeps for each value the motes that join."""

    def __init__(
        self,
        clock: Clock,
        rows: Rows,
        settings: SetsSettings,
        true_us: LocalTime,
        membership: Membership,
    ) -> None:
        """A sink that writes changes of the answer to `rows`.

        Args:
            clock: The time.
            rows: The trace's table of results.
            settings: What it keeps.
            true_us: Converts a reading's stamp to the true time when its mote's clock showed it.
            membership: Whose region a mote is in. The sink knows it from messages, which name the head that sent them.
        """
        self._clock = clock
        self._rows = rows
        self._settings = settings
        self._true_us = true_us
        self._membership = membership
        self._activity = Activity()
        self._listeners: list[Callable[[int], None]] = []
        self._due_us: dict[Value, int] = {}
        """By value: when to check whether a mote has lapsed."""
        self._counted: dict[Value, Counter[int]] = {}
        """By value: motes in the answer by region, as last written; level `occupancy`."""
        self._sizes: dict[Value, int] = {}
        """By value: how many motes are in the answer, as last written; other levels."""
        self._changed: dict[Value, NetSetChange] = {}
        """By value: what has changed at `_changed_us`, not written yet."""
        self._changed_us = 0
        self.results = self.width = self.delay_us = 0
        """There are no results here."""

    def when_result(self, listener: Callable[[int], None]) -> None:
        """Register `listener`, called with the time at which motes joined."""
        self._listeners.append(listener)

    def sensors(self) -> set[int] | None:
        """All motes in the answer; None if the sink keeps numbers only."""
        return self._activity.sensors() if self._settings.level is AnswerLevel.SETS else None

    def take_reading(self, reading: Reading, at_us: int) -> None:
        """Do nothing: no query runs over the readings themselves."""

    def take_result(
        self,
        origin: Reading,
        partners: list[tuple[Partner, ...]],
        at_us: int,
        *,
        partial: bool = False,
    ) -> None:
        """Take the motes of a result formed at `at_us`, now or soon, as active for a window from their readings."""
        del partial
        if at_us > self._clock.now_us:
            self._clock.call_at(at_us, self._take_result, (origin, partners))
        else:
            self._take_result((origin, partners))

    def take_activity(
        self, value: Value, vouched: Sequence[Vouched], *, sent_us: int, replace: bool
    ) -> None:
        """Take what a message, first sent at `sent_us`, says of motes now.

        With `replace` it replaces what its reporter said of them before, else it only ever prolongs their activity.
        """
        take = self._activity.put if replace else self._activity.extend
        now_us = self._clock.now_us
        self._begin(now_us)
        change = take(value, vouched, now_us)
        self._record(change, value, now_us - sent_us)

    def _take_result(self, result: tuple[Reading, list[tuple[Partner, ...]]]) -> None:
        origin, partners = result
        window_us, now_us = self._settings.window_us, self._clock.now_us
        members: list[Partner] = [(origin.node, origin.at_us)]
        members += [member for part in partners for member in part]
        head_of = self._membership.head_of
        vouched = []
        for node, at_us in members:
            assert isinstance(node, int), node
            until_us = at_us + window_us
            vouched.append(Vouched(node, SINK, until_us, at_us, region=head_of[node]))
        self._begin(now_us)
        change = self._activity.extend(origin.value, vouched, now_us)
        self._record(change, origin.value, now_us - self._true_us(origin.node, origin.at_us))

    def _lapse(self, value: Value) -> None:
        now_us = self._clock.now_us
        if self._due_us.get(value) != now_us:
            return  # an earlier check is due, or was done
        del self._due_us[value]
        self._begin(now_us)
        self._record(self._activity.expire(value, now_us), value, None)

    def _begin(self, now_us: int) -> None:
        """Write the changes of an earlier instant, which is over."""
        if self._changed and now_us > self._changed_us:
            self.finish()
        self._changed_us = now_us

    def _record(self, change: SetChange | None, value: Value, delay_us: int | None) -> None:
        """Note a change that a message of age `delay_us` made, or time; then wait for the next lapse."""
        if change is not None:
            if change.joined:
                for listener in self._listeners:
                    listener(self._clock.now_us)
            changed = self._changed.get(value)
            if changed is None:
                changed = self._changed[value] = NetSetChange(self._sizes.get(value, 0))
            changed.take(change)
            changed.delay_us = delay_us if changed.delay_us is None else changed.delay_us
        elif self._settings.level is AnswerLevel.OCCUPANCY and value not in self._changed:
            # Regions may have changed though the answer has not.
            self._changed[value] = NetSetChange(self._sizes.get(value, 0), delay_us)
        due_us = self._activity.next_lapse_us(value)
        if due_us is not None and due_us < self._due_us.get(value, due_us + 1):
            due_us = max(due_us, self._clock.now_us)
            self._due_us[value] = due_us
            # After all messages of that instant: a mote that they vouch for does not lapse.
            self._clock.call_last(due_us, self._lapse, value)

    def finish(self) -> None:
        """Write the changes of the last instant."""
        changed, self._changed = self._changed, {}
        for value, net in changed.items():
            self._write(net.change(value), value, net.delay_us)

    def _write(self, change: SetChange | None, value: Value, delay_us: int | None) -> None:
        level = self._settings.level
        if level is AnswerLevel.OCCUPANCY:
            self._write_regions(value, delay_us)
            return
        if change is None:
            return
        if change.size:
            self._sizes[value] = change.size
        else:
            self._sizes.pop(value, None)
        named = level is AnswerLevel.SETS
        self._rows.append(
            result_row(
                at_us=self._changed_us,
                query=self._settings.query,
                change=change.change,
                value=value,
                arity=change.size,
                partners=change.left if named else None,
                delay_us=delay_us,
                answer=change.size,
                joined=change.joined if named else None,
                level=level,
            )
        )

    def _write_regions(self, value: Value, delay_us: int | None) -> None:
        """Write a row for every region whose number has changed."""
        now: Counter[int] = Counter()
        for weight, region in self._activity.answer(value).values():
            now[region] += weight
        before = self._counted.pop(value, Counter())
        if now:
            self._counted[value] = now
        for region in sorted(before.keys() | now.keys()):
            if before[region] == now[region]:
                continue
            change = Change.UPDATE if before[region] else Change.ADD
            self._rows.append(
                result_row(
                    at_us=self._changed_us,
                    query=self._settings.query,
                    change=change if now[region] else Change.REMOVE,
                    value=value,
                    arity=now[region],
                    delay_us=delay_us,
                    answer=now[region],
                    region=region,
                    level=AnswerLevel.OCCUPANCY,
                )
            )
