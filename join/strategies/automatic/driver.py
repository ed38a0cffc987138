"""Drives the strategy `automatic`: follows one plan, estimates what the others would cost, and switches when that pays.

* Plans are whole strategies (`join.strategies.automatic.plans`), kept apart by `join.strategies.automatic.separation`.
* Whoever sees readings or reports under the present plan estimates what each plan would have cost
  (`join.strategies.automatic.estimates`): the sink, or the homes, which send it their estimates (message `estimate`) now and then.
* Counting begins two windows after the first reading or the last switch, when most stays seen are not new. The sink decides a window later, then each time
  that age has grown by a quarter, and after elections. A new plan is announced to heads, by these to members (message `plan`), with the time from which it holds.
* From that time on, motes follow both plans for a window if partners meet at homes under one of them: until all readings in the window have
  gone the new way, pairs of old and new ones are found the old way. A reading sent both ways is marked, and a pair of two such
  readings is reported the old way alone. So a switch loses and doubles nothing.
* A mote that still follows an old plan later gets a note from whoever receives its reading.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

from join.contract import Value
from join.reading import Reading
from join.sink.activity import Vouched
from join.strategies.automatic.decision import SAVED_LEAST_UNCERTAIN, Decide, better_plan
from join.strategies.automatic.estimates import Estimates, Rhythm
from join.strategies.automatic.plans import MAKERS, Plan, choice, overlap_us, plan_settings
from join.strategies.automatic.separation import Marked, MarkedLinks, PlanAccounts, PlanSink
from join.strategies.automatic.switches import Switch, Switches
from join.strategies.automatic.terrain import Terrain
from join.strategies.contract import JoinSettings, JoinStrategy, Needs, Ports
from join.strategies.margins import margins
from join.strategies.message_sizes import COUNT_BYTES, TIME_BYTES
from join.strategies.rendezvous.homes import Homes
from network.contract import Message
from sim.trace.kinds import ESTIMATE, PLAN, READING
from sim.trace.tables import SINK, AnswerLevel, DropReason
from sim.units import US_PER_S

PLAN_BYTES = COUNT_BYTES + TIME_BYTES
"""A plan, and from when on it holds."""
ESTIMATE_BYTES = 4
"""Of one plan."""
PAINS = 20
"""A home sends its estimates when the readings that it has seen have cost so many times as much."""
SETTLED = 2
"""So many windows after a plan began, counting begins."""
DECIDED = 3
"""So many windows after a plan began, it may be given up."""
AGAIN = 1.25
"""How much older the run is at the next decision."""


class Announced(NamedTuple):
    """A switch on its way to a mote."""

    switch: Switch
    again: bool
    """Whether a head is to announce it to its members though it has known it before."""


class AutomaticJoin:
    """Follows the plan that seems the cheapest."""

    needs: ClassVar[Needs] = Needs(sends_every_reading=False)

    def __init__(self, ports: Ports, settings: JoinSettings, decide: Decide = better_plan) -> None:
        self._decide_on = decide
        self._clock = ports.clock
        self._links = ports.links
        self._membership = ports.membership
        self._accounts = ports.accounts
        self._end_us = ports.end_us
        self._local_us = ports.local_us
        self._window_us = settings.window_us
        self._results = settings.reporting.level is AnswerLevel.RESULTS
        first, self._plans = choice(ports, settings)
        self._chooses = len(self._plans) > 1
        settings = plan_settings(settings, first)
        self._first = self._present = first
        self._homes = Homes(ports, settings)
        self._terrain = Terrain(ports, settings, self._homes.home)
        near = margins(ports, settings)
        self._rhythm = Rhythm(settings.window_us)
        self._refresh_us = settings.reporting.refresh_us
        # A plan has to reach heads, and their members, before it holds.
        self._spread_us = settings.reporting.spread_us
        self._announce_us = 2 * near.both_us + self._spread_us
        self._estimates: dict[int, Estimates] = {}
        """By node that estimates."""
        self._first_us = 0
        """When the first reading was taken."""
        self._began_us = 0
        """Since when the present plan is followed, or there are readings."""
        self._counted_us = 0
        """Since when what plans cost is counted."""
        self._reported: dict[int, dict[Plan, float]] = {}
        """By home: the estimates that the sink knows of."""
        self._sent: dict[int, int] = {}
        """By home: how often it has sent its estimates."""
        self._values: set[int] = set(settings.places_m or ())
        """Values that the sink knows of: those with places, and those that it has heard of."""
        self._learning: dict[Plan, float] = {}
        """What the sink estimates each plan to have cost before counting began."""
        self._passed_bytes = 0
        """On air for messages to the sink since counting began."""
        self._decided_by: dict[Plan, float] = {}
        """What each plan was taken to cost when the sink decided last."""
        self._switches = Switches(first, settings.window_us)
        self._age_us = 0
        """How long after the first reading the next decision is due; 0: before that."""
        self._marked = MarkedLinks(ports.links, self._on_arrival)
        self._joins: dict[Plan, JoinStrategy] = {
            plan: MAKERS[plan](self._ports_of(ports, plan), settings) for plan in self._plans
        }
        ports.links.attach(PLAN, self._on_plan, self._on_lost)
        ports.links.attach(ESTIMATE, self._on_estimate, self._on_lost)
        if self._chooses:
            ports.membership.when_changed(self._on_clusters)

    def submit(self, reading: Reading) -> None:
        """Join a reading under the plan that its mote follows; for a window after a switch under the one before, too."""
        self._accounts.submitted += 1
        if not self._age_us:
            self._first_us = self._clock.now_us
            self._age_us = max(1, DECIDED * self._window_us)
            if self._chooses:
                self._begin(self._first)
                self._clock.call_at(self._clock.now_us + self._age_us, self._look, None)
        for plan in self._switches.plans_of(reading):
            self._joins[plan].submit(reading)

    def on_roster(
        self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]
    ) -> None:
        """Do nothing: no plan needs a roster."""

    def on_down(self, node: int) -> None:
        """Lose what a mote knew: if it comes back it follows the first plan."""
        self._switches.forget(node, self._local_us(node, self._clock.now_us))
        self._estimates.pop(node, None)
        for join in self._joins.values():
            join.on_down(node)

    def close(self, on_air: Sequence[Message]) -> None:
        """End the run: record the readings that are still under way."""
        for mark, join in enumerate(self._joins.values()):
            join.close(self._marked.on_air(mark, on_air))

    def figures(self) -> dict[str, Any]:
        """The plan followed last, how often it was switched, and what each was taken to cost at the last decision, in bytes per second."""
        return {
            "plan": self._present.value,
            "switches": len(self._switches.made),
            "estimates": {plan.value: cost * US_PER_S for plan, cost in self._decided_by.items()},
        }

    # Plans kept apart.

    def _ports_of(self, ports: Ports, plan: Plan) -> Ports:
        mark = self._plans.index(plan)
        return replace(
            ports,
            links=self._marked.of(mark),
            accounts=PlanAccounts(
                ports.accounts,
                lambda reading: self._switches.is_copy(plan, reading),
                lambda reading, node: self._on_joined(plan, reading, node),
            ),
            sink=PlanSink(
                ports.sink,
                mark,
                plan is Plan.HEADS,
                lambda origin, partner: self._switches.reports(plan, origin, partner),
                lambda value, vouched: self._on_activity(plan, value, vouched),
            ),
        )

    # What is seen, and what it would have cost.

    def _on_arrival(self, message: Message, marked: Marked) -> None:
        """Learn from a message of any plan what messages cost; notice motes that follow an old one."""
        self._terrain.observe(
            message.source,
            message.target,
            hops=message.hops,
            on_air=message.bytes,
            body=marked.body_bytes,
        )
        if message.target == SINK:
            self._passed_bytes += message.bytes
        if message.kind == READING and self._switches.made and message.source != SINK:
            self._remind(message.target, message.source, marked.mark)

    def _on_joined(self, plan: Plan, reading: Reading, node: int) -> None:
        """A reading has reached the sink or a home, which know all readings of its value."""
        if plan is not self._present or plan in (Plan.HEADS, Plan.PLACES) or not self._chooses:
            return
        mote, value, at_us = reading
        if node == SINK:
            self._values.add(value)
        estimates = self._estimates_at(node)
        if self._results:
            estimates.reading(mote, value, at_us)
        else:
            head = self._membership.head_of[mote] if node == SINK else None
            estimates.lease(mote, head, value, at_us)

    def _on_activity(self, plan: Plan, value: Value, vouched: Sequence[Vouched]) -> None:
        if plan is not Plan.HEADS or plan is not self._present or not self._chooses:
            return
        assert isinstance(value, int), value
        self._values.add(value)
        for said in vouched:
            read_us = max(said.read_us, min(said.until_us - self._window_us, self._clock.now_us))
            self._estimates_at(SINK).active(said.who, said.reporter, value, read_us, said.until_us)

    def _estimates_at(self, node: int) -> Estimates:
        estimates = self._estimates.get(node)
        if estimates is None:
            estimates = self._estimates[node] = Estimates(
                self._terrain,
                self._rhythm,
                window_us=self._window_us,
                refresh_us=self._refresh_us,
            )
        return estimates

    # Decisions.

    def _on_clusters(self) -> None:
        """New heads have to know the plan, and it is considered again."""
        if self._switches.made:
            # Motes that changed heads while a plan was announced may have been missed by both.
            again = self._clock.now_us < self._switches.made[-1].at_us
            for head in self._heads():
                self._send_plan(SINK, head, again=again)
        self._consider()

    def _look(self, _: None) -> None:
        self._consider()
        older_us = max(1, round((AGAIN - 1.0) * self._age_us))
        self._age_us += older_us
        if self._clock.now_us + older_us < self._end_us:
            self._clock.call_at(self._clock.now_us + older_us, self._look, None)

    def _consider(self) -> None:
        """Let the sink decide: at once, or when the homes' estimates have arrived; not before it has seen enough."""
        now_us = self._clock.now_us
        if not self._age_us or now_us < self._began_us + DECIDED * self._window_us:
            return
        if self._present is Plan.HOMES:
            for node in sorted(self._estimates):
                if node != SINK:
                    self._estimate(node)
            self._clock.call_at(now_us + self._announce_us, self._decide, None)
        else:
            self._decide(None)

    def _estimate(self, home: int) -> None:
        """Send a home's estimates to the sink if another plan is much cheaper for it; now and then, so that this costs little."""
        costs = self._costs(home)
        content = min(costs.values()) >= (1.0 - SAVED_LEAST_UNCERTAIN) * costs[self._present]
        if content and home not in self._reported:
            return
        age_us = self._clock.now_us - self._counted_us
        size = ESTIMATE_BYTES * len(self._plans)
        price = (size + self._terrain.frame_bytes) * self._terrain.depth(home)
        paid = price * (1 + self._sent.get(home, 0))
        if costs[self._present] * age_us >= PAINS * paid:
            self._sent[home] = self._sent.get(home, 0) + 1
            self._links.unicast(ESTIMATE, home, SINK, size, costs, self._clock.now_us)

    def _costs(self, node: int) -> dict[Plan, float]:
        """What a node estimates each plan to cost, in bytes per microsecond."""
        seen = self._estimates_at(node).bytes(self._local_us(node, self._clock.now_us))
        age_us = max(1, self._clock.now_us - self._counted_us)
        return {plan: seen[plan] / age_us for plan in self._plans}

    def _on_estimate(self, message: Message) -> None:
        self._reported[message.source] = message.body

    def _decide(self, _: None) -> None:
        if (
            self._switches.made
            and self._clock.now_us < self._switches.made[-1].at_us + self._window_us
        ):
            return  # motes are switching
        costs = self._known_costs()
        if costs is None:
            return
        self._decided_by = costs
        age_us = max(1, self._clock.now_us - self._first_us)
        new = self._decide_on(
            costs,
            self._plans,
            self._present,
            switching=lambda plan: self._switching(plan, costs[plan]),
            age_us=age_us,
            doubt=self._window_us / (2 * age_us),
            switches=len(self._switches.made),
        )
        if new is not None:
            self._announce(new)

    def _switching(self, plan: Plan, cost: float) -> float:
        """Bytes of a switch to a plan that then costs `cost` per microsecond."""
        motes = sum(head >= 0 for head in self._membership.head_of)
        frame = PLAN_BYTES + self._terrain.frame_bytes
        announcing = frame * (motes + sum(self._terrain.depth(head) for head in self._heads()))
        both_us = overlap_us(self._present, plan, self._window_us)
        # Whatever a plan cost more in the beginning, when it had to learn of all stays, it will cost again.
        learning = max(0.0, self._learning.get(plan, 0.0) - SETTLED * self._window_us * cost)
        return announcing + both_us * cost + learning

    def _known_costs(self) -> dict[Plan, float] | None:
        """What the sink takes plans to cost, in bytes per microsecond; None: it knows too little."""
        if self._present is Plan.PLACES:
            # What goes to the sink is seen there, and costs more than that. Other plans are taken to cost what they did.
            age_us = max(1, self._clock.now_us - self._counted_us)
            return self._decided_by | {Plan.PLACES: self._passed_bytes / age_us}
        if self._present is Plan.HOMES:
            homes = {self._homes.home(value) for value in self._values}
            known = list(self._reported.values())
            if 2 * len(known) <= len(homes):
                return None
            return {plan: sum(each[plan] for each in known) for plan in self._plans}
        return self._costs(SINK)

    def _announce(self, new: Plan) -> None:
        at_us = self._clock.now_us + self._announce_us
        self._switches.make(at_us, self._present, new)
        self._clock.call_at(at_us, self._begin, new)
        for head in self._heads():
            self._send_plan(SINK, head)

    def _begin(self, plan: Plan) -> None:
        """From now on the plan is the present one; what was seen under the old one says little about it."""
        now_us = self._clock.now_us
        self._present = plan
        self._began_us = self._counted_us = now_us
        self._estimates.clear()
        self._reported.clear()
        self._sent.clear()
        self._clock.call_at(now_us + SETTLED * self._window_us, self._count, now_us)

    def _count(self, began_us: int) -> None:
        """Count what plans cost from now on, if the present one is that which began then."""
        if began_us == self._began_us:
            now_us = self._counted_us = self._clock.now_us
            self._passed_bytes = 0
            self._learning = self._estimates_at(SINK).bytes(self._local_us(SINK, now_us))
            for estimates in self._estimates.values():
                estimates.restart()

    def _heads(self) -> list[int]:
        alive = self._links.alive
        return sorted({head for head in self._membership.head_of if head >= 0 and alive[head]})

    # Plans on their way to motes.

    def _send_plan(self, source: int, target: int, *, again: bool = False) -> None:
        body = Announced(self._switches.made[-1], again)
        self._links.unicast(PLAN, source, target, PLAN_BYTES, body, self._clock.now_us)

    def _on_plan(self, message: Message) -> None:
        """Take note of a plan; a head sends it on to its members."""
        node, (switch, again) = message.target, message.body
        local_us = self._local_us(node, self._clock.now_us)
        if not self._switches.learn(node, switch, local_us) and not again:
            return
        heads, alive = self._membership.head_of, self._links.alive
        members = [m for m, head in enumerate(heads) if head == node != m and alive[m]]
        body = Announced(switch, again=False)
        for place, mote in enumerate(members):
            # Not all at once: a head's queue is short.
            at_us = self._clock.now_us + place * self._spread_us // len(members)
            self._links.unicast(PLAN, node, mote, PLAN_BYTES, body, at_us)

    def _remind(self, node: int, mote: int, mark: int) -> None:
        """Note to a mote that a plan it followed is over, if the receiver of its reading knows that."""
        switch = self._switches.made[-1]
        over_us = switch.at_us + self._window_us + self._announce_us
        if self._plans[mark] is switch.new or self._clock.now_us <= over_us:
            return
        if node == SINK or self._switches.knows_last(node):
            self._send_plan(node, mote)

    def _on_lost(self, message: Message, reason: DropReason) -> None:
        self._accounts.lost(message.kind, message.target, reason, self._clock.now_us, None, None)
