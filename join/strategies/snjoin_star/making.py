"""Makes SNJoin*, its oracle and the distributed MJoin: the same driver with other heads and rules."""

from join.strategies.contract import JoinSettings, Ports
from join.strategies.snjoin_star.chain import Chain
from join.strategies.snjoin_star.driver import InNetworkJoin
from join.strategies.snjoin_star.fan_out import FanOut
from join.strategies.snjoin_star.forwarding import Forwarding
from join.strategies.snjoin_star.head import ClusterHead, HeadSettings, MJoinHead
from join.strategies.snjoin_star.heads import Heads
from join.strategies.snjoin_star.probing_order import ProbingOrder, Tours
from join.strategies.snjoin_star.rules.notes import NoNotes, NoteWriter
from join.strategies.snjoin_star.rules.registry import RULES
from join.strategies.snjoin_star.rules.without_learning import OracleProbing
from join.strategies.snjoin_star.tactic import ProbingTactic


def snjoin_star(ports: Ports, settings: JoinSettings) -> InNetworkJoin:
    """SNJoin* with the probing rule that the settings name."""
    rule = RULES[settings.probing.feedback]
    head_settings = _head_settings(settings)

    def new_head(_: Heads, node: int) -> ClusterHead:
        rng = settings.streams.scalar("join.selection", node)
        return ClusterHead(node, rule.make(settings.probing.rule, rng), head_settings)

    return _in_network(ports, settings, Heads(new_head), rule.notes(settings.probing.rule))


def oracle(ports: Ports, settings: JoinSettings) -> InNetworkJoin:
    """SNJoin* that probes exactly the heads that hold partners: the lower bound of every rule.

    It chooses when a request is sent: readings that are stamped before the request's may still be on their way to
    their heads' tables when its own reading is taken.
    """
    head_settings = _head_settings(settings)

    def new_head(heads: Heads, node: int) -> ClusterHead:
        return ClusterHead(node, OracleProbing(heads.would_match), head_settings)

    return _in_network(ports, settings, Heads(new_head, choose_late=True), NoNotes())


def distributed_mjoin(ports: Ports, settings: JoinSettings) -> InNetworkJoin:
    """The distributed MJoin (SNJoin §7.3)."""
    head_settings = _head_settings(settings)
    return _in_network(
        ports, settings, Heads(lambda _, node: MJoinHead(node, head_settings)), NoNotes()
    )


def _head_settings(settings: JoinSettings) -> HeadSettings:
    return HeadSettings(
        settings.window_us, settings.late_us, settings.factorised, _probing_order(settings)
    )


def _probing_order(settings: JoinSettings) -> ProbingOrder | None:
    return Tours(settings.positions_m).order if settings.probing.tours else None


def _in_network(
    ports: Ports, settings: JoinSettings, heads: Heads, notes: NoteWriter
) -> InNetworkJoin:
    probing = settings.probing
    # A request that found nothing goes to the sink if somebody waits for its outcome.
    forwarding = Forwarding(
        ports, reports_all=notes.always or probing.retries > 0 or probing.fans_out
    )
    tactic: ProbingTactic = Chain(forwarding)
    if probing.fans_out:
        tactic = FanOut(ports, forwarding, timeout_us=probing.timeout_us, retries=probing.retries)
    order = _probing_order(settings)
    return InNetworkJoin(ports, settings, heads, notes, order, forwarding, tactic)
