"""The probing rules by name: the part of each at heads, and its part at the sink. A new one calls `register`."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from join.strategies.snjoin_star.rules.contract import ProbingRule, RuleSettings
from join.strategies.snjoin_star.rules.directory import VALUES_PER_BUCKET, DirectoryProbing
from join.strategies.snjoin_star.rules.match_rate import MatchRates
from join.strategies.snjoin_star.rules.notes import (
    NOTE_TOLERANCE,
    DirectoryNotes,
    NoNotes,
    NoteEveryRequest,
    NoteWriter,
)
from join.strategies.snjoin_star.rules.recall_target import RecallTarget
from join.strategies.snjoin_star.rules.relevance import RelevanceMatrix, Selection, Weights
from join.strategies.snjoin_star.rules.without_learning import FullProbing


@dataclass(frozen=True, slots=True)
class RuleKind:
    """A probing rule that a scenario can name."""

    name: str
    make: Callable[[RuleSettings, random.Random], ProbingRule]
    """Makes its part at a head; all randomness comes from the generator given."""
    notes: Callable[[RuleSettings], NoteWriter]
    """Makes its part at the sink."""


RULES: dict[str, RuleKind] = {}
"""By the name that scenario files use."""


def register(kind: RuleKind) -> None:
    """Make a probing rule available to scenario files as `join.feedback = "NAME"`."""
    assert kind.name not in RULES, kind.name
    RULES[kind.name] = kind


def _relevance(*, with_initiator: bool) -> Callable[[RuleSettings, random.Random], ProbingRule]:
    def make(settings: RuleSettings, rng: random.Random) -> ProbingRule:
        return RelevanceMatrix(
            buckets=settings.buckets,
            with_initiator=with_initiator,
            selection=Selection(settings.selection),
            exploration=settings.exploration,
            base=settings.base_relevance,
            rng=rng,
        )

    return make


def _match_rates(settings: RuleSettings, rng: random.Random) -> ProbingRule:
    return MatchRates(buckets=settings.buckets, exploration=settings.exploration, rng=rng)


def _directory(settings: RuleSettings, rng: random.Random) -> ProbingRule:
    del rng
    return DirectoryProbing(
        buckets=settings.buckets,
        values_most=VALUES_PER_BUCKET * settings.buckets,
        target=_target(settings),
    )


def _directory_notes(settings: RuleSettings) -> NoteWriter:
    return DirectoryNotes(
        window_us=settings.window_us,
        tolerance=NOTE_TOLERANCE,
        buckets=settings.buckets,
        target=_target(settings),
    )


def _target(settings: RuleSettings) -> RecallTarget | None:
    recall = settings.target_recall
    return None if recall is None else RecallTarget(recall)


def _weighted_notes(settings: RuleSettings) -> NoteWriter:
    return NoteEveryRequest(Weights(settings.weights))


register(RuleKind("off", lambda _settings, _rng: FullProbing(), lambda _: NoNotes()))
register(RuleKind("paper", _relevance(with_initiator=False), _weighted_notes))
register(RuleKind("with-initiator", _relevance(with_initiator=True), _weighted_notes))
register(RuleKind("match-rate", _match_rates, _weighted_notes))
register(RuleKind("directory", _directory, _directory_notes))
