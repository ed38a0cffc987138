"""Networks built from scenario settings, with a record of every message sent over them."""

from collections import Counter
from math import inf
from pathlib import Path
from typing import Any

from network.contract import Message
from network.ledger import Ledger
from scenarios.files.shipped import shipped_scenarios
from scenarios.schema.load import LoadedScenario, parse_scenario
from scenarios.wiring.network import Network, battery_j, build_network
from scenarios.wiring.site import build_site
from sim.kernel import Kernel
from sim.rng import RandomStreams
from sim.trace.tables import DropReason, Event, Outcome

KINDS = ("data", "cost")
"""One data kind and one control kind."""


class Account:
    """A network and the outcome of each message sent over it."""

    def __init__(self, *settings: str, seed: int = 1) -> None:
        text = shipped_scenarios()["gas-cloud-small"]
        scenario = parse_scenario(text, "test", settings)
        streams = RandomStreams(seed)
        site = build_site(LoadedScenario(scenario, "test", Path()), streams, {})
        self.kernel = Kernel()
        self.profile = site.profile
        battery = battery_j(scenario, site.profile)
        self.ledger = Ledger(self.kernel, [battery] * scenario.motes.count)
        self.fault_rows: list[tuple[Any, ...]] = []
        self.network: Network = build_network(
            scenario, site, self.kernel, self.ledger, streams, self.fault_rows
        )
        self.network.churn.start()
        self.sent: Counter[str] = Counter()
        self.arrived: Counter[str] = Counter()
        self.lost: Counter[tuple[str, DropReason]] = Counter()
        self.seen: list[object] = []
        """Bodies of the messages that arrived."""
        for kind in KINDS:
            self.network.air.attach(kind, self._on_arrival, self._on_loss)
        self.heard: Counter[int] = Counter()

    def send(self, kind: str, source: int, target: int, size: int, at_us: int) -> int:
        body = (kind, self.sent[kind])
        self.sent[kind] += 1
        return self.network.air.unicast(kind, source, target, size, body, at_us)

    def announce(self, source: int, listeners: list[int], size: int, at_us: int) -> None:
        self.network.air.broadcast("cost", source, listeners, 30.0, size, at_us, self._on_heard)

    def advance(self, until_us: int) -> None:
        while self.kernel.now_us < until_us:
            self.kernel.advance(min(until_us, self.kernel.now_us + 1_000_000))
            if self.network.listening is not None:
                self.network.listening.settle()

    def check(self) -> None:
        """End the run: assert that every message and every joule is accounted for."""
        in_flight = Counter(message.kind for message in self.network.air.close())
        log = self.network.air.log
        # Every message: delivered once, lost once, or under way.
        assert len(set(self.seen)) == len(self.seen), "a message was delivered twice"
        for kind in KINDS:
            lost = sum(n for (k, _), n in self.lost.items() if k == kind)
            assert self.sent[kind] == self.arrived[kind] + lost + in_flight[kind], kind
        # Every transmission: copies addressed are received, not received, or on air.
        byte_us = self.profile.airtime_us_per_byte
        died_us = {node: at_us for at_us, node in self.ledger.deaths}
        outages = self._outages()
        for at_us, _kind, source, target, size, outcome, arrived_us, addressed, received in log:
            assert 0 <= received <= addressed
            for down_us, up_us in outages.get(source, []):
                assert not down_us < at_us < up_us, "a mote sent while it was down"
            if arrived_us is not None:
                assert arrived_us >= at_us + int(size * byte_us), "arrived before its airtime"
            assert at_us <= died_us.get(source, at_us), "a dead mote sent"
            if target is not None and outcome in (Outcome.DELIVERED, Outcome.DUPLICATE):
                assert arrived_us is not None
                assert arrived_us <= died_us.get(target, arrived_us), "a dead mote received"
        self.ledger.assert_balanced()
        for node in range(self.ledger.count):
            radio_j = self.ledger.tx_j[node] + self.ledger.rx_j[node]
            assert self.ledger.control_j[node] <= radio_j + 1e-12

    def _outages(self) -> dict[int, list[tuple[float, float]]]:
        """When each node was down."""
        outages: dict[int, list[tuple[float, float]]] = {
            node: [(0.0, inf)] for node in self.network.churn.absent
        }
        for at_us, node, event in self.fault_rows:
            spans = outages.setdefault(node, [])
            if event in (Event.CRASH, Event.REMOVED, Event.SINK_DOWN):
                spans.append((at_us, inf))
            elif spans:
                spans[-1] = (spans[-1][0], at_us)
        return outages

    def _on_arrival(self, message: Message) -> None:
        self.arrived[message.kind] += 1
        self.seen.append(message.body)

    def _on_loss(self, message: Message, reason: DropReason) -> None:
        self.lost[message.kind, reason] += 1

    def _on_heard(self, source: int, heard: list[int]) -> None:
        self.heard[source] += len(heard)
