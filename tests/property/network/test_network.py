"""For any traffic over any network, messages, energy and time are accounted for."""

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from sim.trace.tables import SINK, DropReason
from tests.support.networks import KINDS, Account

MOTES = 12
SMALL = [
    f"motes.count={MOTES}",
    "field.width_m=60.0",
    "field.height_m=60.0",
    "sink.x_m=30.0",
    "sink.y_m=-5.0",
    "radio.range_m=45.0",
]
MULTI_HOP = ["routing.heads=multi-hop", "routing.sink=multi-hop"]

NETWORKS = {
    "ideal": [],
    "ideal, data sheet": ["motes.profile=micaz", "radio.overhearing=true"],
    "ideal, duty cycle": ["motes.profile=telosb", "radio.duty_cycle=0.1"],
    "ideal, shadowing": ["motes.profile=micaz", "radio.channel=shadowing"],
    "csma": ["radio.mac=csma"],
    "csma, no acknowledgements": [
        "radio.mac=csma",
        "radio.csma.acknowledge=false",
        "radio.queue=2",
    ],
    "csma, telosb": ["radio.mac=csma", "motes.profile=telosb", "radio.overhearing=true"],
    "csma, mica2 fragments": ["radio.mac=csma", "motes.profile=mica2", "radio.loss=0.1"],
    "csma, shadowing": ["radio.mac=csma", "motes.profile=telosb", "radio.channel=shadowing"],
    "csma, duty cycle": ["radio.mac=csma", "motes.profile=telosb", "radio.duty_cycle=0.2"],
    "tdma": ["radio.mac=tdma", "motes.profile=micaz", "radio.queue=3"],
    "multi-hop": [*MULTI_HOP, "radio.range_m=30.0", "clustering.range_m=20.0"],
    "multi-hop, csma": [
        *MULTI_HOP,
        "radio.mac=csma",
        "radio.range_m=30.0",
        "clustering.range_m=20.0",
        "routing.metric=energy",
    ],
    "multi-hop, shadowing": [
        *MULTI_HOP,
        "radio.mac=csma",
        "motes.profile=telosb",
        "radio.channel=shadowing",
        "routing.metric=etx",
    ],
    "faults": [
        "faults.crashes={mean_up_s=2.0, mean_down_s=1.0}",
        "faults.jitter_ms=30.0",
        "faults.bursts={good_to_bad=0.2, bad_to_good=0.3}",
        "faults.sink_outages=[{from_s=1.0, until_s=2.0}]",
        "faults.added={count=3, from_s=0.5, until_s=3.0}",
        "faults.removed={count=3, from_s=0.5, until_s=3.0}",
    ],
    "lpl": ["radio.mac=lpl", "radio.wake_up_s=0.1"],
    "lpl, telosb": ["radio.mac=lpl", "motes.profile=telosb", "radio.overhearing=true"],
    "lpl, mica2 fragments": [
        "radio.mac=lpl",
        "motes.profile=mica2",
        "radio.loss=0.1",
        "radio.queue=3",
    ],
    "lpl, shadowing": ["radio.mac=lpl", "motes.profile=micaz", "radio.channel=shadowing"],
    "faults, lpl": [
        "radio.mac=lpl",
        "radio.wake_up_s=0.3",
        "motes.profile=telosb",
        *MULTI_HOP,
        "faults.crashes={mean_up_s=2.0, mean_down_s=1.0}",
        "faults.jitter_ms=3.0",
        "faults.sink_outages=[{from_s=0.1, until_s=0.3}, {from_s=0.5, until_s=2.0}]",
        "faults.removed={count=3, from_s=0.5, until_s=3.0}",
    ],
    "faults, csma": [
        "radio.mac=csma",
        *MULTI_HOP,
        "faults.crashes={mean_up_s=2.0, mean_down_s=1.0}",
        "faults.jitter_ms=3.0",
        "faults.sink_outages=[{from_s=1.0, until_s=2.0}]",
    ],
}

nodes = st.integers(-1, MOTES - 1)
sendings = st.lists(
    st.tuples(
        st.sampled_from(["unicast", "unicast", "announce", "drain", "settle"]),
        nodes,
        nodes,
        st.integers(0, 150),
        st.integers(0, 60_000),
    ),
    min_size=1,
    max_size=40,
)


@pytest.mark.parametrize("name", NETWORKS)
@given(script=sendings, battery_j=st.sampled_from([1e-4, 3e-3, 100.0]), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=15)
def test_every_message_and_every_joule_is_accounted_for(
    name: str, script: list[tuple[str, int, int, int, int]], battery_j: float, seed: int
) -> None:
    account = Account(*SMALL, f"motes.battery_j={battery_j}", *NETWORKS[name], seed=seed)
    network = account.network
    heads = [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8]
    network.membership.assign(heads, heads)
    at_us = 0
    for number, (action, source, target, size, gap_us) in enumerate(script):
        at_us += gap_us
        account.advance(at_us)
        match action:
            case "unicast" if source != target:
                account.send(KINDS[number % 2], source, target, size, at_us + size)
            case "announce" if source != SINK and account.ledger.alive[source]:
                listeners = [n for n in range(MOTES) if n != source]
                account.announce(source, listeners, size % 28, at_us)
            case "drain" if source != SINK and account.ledger.alive[source]:
                account.ledger.draw(source, account.ledger.cpu_j, battery_j / 2)
            case "settle" if number % 3 == 0:
                network.membership.begin_election()
                network.membership.assign([8] * 12, [8] * 12)
            case _:
                pass
    account.advance(at_us + (1_000 if seed % 2 else 10_000_000))
    account.check()


@pytest.mark.parametrize("mac", ["ideal", "csma", "tdma", "lpl"])
def test_adding_loss_never_raises_mean_deliveries(mac: str) -> None:
    delivered = []
    for loss in (0.0, 0.1, 0.3, 0.6):
        arrived = 0
        for seed in range(4):
            account = Account(*SMALL, f"radio.mac={mac}", f"radio.loss={loss}", seed=seed)
            for number in range(150):
                source, target = number % MOTES, (number + 5) % MOTES
                account.send("data", source, target, 20, number * 20_000)
            account.advance(5_000_000)
            account.check()
            arrived += account.arrived["data"]
        delivered.append(arrived)
    assert delivered == sorted(delivered, reverse=True)
    assert delivered[0] > delivered[-1]


@given(st.integers(0, 500), st.sampled_from(["hops", "distance", "energy"]), st.integers(0, 100))
@example(seed=3, metric="hops", size=20)
@settings(deadline=None, max_examples=30)
def test_the_energy_of_a_path_is_the_sum_of_its_hops(seed: int, metric: str, size: int) -> None:
    chosen = [*SMALL, "radio.range_m=25.0", "clustering.range_m=20.0", *MULTI_HOP]
    account = Account(*chosen, f"routing.metric={metric}", seed=seed)
    bytes_sent = account.send("data", 0, SINK, size, 0)
    account.advance(1_000_000)
    if account.lost["data", DropReason.UNREACHABLE]:
        assert account.network.routes is not None
        assert 0 in account.network.routes.cut_off()
        assert bytes_sent == 0
        return
    event(f"{len(account.network.air.log)} hops")
    hops_j = 0.0
    for _, _, source, target, hop_bytes, *_ in account.network.air.log:
        assert target is not None
        hops_j += hop_bytes * account.network.channel.transmit_j_per_byte(source, target)
        if target != SINK:
            hops_j += hop_bytes * account.profile.receive_j_per_byte
    spent_j = sum(account.ledger.spent_j(node) for node in range(MOTES))
    assert spent_j == pytest.approx(hops_j)
    assert bytes_sent == account.network.air.log[0][4]
    account.check()
