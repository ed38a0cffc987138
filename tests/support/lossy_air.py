"""A medium for clustering elections that loses copies, silences nodes and records what arrived."""

from collections import Counter
from collections.abc import Callable, Mapping
from hashlib import blake2b

import numpy as np

from clustering.contract import Broadcast, Flags, Heard, Send, hear_all
from sim.trace.tables import SINK

Arrives = Callable[[str, int, int, int], bool]
"""Whether a copy arrives: message kind, how often its sender has sent that kind, source, target."""


def lossy(loss: float, seed: int) -> Arrives:
    """Loses each copy with probability `loss`, the same way however transmissions are grouped."""

    def arrives(kind: str, nth: int, source: int, target: int) -> bool:
        copy = f"{seed}/{kind}/{nth}/{source}/{target}".encode()
        draw = int.from_bytes(blake2b(copy, digest_size=8).digest())
        return draw >= loss * 2**64

    return arrives


class LossyAir:
    """Decides which copies arrive, for `run_with`, and records them."""

    def __init__(
        self,
        alive: Flags,
        arrives: Arrives,
        silent_from: Mapping[int, int] | None = None,
        awake_from: int | None = None,
    ) -> None:
        """Set up a medium.

        Args:
            alive: Which nodes take part.
            arrives: Which copies arrive.
            silent_from: By node: the number of the sending at which it dies.
            awake_from: The number of the sending from which on nodes that do not take part hear others; None: never.
        """
        self._alive = alive
        self._arrives = arrives
        self._silent_from = silent_from or {}
        self._awake_from = awake_from
        self._sent: Counter[tuple[str, int]] = Counter()
        self._sendings = 0
        self.delivered: set[tuple[str, int, int]] = set()
        """Kind, source and target of every copy that arrived."""

    def __call__(self, send: Send) -> Heard:
        senders = send.nodes.tolist()
        if isinstance(send, Broadcast):
            assert len(set(senders)) == len(senders), "a node announces twice in one interval"
        assert all(node == SINK or self._alive[node] for node in senders), "a dead node sends"
        for node in set(senders):
            self._sent[send.kind, node] += 1
        awake = self._awake_from is not None and self._sendings >= self._awake_from
        copies = hear_all(send, self._alive | awake)
        kept = [
            (source, target)
            for source, target in zip(copies.sources.tolist(), copies.targets.tolist(), strict=True)
            if not self.is_silent(source)
            and not self.is_silent(target)
            and self._arrives(send.kind, self._sent[send.kind, source], source, target)
        ]
        self._sendings += 1
        self.delivered.update((send.kind, source, target) for source, target in kept)
        sources, targets = zip(*kept, strict=True) if kept else ((), ())
        return Heard(np.array(sources, dtype=np.int64), np.array(targets, dtype=np.int64))

    def is_silent(self, node: int) -> bool:
        """Whether `node` has died by now."""
        return self._sendings >= self._silent_from.get(node, self._sendings + 1)
