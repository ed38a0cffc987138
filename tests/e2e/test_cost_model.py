"""The cost model of `automatic`, given what a run sent, against the bytes that the run had on air."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from join.reading import Reading
from join.strategies.automatic.estimates import Estimates, Rhythm
from join.strategies.automatic.plans import MAKERS, Plan
from join.strategies.automatic.separation import Marked, MarkedLinks
from join.strategies.automatic.terrain import Counts, Part, Terrain
from join.strategies.change.records import Digest, Enter, Hold, Leave, Report
from join.strategies.contract import JoinSettings, JoinStrategy, Needs, Ports
from join.strategies.placed.driver import Moved, Note, PlacedJoin, Sent
from join.strategies.registry import STRATEGIES, StrategyKind
from join.strategies.rendezvous.homes import Homes
from join.strategies.snjoin_star.request import ProbeRequest
from network.contract import Message
from scenarios.schema.load import load_scenario
from scenarios.simulation.run import run_scenario
from sim.trace.kinds import DATA_KINDS

RECORDS = {Enter: Part.TIMED, Leave: Part.TIMED, Hold: Part.HOLD, Digest: Part.DIGEST}


class Observer:
    """Makes a plan's strategy and counts what its messages are made of."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.counts: Counts = Counter()
        self.terrain: Terrain | None = None

    def make(self, ports: Ports, settings: JoinSettings) -> JoinStrategy:
        self.terrain = Terrain(ports, settings, Homes(ports, settings).home)
        links = MarkedLinks(ports.links, self._on_arrival)
        return MAKERS[self._plan](replace(ports, links=links.of(0)), settings)

    def _on_arrival(self, message: Message, marked: Marked) -> None:
        assert self.terrain is not None
        source, target = message.source, message.target
        self.terrain.observe(
            source, target, hops=message.hops, on_air=message.bytes, body=marked.body_bytes
        )
        for part in (Part.FRAME, *parts(marked.body, source)):
            self.counts[source, target, part] += 1


def parts(body: object, source: int) -> Iterable[Part]:
    """What the body of a message from `source` is made of."""
    match body:
        case ProbeRequest():
            return [Part.RESULT, *[Part.PARTNER] * body.found]
        case list():
            return report_parts(body)
        case Sent():
            forwarded = [Part.NODE] if body.reading.node != source else []
            return [Part.READING, Part.COUNT, *forwarded]
        case Moved():
            return [Part.STATE, *[Part.PLAIN] * len(body.readings)]
        case Note():
            return [Part.NOTE]
        case _:
            return [Part.READING]


def report_parts(reports: list[Report]) -> list[Part]:
    numbered = [report for report in reports if not report.plain]
    plain = [Part.PLAIN] * (len(reports) - len(numbered))
    number = [Part.NUMBER] if numbered else []
    return plain + number + [RECORDS[type(report.record)] for report in numbered]


@pytest.mark.parametrize(
    ("level", "plan"),
    [
        ("sets", Plan.SINK),
        ("sets", Plan.LEASES),
        ("sets", Plan.HEADS),
        ("sets", Plan.HOMES),
        ("results", Plan.SINK),
        ("sets", Plan.PLACES),
        ("results", Plan.HOMES),
        ("results", Plan.PLACES),
    ],
)
@pytest.mark.parametrize("values", [("0.0", "3", "hash"), ("1.0", "20", "scope")])
def test_model_knows_a_runs_bytes_within_one_percent(
    level: str,
    plan: Plan,
    values: tuple[str, str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    observer = Observer(plan)
    kind = StrategyKind("observed", Needs(sends_every_reading=False), observer.make)
    monkeypatch.setitem(STRATEGIES, "observed", kind)
    locality, domain, home = values
    settings = [
        "join.strategy=observed",
        f"join.answer={level}",
        f"join.home={home}",
        f"phenomenon.locality={locality}",
        f"phenomenon.domain={domain}",
        "duration_s=40.0",
    ]
    manifest = run_scenario(load_scenario("dwelling", settings), tmp_path / "run")
    traffic = manifest.counts["traffic"]
    data = sum(traffic[kind]["sent_bytes"] for kind in traffic if kind in DATA_KINDS)
    assert observer.terrain is not None
    assert data > 0
    assert observer.terrain.bytes(observer.counts) == pytest.approx(data, rel=0.01)


class Overheard(PlacedJoin):
    """`placed`, and what it is estimated to send, from the readings alone."""

    def __init__(self, ports: Ports, settings: JoinSettings) -> None:
        self._terrain = Terrain(ports, settings, Homes(ports, settings).home)
        links = MarkedLinks(ports.links, self._on_arrival).of(0)
        super().__init__(replace(ports, links=links), settings)
        self.estimates = Estimates(
            self._terrain,
            Rhythm(settings.window_us),
            window_us=settings.window_us,
            refresh_us=settings.reporting.refresh_us,
        )

    def submit(self, reading: Reading) -> None:
        super().submit(reading)
        self.estimates.reading(*reading)

    def _on_arrival(self, message: Message, marked: Marked) -> None:
        source, target, hops = message.source, message.target, message.hops
        body = marked.body_bytes
        self._terrain.observe(source, target, hops=hops, on_air=message.bytes, body=body)


@pytest.mark.parametrize("domain", [20, 500])
@pytest.mark.parametrize("dwell_s", [1.0, 30.0])
def test_what_placed_sends_follows_from_its_readings(
    domain: int, dwell_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Overheard] = []

    def make(ports: Ports, settings: JoinSettings) -> Overheard:
        made.append(Overheard(ports, settings))
        return made[-1]

    kind = StrategyKind("overheard", Needs(sends_every_reading=False), make)
    monkeypatch.setitem(STRATEGIES, "overheard", kind)
    settings = [
        "join.strategy=overheard",
        "join.answer=results",
        f"phenomenon.dwell_s={dwell_s}",
        f"phenomenon.domain={domain}",
        "duration_s=40.0",
    ]
    manifest = run_scenario(load_scenario("dwelling", settings), tmp_path / "run")
    traffic = manifest.counts["traffic"]
    data = sum(traffic[kind]["sent_bytes"] for kind in traffic if kind in DATA_KINDS)
    found = made[0].estimates.bytes(1 << 40)[Plan.PLACES]
    assert found == pytest.approx(data, rel=0.1)
