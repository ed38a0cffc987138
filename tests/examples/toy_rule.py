"""A toy probing rule: each head is probed with an even chance, and nothing is learnt."""

import random
from collections.abc import Sequence

from join.strategies.snjoin_star.request import ProbeRequest
from join.strategies.snjoin_star.rules.contract import Note, RuleSettings
from join.strategies.snjoin_star.rules.notes import NoNotes
from join.strategies.snjoin_star.rules.registry import RuleKind, register


class CoinToss:
    """Probes half of the heads."""

    def __init__(self, settings: RuleSettings, rng: random.Random) -> None:
        del settings
        self._rng = rng

    def choose(self, request: ProbeRequest, heads: Sequence[int], now_us: int) -> tuple[int, ...]:
        del request, now_us
        return tuple(head for head in heads if self._rng.random() < 0.5)

    def learn(self, note: Note, now_us: int) -> None:
        """Without notes there is nothing to learn."""

    def forget(self, head: int) -> None:
        """Nothing is remembered of a head."""


register(RuleKind("coin-toss", CoinToss, lambda _: NoNotes()))
