"""The runs that goldens pin: each a shipped scenario with settings, short enough for a second of CPU.

Names begin with what a case is about. Files that settings name are made by `tests.golden.inputs`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# 60 motes whose readings all have a value, some of them their own place's: much happens in little time.
# Elections every 10 s, windows that readings leave, every table written.
_BUSY: Final = (
    "motes.count=60",
    "motes.interval_s=1.5",
    "radio.range_m=60.0",
    "clustering.range_m=40.0",
    "clustering.round_s=10.0",
    "join.window_s=4.0",
    "trace.messages=full",
    "trace.partners=true",
    "phenomenon.domain=60",
    "phenomenon.locality=0.5",
    "duration_s=18.0",
)
# Data-sheet radios: slower, and no further than their range.
_MICAZ: Final = (
    "motes.profile=micaz",
    "motes.battery_j=500.0",
    "motes.count=40",
    "motes.interval_s=4.0",
    "motes.start_s=12.0",
    "radio.range_m=80.0",
    "routing.heads=multi-hop",
    "routing.sink=multi-hop",
    "clustering.round_s=0.0",
    "duration_s=30.0",
)
_SHADOWING: Final = (*_MICAZ, "radio.channel=shadowing", "radio.shadowing.path_loss_db=40.0")
_CSMA: Final = (*_MICAZ, "radio.mac=csma", "motes.start_s=20.0", "duration_s=40.0")
# Broadcasts take a tenth of a second, and elections accordingly long.
_LPL: Final = (
    *_MICAZ,
    "motes.profile=telosb",
    "radio.mac=lpl",
    "radio.wake_up_s=0.1",
    "motes.start_s=50.0",
    "duration_s=70.0",
)
_FEW: Final = (
    "motes.count=4",
    "phenomenon.domain=3",
    "phenomenon.skew_max=1",
    "phenomenon.locality=0.0",
)
# Values that motes have again and again, so that they stay.
_FEW_VALUES: Final = ("phenomenon.domain=3", "phenomenon.locality=0.5")
_CENTRAL: Final = ("join.strategy=centralised",)
_CRASHES: Final = "faults.crashes={mean_up_s=30.0, mean_down_s=6.0}"
_GAS: Final = ("motes.count=200", "duration_s=45.0", "clustering.round_s=20.0")
_NO_NOISE: Final = (
    "phenomenon.sensor={noise_share=0.0, noise_floor_share=0.0, rise_s=0.0, decay_s=0.0}"
)
_INSTANT: Final = (
    '{release="instant", mass_g=3000.0, x_m=60.0, y_m=90.0, height_m=2.0, radius_m=3.0}'
)
_CHLORINE: Final = '{gas="chlorine", x_m=60.0, y_m=90.0, start_s=6.0, rate_g_per_s=4.0, duration_s=8.0, releases=2, pause_s=6.0}'


@dataclass(frozen=True, slots=True)
class Case:
    """One run."""

    name: str
    scenario: str
    settings: tuple[str, ...]

    def arguments(self, *, seed: int, out: str) -> list[str]:
        """The command line."""
        settings = [word for setting in self.settings for word in ("--set", setting)]
        if any(setting.startswith("functions=") for setting in self.settings):
            settings.append("--allow-functions")
        return ["run", self.scenario, "--seed", str(seed), "--out", out, *settings]


def _busy(name: str, *settings: str) -> Case:
    return Case(name, "snjoin-zipf", (*_BUSY, *settings))


def _shipped() -> Iterator[Case]:
    """Every scenario that ships, up to where what it is about has happened."""
    yield Case("shipped-gas-cloud", "gas-cloud", ("duration_s=45.0",))
    yield Case("shipped-gas-cloud-802154", "gas-cloud-802154", ("duration_s=45.0",))
    yield Case("shipped-gas-cloud-small", "gas-cloud-small", ("duration_s=90.0",))
    yield Case("shipped-two-leaks", "two-leaks", ("duration_s=115.0", "motes.count=250"))
    yield Case("shipped-wind-shift", "wind-shift", ("duration_s=170.0", "motes.count=150"))
    yield Case("shipped-barrier", "barrier", ("duration_s=110.0", "motes.count=200"))
    yield Case("shipped-tracking", "tracking", ("duration_s=40.0",))
    yield Case("shipped-churn", "churn", ("duration_s=70.0",))
    yield Case("shipped-data-centre", "data-centre", ("duration_s=130.0",))
    yield Case("shipped-snjoin-zipf", "snjoin-zipf", ("duration_s=10.0",))
    yield Case("shipped-overload", "overload", ("duration_s=12.0",))
    yield Case("shipped-lifetime", "lifetime", ("duration_s=90.0", "motes.count=100"))
    sets = ("join.answer=sets", "join.strategy=change")
    yield Case("shipped-wide-gas", "wide-gas", ("duration_s=60.0", *sets))
    yield Case("shipped-field-gas", "field-gas", ("duration_s=25.0", "motes.count=800", *sets))
    scope = ("join.answer=sets", "join.strategy=rendezvous", "join.home=scope")
    yield Case("shipped-rare-local", "rare-local", ("duration_s=16.0", *scope))
    yield Case("shipped-corridor", "corridor", ("duration_s=12.0", *scope))
    yield Case("shipped-perimeter", "perimeter", ("duration_s=20.0", *scope))
    yield Case("shipped-dwelling", "dwelling", ("duration_s=30.0",))
    # The recordings of these two do not ship; ours have the same form.
    yield Case("shipped-replay-gas", "replay-gas", ("phenomenon.file=room.csv", "duration_s=40.0"))
    lab = ("motes.positions=positions.txt", "radio.links=links.txt", "motes.count=18")
    yield Case("shipped-intel-lab", "intel-lab", (*lab, "duration_s=40.0"))


def _strategies() -> Iterator[Case]:
    for strategy in ("centralised", "snjoin-star", "distributed-mjoin", "oracle"):
        chosen = f"join.strategy={strategy}"
        yield _busy(f"strategy-{strategy}", chosen)
        yield _busy(f"strategy-{strategy}-factorised", chosen, "join.form=factorised")
        yield _busy(
            f"strategy-{strategy}-complete",
            chosen,
            "join.arity=complete",
            "join.feedback=off",
            *_FEW,
        )
        yield _busy(f"strategy-{strategy}-loss", chosen, "radio.loss=0.1")
        yield _busy(
            f"strategy-{strategy}-multi-hop",
            chosen,
            "routing.heads=multi-hop",
            "routing.sink=multi-hop",
        )
        yield _busy(f"strategy-{strategy}-csma", chosen, *_CSMA)
        yield _busy(f"strategy-{strategy}-crashes", chosen, _CRASHES)
    yield from _answer_levels()
    yield from _rivals()
    yield from _automatic()
    for operator in ("mjoin", "xjoin-tree", "shj-tree", "ripple"):
        chosen = f"join.operator={operator}"
        yield _busy(f"operator-{operator}", *_CENTRAL, chosen, "sink.cpu_speed=0.01")
        yield _busy(
            f"operator-{operator}-complete",
            *(*_CENTRAL, chosen, "sink.cpu_speed=0.01", "join.arity=complete", *_FEW),
        )
    yield _busy("operator-slow-sink", *_CENTRAL, "sink.cpu_speed=0.0005", "join.queue=20")


def _rivals() -> Iterator[Case]:
    """The strategies of the literature: each alone, below results over several hops, and on a radio that fails."""
    hops = ("routing.heads=multi-hop", "routing.sink=multi-hop")
    options = {
        "perpendicular": ("join.cell_m=35.0",),
        "two-phase": ("join.delay_s=0.5", "join.records=compact"),
        "placed": (),
    }
    for strategy, varied in options.items():
        chosen = f"join.strategy={strategy}"
        yield _busy(strategy, chosen)
        yield _busy(f"{strategy}-sets", chosen, *hops, *varied, "join.answer=sets")
        yield _busy(f"{strategy}-crashes", chosen, *_CSMA, _CRASHES)


def _automatic() -> Iterator[Case]:
    """Plans that are chosen, announced and switched, at each level, and on radios that fail."""
    chosen = ("join.strategy=automatic", "duration_s=30.0")
    hops = ("routing.heads=multi-hop", "routing.sink=multi-hop")
    for level in ("results", "sets", "occupancy", "count"):
        answer = (*chosen, f"join.answer={level}")
        yield _busy(f"automatic-{level}", *answer, *hops)
        yield _busy(f"automatic-{level}-scope", *answer, *hops, "join.home=scope")
    sets = (*chosen, "join.answer=sets", *_FEW_VALUES)
    yield _busy("automatic-csma", *sets, *_CSMA, "faults.clock_offset_ms=10.0")
    yield _busy("automatic-crashes", *sets, *hops, _CRASHES)
    yield _busy("automatic-loss", *sets, *hops, "radio.loss=0.1")
    yield _busy("automatic-packed", *sets, *hops, "join.delay_s=0.8", "join.records=compact")
    for strategy in ("centralised", "lease"):
        straight = (f"join.strategy={strategy}", "join.answer=sets", "join.path=straight", *hops)
        yield _busy(f"straight-{strategy}", *straight, *_FEW_VALUES)
        yield _busy(f"straight-{strategy}-packed", *straight, *_FEW_VALUES, "join.delay_s=0.8")
    yield _busy("straight-results", *_CENTRAL, "join.path=straight", *hops)


def _answer_levels() -> Iterator[Case]:
    """Strategies by what the sink must know, and what they have to cope with."""
    hops = ("routing.heads=multi-hop", "routing.sink=multi-hop")
    for strategy in ("centralised", "lease", "change", "rendezvous", "snjoin-star"):
        chosen = (f"join.strategy={strategy}", *_FEW_VALUES)
        for level in ("sets", "occupancy", "count"):
            yield _busy(f"answer-{level}-{strategy}", *chosen, f"join.answer={level}")
    for strategy in ("centralised", "lease", "change", "rendezvous"):
        sets = (f"join.strategy={strategy}", *_FEW_VALUES, "join.answer=sets")
        packed = (*hops, "join.delay_s=0.8", "join.records=compact")
        yield _busy(f"packed-{strategy}", *sets, *packed)
        yield _busy(f"packed-{strategy}-crashes", *sets, *packed, _CRASHES)
        yield _busy(f"sets-{strategy}-loss", *sets, "radio.loss=0.1")
        yield _busy(f"sets-{strategy}-csma", *sets, *_CSMA, "faults.clock_offset_ms=10.0")
    yield _busy("packed-results", *_CENTRAL, *hops, "join.delay_s=0.8", "join.records=compact")
    yield _busy(
        "sets-change-refresh",
        "join.strategy=change",
        "join.answer=sets",
        "join.refresh_s=1.5",
        *hops,
    )
    yield _busy(
        "sets-change-asleep",
        "join.strategy=change",
        "join.answer=sets",
        "radio.duty_cycle=0.2",
        "radio.wake_period_s=0.2",
        *hops,
    )
    by_motes = ("join.strategy=change", "join.reporters=motes", *_FEW_VALUES, *hops)
    yield _busy("motes-sets", *by_motes, "join.answer=sets")
    yield _busy("motes-sets-loss", *by_motes, "join.answer=sets", "radio.loss=0.02")
    yield _busy("motes-packed-crashes", *by_motes, "join.answer=sets", "join.delay_s=0.8", _CRASHES)
    yield _busy("motes-count", *by_motes, "join.answer=count", "join.records=compact")
    for home in ("hash", "scope"):
        homes = ("join.strategy=rendezvous", f"join.home={home}")
        yield _busy(f"rendezvous-{home}", *homes)
        yield _busy(f"rendezvous-{home}-crashes", *homes, *hops, _CRASHES)
        yield _busy(f"rendezvous-{home}-sets", *homes, *hops, "join.answer=sets")


def _probing() -> Iterator[Case]:
    for feedback in ("off", "with-initiator", "match-rate", "directory"):
        chosen = f"join.feedback={feedback}"
        yield _busy(f"feedback-{feedback}", chosen)
        yield _busy(f"feedback-{feedback}-fan-out", chosen, "join.probing=fan-out")
        yield _busy(
            f"feedback-{feedback}-tour", chosen, "join.order=tour", "routing.heads=multi-hop"
        )
        yield _busy(f"feedback-{feedback}-loss", chosen, "radio.loss=0.1", "join.retries=1")
    for target in (0.7, 0.95):
        chosen_target = ("join.feedback=directory", f"join.target_recall={target}")
        yield _busy(f"feedback-target-{target}", *chosen_target)
    yield _busy(
        "feedback-target-fan-out",
        "join.feedback=directory",
        "join.target_recall=0.8",
        "join.probing=fan-out",
    )
    for feedback in ("paper", "with-initiator"):
        for selection in ("bernoulli", "proportional"):
            for weights in ("contribution", "size"):
                yield _busy(
                    f"rule-{feedback}-{selection}-{weights}",
                    f"join.feedback={feedback}",
                    f"join.selection={selection}",
                    f"join.weights={weights}",
                    "join.exploration=0.1",
                    "join.buckets=8",
                )
    yield _busy("rule-base", "join.base_relevance=0.9")
    yield _busy("probing-fan-out", "join.probing=fan-out", "join.form=factorised")
    yield _busy(
        "probing-fan-out-loss",
        "join.probing=fan-out",
        "radio.loss=0.1",
        "join.retries=2",
        "join.timeout_s=0.6",
    )
    yield _busy(
        "probing-fan-out-complete",
        "join.probing=fan-out",
        "join.arity=complete",
        "join.feedback=off",
        *_FEW,
    )
    yield _busy("probing-tour", "join.order=tour")
    yield _busy("probing-retries", "radio.loss=0.15", "join.retries=2", "join.timeout_s=0.5")
    yield _busy("probing-never-given-up", "radio.loss=0.1", "join.timeout_s=0.0")
    yield _busy(
        "probing-slow-heads",
        "join.queue=3",
        "join.cpu_us={hash=900.0, insert=1100.0, probe=30000.0, form=900.0}",
    )
    yield _busy(
        "probing-slow-fan-out",
        "join.queue=3",
        "join.probing=fan-out",
        "join.cpu_us={hash=900.0, probe=30000.0}",
    )
    yield _busy("probing-late", "join.late_s=0.02", "faults.jitter_ms=80.0")


def _macs() -> Iterator[Case]:
    for profile in ("mica2", "micaz", "telosb", "mote.toml"):
        yield _busy(f"profile-{profile.removesuffix('.toml')}", *_MICAZ, f"motes.profile={profile}")
    lab = (
        "motes.positions=positions.txt",
        "radio.links=links.txt",
        "motes.count=18",
        "duration_s=30.0",
    )
    yield Case("profile-battery-mah", "intel-lab", (*lab, "motes.battery_mah=0.12"))
    yield _busy("mac-tdma-first-order", "radio.mac=tdma")
    yield _busy("mac-tdma", *_MICAZ, "radio.mac=tdma", "radio.tdma={slot_bytes=20, guard_ms=1.0}")
    yield _busy("mac-tdma-full", *_MICAZ, "radio.mac=tdma", "radio.queue=1", "motes.interval_s=0.2")
    yield _busy("mac-tdma-overhearing", *_MICAZ, "radio.mac=tdma", "radio.overhearing=true")
    yield _busy("mac-csma-dense", *_CSMA, "motes.interval_s=1.0", "radio.queue=4")
    yield _busy(
        "mac-csma-mica2", *_CSMA, "motes.profile=mica2", "motes.start_s=35.0", "duration_s=50.0"
    )
    yield _busy("mac-csma-no-acknowledgement", *_CSMA, "radio.csma.acknowledge=false")
    yield _busy(
        "mac-csma-keys",
        *_CSMA,
        "radio.csma={min_be=2, max_be=3, max_backoffs=1, retries=1}",
        "radio.loss=0.1",
    )
    yield _busy("mac-csma-overhearing", *_CSMA, "radio.overhearing=true")
    yield _busy("mac-csma-asleep", *_CSMA, "radio.duty_cycle=0.3", "radio.wake_period_s=0.5")
    yield _busy("mac-csma-shadowing", *_CSMA, *_SHADOWING[-2:])
    yield _busy(
        "mac-csma-first-order", "radio.mac=csma", "motes.interval_s=5.0", "motes.start_s=12.0"
    )
    yield _busy("mac-lpl", *_LPL)
    yield _busy("mac-lpl-centralised", *_LPL, *_CENTRAL, "radio.wake_up_s=0.05")
    yield _busy("mac-lpl-overhearing", *_LPL, *_CENTRAL, "radio.overhearing=true")
    yield _busy("mac-lpl-crashes", *_LPL, *_CENTRAL, _CRASHES, "radio.loss=0.1", "radio.queue=4")
    yield _busy("mac-lpl-deaths", *_LPL, *_CENTRAL, "motes.battery_j=0.35")
    yield _busy(
        "mac-lpl-rounds",
        *(*_LPL, "radio.wake_up_s=0.05", "clustering.round_s=30.0"),
        *("motes.start_s=25.0", "motes.interval_s=10.0", "duration_s=75.0"),
    )
    yield _busy(
        "mac-lpl-first-order",
        "radio.mac=lpl",
        "radio.wake_up_s=0.05",
        "motes.count=20",
        "motes.interval_s=3.0",
        "motes.start_s=20.0",
        "duration_s=30.0",
    )
    yield _busy(
        "mac-lpl-mica2",
        *_LPL,
        *_CENTRAL,
        "motes.profile=mica2",
        "motes.start_s=95.0",
        "duration_s=110.0",
    )
    yield _busy("mac-asleep", "radio.duty_cycle=0.2")
    yield _busy(
        "mac-asleep-micaz",
        *_MICAZ,
        "radio.duty_cycle=0.1",
        "radio.wake_period_s=0.7",
        "radio.overhearing=true",
    )
    yield _busy("mac-overhearing", "radio.overhearing=true")
    yield _busy(
        "mac-power",
        *_MICAZ,
        "radio.power_control=true",
        "radio.tx_dbm=-5.0",
        "radio.overhearing=true",
    )


def _channels() -> Iterator[Case]:
    for modulation in ("fsk-manchester", "fsk-nrz", "o-qpsk-ns3", "o-qpsk-tossim"):
        yield _busy(
            f"shadowing-{modulation}", *_SHADOWING, f"radio.shadowing.modulation={modulation}"
        )
    for hardware in ("low", "mica2"):
        yield _busy(
            f"shadowing-hardware-{hardware}", *_SHADOWING, f"radio.shadowing.hardware={hardware}"
        )
    yield _busy("shadowing-power", *_SHADOWING, "radio.power_control=true", "routing.metric=etx")
    keys = "{path_loss_db=42.0, exponent=2.8, sigma_db=6.0, noise_dbm=-99.0, cca_dbm=-75.0}"
    yield _busy(
        "shadowing-keys",
        *_CSMA,
        "radio.channel=shadowing",
        f"radio.shadowing={keys}",
        "radio.tx_dbm=-3.0",
    )
    links = (
        "motes.count=18",
        "motes.placement=file",
        "motes.positions=positions.txt",
        "radio.channel=links",
        "radio.links=links.txt",
        "radio.links_bad_lines=1",
    )
    yield _busy("links", *links)
    yield _busy(
        "links-etx",
        *links,
        "routing.heads=multi-hop",
        "routing.sink=multi-hop",
        "routing.metric=etx",
    )
    yield _busy(
        "links-csma",
        *_CSMA,
        *links,
        "radio.links=links-99.txt",
        "radio.links_sink=99",
        "routing.rate_least=0.5",
    )
    for metric in ("hops", "distance", "energy", "etx"):
        both = ("routing.heads=multi-hop", "routing.sink=multi-hop", f"routing.metric={metric}")
        yield _busy(f"routing-{metric}", *both, "motes.battery_j=0.5", "clustering.round_s=12.0")
    yield _busy("routing-heads", "routing.heads=multi-hop")
    yield _busy("routing-sink", "routing.sink=multi-hop", _CRASHES)
    yield _busy("routing-cut-off", *_MICAZ, "radio.range_m=52.0", _CRASHES)


def _faults() -> Iterator[Case]:
    yield _busy("faults-loss", "radio.loss=0.2")
    bursts = "faults.bursts={good_to_bad=0.05, bad_to_good=0.3, loss_good=0.01, loss_bad=0.8}"
    yield _busy("faults-bursts", bursts)
    yield _busy("faults-bursts-csma", *_CSMA, "faults.bursts={good_to_bad=0.1, bad_to_good=0.5}")
    yield _busy("faults-jitter", "faults.jitter_ms=40.0")
    yield _busy(
        "faults-crashes-for-good",
        "faults.crashes={mean_up_s=40.0}",
        "clustering.on_head_failure=wait",
    )
    yield _busy("faults-crashes-csma", *_CSMA, _CRASHES)
    yield _busy(
        "faults-crashes-tdma", *_MICAZ, "radio.mac=tdma", _CRASHES, "clustering.round_s=10.0"
    )
    yield _busy("faults-added", "faults.added={count=20, from_s=4.0, until_s=18.0}")
    yield _busy("faults-removed", "faults.removed={count=20, from_s=6.0, until_s=18.0}")
    outages = "faults.sink_outages=[{from_s=7.0, until_s=9.5}, {from_s=15.0, until_s=16.0}]"
    yield _busy("faults-sink-outages", outages)
    yield _busy("faults-sink-outages-centralised", *_CENTRAL, outages)
    yield _busy(
        "faults-sink-outages-csma", *_CSMA, "faults.sink_outages=[{from_s=25.0, until_s=30.0}]"
    )
    yield _busy("faults-clock-offset", "faults.clock_offset_ms=300.0")
    yield _busy("faults-clock-drift", "faults.clock_drift_ppm=5000.0", "join.feedback=directory")
    yield _busy(
        "faults-clocks-centralised", *_CENTRAL, "faults.clock_offset_ms=800.0", "join.late_s=0.5"
    )
    yield _busy("faults-deaths", "motes.battery_j=0.02")
    yield _busy("faults-deaths-idle", *_MICAZ, "motes.battery_j=1.2")
    churn = (
        "faults.added={count=15, from_s=4.0, until_s=18.0}",
        "faults.removed={count=15, from_s=4.0, until_s=18.0}",
    )
    yield _busy(
        "faults-everything",
        *(
            *churn,
            _CRASHES,
            bursts,
            outages,
            "faults.jitter_ms=20.0",
            "faults.clock_offset_ms=50.0",
        ),
        *("radio.loss=0.03", "motes.battery_j=0.05", "join.retries=1", "join.probing=fan-out"),
    )


def _clusterings() -> Iterator[Case]:
    def clustered(name: str, protocol: str, *settings: str) -> Case:
        return _busy(f"clustering-{name}", f"clustering.protocol={protocol}", *settings)

    for cost in ("degree", "max-degree"):
        yield clustered(f"heed-{cost}", "heed", f"clustering.cost={cost}")
    yield clustered("heed-few", "heed", "clustering.c_prob=0.3", "clustering.p_min=0.05")
    yield clustered("heed-changed", "heed", "clustering.tell_costs=changed", _CRASHES)
    yield clustered("heed-levels", "heed", "clustering.upper_ranges_m=[90.0, 160.0]")
    yield clustered("heed-levels-crashes", "heed", "clustering.upper_ranges_m=[100.0]", _CRASHES)
    yield clustered(
        "heed-levels-directory",
        "heed",
        "clustering.upper_ranges_m=[100.0]",
        "join.feedback=directory",
    )
    yield clustered("heed-csma", "heed", *_CSMA, "clustering.round_s=15.0")
    yield clustered("heed-tdma", "heed", *_MICAZ, "radio.mac=tdma", "clustering.round_s=10.0")
    yield clustered("heed-once", "heed", "clustering.round_s=0.0", _CRASHES)
    yield clustered(
        "heed-trigger",
        "heed",
        "clustering.round_s=0.0",
        "clustering.trigger_share=0.8",
        "motes.battery_j=0.06",
    )
    for lot in ("rotating", "energy"):
        worn = (
            "motes.battery_j=0.1",
            "clustering.expected_heads=8",
            "radio.range_m=200.0",
            "clustering.range_m=200.0",
        )
        yield clustered(f"leach-{lot}", "leach", f"clustering.lot={lot}", *worn)
    yield clustered("leach-near", "leach", "radio.loss=0.05")
    yield clustered("leach-csma", "leach", *_CSMA)
    for weight in ("energy", "degree", "number"):
        yield clustered(
            f"dca-{weight}", "dca", f"clustering.weight={weight}", "motes.battery_j=0.1"
        )
        yield clustered(
            f"max-min-{weight}", "max-min", f"clustering.weight={weight}", "motes.battery_j=0.1"
        )
    yield clustered("dca-loss", "dca", "radio.loss=0.1", _CRASHES)
    yield clustered("max-min-hops", "max-min", "clustering.hops_max=3", "clustering.range_m=30.0")
    yield clustered("max-min-crashes", "max-min", _CRASHES, "radio.loss=0.05")
    yield clustered("max-min-csma", "max-min", *_CSMA)
    yield clustered("max-min-tdma", "max-min", *_MICAZ, "radio.mac=tdma")
    yield clustered("max-min-centralised", "max-min", *_CENTRAL, "clustering.range_m=30.0")
    for head in ("energy", "centre", "rotation"):
        yield clustered(
            f"grid-{head}", "grid", f"clustering.cell_head={head}", "motes.battery_j=0.1"
        )
    yield clustered("k-means", "k-means")
    yield clustered(
        "k-means-heads", "k-means", "clustering.expected_heads=7", _CRASHES, "radio.loss=0.05"
    )
    yield clustered("k-means-multi-hop", "k-means", *_MICAZ, "clustering.round_s=10.0")
    yield clustered("none", "none", "motes.count=25")
    yield clustered("none-tdma", "none", *_MICAZ, "motes.count=15", "radio.mac=tdma")
    for protocol in ("heed", "max-min"):
        yield clustered(f"{protocol}-handover", protocol, "clustering.handover=move")
    yield clustered(
        "handover-directory",
        "heed",
        "clustering.handover=move",
        "join.feedback=directory",
        "radio.loss=0.05",
    )
    yield clustered(
        "handover-fan-out",
        "leach",
        "clustering.handover=move",
        "join.probing=fan-out",
        "motes.battery_j=0.1",
    )


def _fields() -> Iterator[Case]:
    yield _busy("field-grid", "motes.placement=grid", "motes.jitter=0.4")
    yield _busy(
        "field-clustered", "motes.placement=clustered", "motes.groups=4", "motes.spread_m=15.0"
    )
    yield _busy("field-poisson-disk", "motes.placement=poisson-disk", "motes.apart_m=12.0")
    yield _busy(
        "field-file", "motes.placement=file", "motes.positions=positions.txt", "motes.count=18"
    )
    yield _busy(
        "field-periodic", "motes.sampling=periodic", "motes.start_s=6.5", "motes.drain_s=3.0"
    )
    yield _busy(
        "field-shape", "field.width_m=400.0", "field.height_m=60.0", "sink={x_m=-20.0, y_m=90.0}"
    )
    yield _busy("trace-little", 'trace.tables=["results", "energy"]', "trace.energy_every_s=1.5")
    yield _busy("trace-no-members", "trace.partners=false", "trace.messages=off")


def _ties() -> Iterator[Case]:
    """Motes on an exact grid: equal distances, degrees and costs, so that the rules for ties decide."""
    grid = ("motes.placement=grid", "motes.count=64", "sink={x_m=100.0, y_m=-25.0}")
    multi_hop = ("routing.heads=multi-hop", "routing.sink=multi-hop")
    yield _busy("ties-tour", *grid, "join.order=tour", "join.feedback=off")
    yield _busy("ties-routing", *grid, *multi_hop, "routing.metric=distance", _CRASHES)
    # Hundreds of readings in a hundredth of a second: some leave the window a microsecond apart.
    fast = ("motes.count=6", "motes.interval_s=0.002", "join.window_s=0.004", "motes.start_s=5.0")
    once = ("phenomenon={kind='zipf', domain=1}", "duration_s=7.5", "trace.messages=off")
    yield _busy("ties-times", *_CENTRAL, *fast, *once)
    yield _busy("ties-csma", *_CSMA, *grid)
    for protocol in ("heed", "leach", "dca", "max-min", "k-means"):
        chosen = (f"clustering.protocol={protocol}", "clustering.weight=degree")
        yield _busy(f"ties-{protocol}", *grid, *chosen, "clustering.cost=degree")
    yield _busy("ties-grid", *grid, "clustering.protocol=grid", "clustering.cell_head=centre")


def _gas(name: str, *settings: str) -> Case:
    return Case(
        f"gas-{name}", "gas-cloud-small", (*_GAS, "phenomenon.source.0.start_s=5.0", *settings)
    )


def _phenomena() -> Iterator[Case]:
    for value in ("gas", "level", "gas-and-level"):
        yield _gas(
            f"value-{value}",
            f"phenomenon.value={value}",
            f"phenomenon.source=[{_INSTANT}, {_CHLORINE}]",
        )
    for coefficients in ("puff", "briggs-rural", "briggs-urban"):
        yield _gas(
            coefficients, f"phenomenon.coefficients={coefficients}", "phenomenon.stability=C"
        )
    for stability in "BDEF":
        yield _gas(
            f"stability-{stability}",
            f"phenomenon.stability={stability}",
            "phenomenon.source.0.rate_g_per_s=900.0",
        )
    yield _gas("default", "phenomenon={kind='gas-cloud'}")
    yield _gas("noiseless", _NO_NOISE)
    yield _gas(
        "sensor", "phenomenon.sensor={height_m=2.0, levels=6, level_ratio=1.5, hysteresis=0.3}"
    )
    yield _gas(
        "threshold",
        "phenomenon.gas=[{name='methane'}, {name='mist', threshold_g_per_m3=0.01}]",
        "phenomenon.source.0.gas=mist",
    )
    yield _gas("steps", "phenomenon.puff_every_s=0.7", "phenomenon.step_s=0.3")
    yield _gas(
        "walls",
        "phenomenon.barrier=[{from_m=[60.0, 70.0], to_m=[60.0, 110.0]}, {from_m=[80.0, 40.0], to_m=[80.0, 95.0]}]",
    )
    turns = "[{at_s=12.0, over_s=6.0, from_deg=200.0}, {at_s=20.0, speed_m_per_s=3.0}]"
    yield _gas(
        "wind",
        f"phenomenon.wind={{speed_m_per_s=2.0, from_deg=300.0, gust_share=0.3, gust_deg=20.0, gust_s=5.0, turn={turns}}}",
    )
    about = "[{at_s=10.0, over_s=8.0, from_deg=120.0}]"
    yield _gas("wind-about", f"phenomenon.wind={{from_deg=300.0, turn={about}}}")
    moving = ("motes.count=120", "duration_s=24.0", "clustering.round_s=10.0")
    path = "{points_m=[[20.0, 20.0], [80.0, 20.0], [80.0, 80.0]], speed_m_per_s=15.0, start_s=4.0, loop=true}"
    yield Case(
        "objects-loop",
        "tracking",
        (*moving, f"phenomenon.path=[{path}]", "phenomenon.objects=2", "phenomenon.range_m=30.0"),
    )
    yield Case(
        "objects-default",
        "tracking",
        (
            *moving,
            "phenomenon={kind='moving-objects', speed_m_per_s_min=4.0, speed_m_per_s_max=9.0, pause_s=1.0}",
        ),
    )
    yield Case(
        "objects-bursts",
        "tracking",
        (
            *moving,
            "phenomenon.burst={on_s=4.0, off_s=3.0, shape=1.3}",
            "phenomenon.missed_share=0.3",
        ),
    )
    racks = (
        "motes.count=96",
        "motes.interval_s=1.0",
        "duration_s=30.0",
        "clustering.round_s=15.0",
        "phenomenon.rack_rows=4",
    )
    failure = "phenomenon.failure=[{at_s=6.0, duration_s=12.0, rise_c=20.0, rise_percent=30.0, rise_s=3.0}]"
    yield Case("racks-alarm", "data-centre", (*racks, failure, "join.window_s=5.0"))
    steps = (
        "phenomenon.step_c=0.5",
        "phenomenon.step_percent=2.0",
        "phenomenon.noise_c=0.4",
        "phenomenon.load_s=20.0",
    )
    yield Case(
        "racks-reading",
        "data-centre",
        (*racks, failure, "phenomenon.value=reading", *steps, "join.window_s=3.0"),
    )
    warm = (
        "phenomenon.temperature_c=25.0",
        "phenomenon.humidity_percent=52.0",
        "phenomenon.alarm_c=26.0",
        "phenomenon.alarm_percent=55.0",
    )
    loads = (
        "phenomenon.load_c=2.0",
        "phenomenon.load_percent=5.0",
        "phenomenon.noise_percent=2.0",
        "phenomenon.racks_per_row=6",
    )
    yield Case("racks-warm", "data-centre", (*racks, failure, *warm, *loads, "join.window_s=4.0"))
    yield Case(
        "racks-bursts",
        "data-centre",
        (*racks, failure, "phenomenon.burst={on_s=3.0, off_s=2.0, together=true}"),
    )
    yield _busy(
        "zipf-permuted",
        "phenomenon.ranks=permuted",
        "phenomenon.skew_min=0",
        "phenomenon.skew_max=2",
    )
    yield _busy("zipf-local", "phenomenon.locality=1.0", "phenomenon.cell_m=70.0")
    yield _busy("zipf-dwell", "phenomenon.dwell_s=5.0")
    yield _busy("zipf-bursts", "phenomenon.burst={on_s=3.0, off_s=4.0}")
    yield _busy(
        "zipf-bursts-together", "phenomenon.burst={on_s=3.0, off_s=4.0, shape=2.0, together=true}"
    )
    yield from _replays()


def _replays() -> Iterator[Case]:
    def replay(name: str, motes: int, phenomenon: str, *settings: str) -> Case:
        recorded = (
            "motes.placement=recorded",
            f"motes.count={motes}",
            f"phenomenon={{kind='replay', {phenomenon}}}",
        )
        area = ("field.width_m=80.0", "field.height_m=30.0", "motes.interval_s=1.0")
        return _busy(f"replay-{name}", *recorded, *area, *settings)

    long = "file='readings.csv', delimiter=';', time_column='when', time_unit_s=0.001, node_column='mote', value_column='ppm'"
    places = "x_column='east', y_column='north'"
    yield replay(
        "long", 8, f"{long}, {places}, threshold=2.0, levels=2, level_ratio=1.5, hysteresis=0.0"
    )
    yield replay(
        "recorded",
        8,
        f"{long}, {places}, value='recorded', hold_s=4.0, attribute='ppm', start_s=3.0",
    )
    wide = "file='wide.csv', layout='wide', places_file='places.csv'"
    yield replay("wide", 6, f"{wide}, scale=2.0, threshold=0.5, speed=2.0, hold_s=2.5")
    yield replay(
        "columns",
        3,
        "file='wide.csv', layout='wide', node_columns=['n1', 'n3', 'n4'], threshold=0.3",
        "motes.placement=uniform",
    )
    yield replay(
        "prefix",
        6,
        "file='wide.csv', layout='wide', node_prefix='n', threshold=0.3",
        "motes.placement=grid",
    )


def _queries() -> Iterator[Case]:
    own = "{name='same', sql='SELECT * FROM SENSORS JOIN ON value WINDOW 4 s'}"
    yield _busy("query-network", f"query=[{own}]")
    counts = "{name='inside', placement='sink', sql='SELECT COUNT(DISTINCT node) FROM Sensors [RANGE 3 s]'}"
    groups = "{name='groups', placement='sink', sql='SELECT value, COUNT(*), AVG(x_m), MAX(node) FROM Sensors [RANGE 2 s] GROUP BY value'}"
    pairs = (
        "{name='pairs', placement='sink', sql='SELECT A.node, B.node FROM Sensors A, Sensors B WHERE A.value = B.value"
        " AND A.node < B.node AND distance(A.x_m, A.y_m, B.x_m, B.y_m) < 60 WINDOW 1 s'}"
    )
    wide = (
        "{name='wide', placement='sink', sql='SELECT COUNT(*) FROM Sensors A, Sensors B WHERE A.value = B.value"
        " AND A.node < B.node WINDOW 3 s'}"
    )
    few = ("phenomenon.locality=1.0", "motes.interval_s=3.0", "duration_s=20.0")
    for schedule in ("lwo", "swf", "mqt"):
        yield _busy(
            f"query-sink-{schedule}",
            *_CENTRAL,
            *few,
            f"sink.schedule={schedule}",
            f"query=[{own}, {pairs}, {wide}]",
        )
    yield _busy("query-sink-groups", *_CENTRAL, f"query=[{counts}, {groups}]")
    last = "{name='last', placement='sink', sql='SELECT node, value FROM Sensors [PWINDOW value < 9 ON node] WHERE node IN Watched'}"
    near = "{name='near', placement='sink', sql='SELECT A.node FROM Sensors A [ROWS 5], Sensors B [ROWS 3] WHERE near(A.value, B.value)'}"
    yield _busy(
        "query-sink-tables",
        *(*_CENTRAL, "tables={Watched='watched.csv'}", "functions={near='golden_functions:near'}"),
        *("sink.state_limit=6", f"query=[{last}, {near}]", "faults.jitter_ms=30.0"),
    )


CASES: Final = (
    *_shipped(),
    *_strategies(),
    *_probing(),
    *_macs(),
    *_channels(),
    *_faults(),
    *_clusterings(),
    *_fields(),
    *_ties(),
    *_phenomena(),
    *_queries(),
)
