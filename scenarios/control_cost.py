"""What an election's control messages cost, counted as they are sent, without simulating time."""

import numpy as np
from scipy.spatial import cKDTree

from clustering.contract import Broadcast, Flags, Heard, Nodes, Reals, Send, hear_all
from network.profile import Profile
from sim.records import SINK


class CountedAir:
    """Delivers an election's messages at once, losing some by chance, and adds up what they cost.

    Every message between motes is sent at the cluster range; one to or from the sink, which has power to
    spare, over the distance itself. All live motes in range pay to receive a broadcast, also those that it
    is not meant for; only its target pays for a unicast.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        positions_m: Reals,
        sink_m: tuple[float, float],
        range_m: float,
        alive: Flags,
        loss: float,
        random: np.random.Generator,
    ) -> None:
        self._profile = profile
        self._positions_m = positions_m
        self._sink_m = sink_m
        self._range_m = range_m
        self._alive = alive
        self._loss = loss
        self._random = random
        self._listeners: dict[float, Nodes] = {}
        self.messages = 0
        self.bytes = 0
        self.energy_j = 0.0

    def __call__(self, send: Send) -> Heard:
        """Who hears `send`, for `run_with`."""
        self._charge(send)
        heard = hear_all(send, self._alive)
        kept = self._random.random(len(heard.sources)) >= self._loss
        return Heard(heard.sources[kept], heard.targets[kept])

    def _charge(self, send: Send) -> None:
        message_bytes = send.body_bytes + self._profile.header_bytes
        if isinstance(send, Broadcast):
            sent_j = len(send.nodes) * self._profile.transmit_j_per_byte(send.within.range_m)
            receivers = int(self._listeners_within(send.within.range_m)[send.nodes].sum())
        else:
            sent_j = self._unicasts_j_per_byte(send.nodes, send.targets)
            receivers = int((send.targets != SINK).sum())
        self.messages += len(send.nodes)
        self.bytes += message_bytes * len(send.nodes)
        self.energy_j += message_bytes * (sent_j + receivers * self._profile.receive_j_per_byte)

    def _unicasts_j_per_byte(self, sources: Nodes, targets: Nodes) -> float:
        """What the motes among `sources` spend; the sink's own energy is not counted."""
        to_sink = sources[targets == SINK]
        steps_m = self._positions_m[to_sink] - np.array(self._sink_m)
        to_motes = int(((sources != SINK) & (targets != SINK)).sum())
        return to_motes * self._profile.transmit_j_per_byte(self._range_m) + sum(
            self._profile.transmit_j_per_byte(distance_m)
            for distance_m in np.hypot(steps_m[:, 0], steps_m[:, 1]).tolist()
        )

    def _listeners_within(self, range_m: float) -> Nodes:
        """How many live motes are in range of each mote."""
        if range_m not in self._listeners:
            tree = cKDTree(self._positions_m[self._alive])
            within = tree.query_ball_point(self._positions_m, range_m, return_length=True)
            self._listeners[range_m] = np.asarray(within, dtype=np.int64) - self._alive
        return self._listeners[range_m]
