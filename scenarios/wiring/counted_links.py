"""What an election's control messages cost, counted as they are sent, without simulating time."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from clustering.contract import Broadcast, Flags, Heard, Reals, Send, hear_all
from clustering.neighbourhood import Neighbourhoods
from network.radio.profile import Profile
from sim.trace.tables import SINK


class CountedAir:
    """Delivers an election's messages at once, losing some by chance, and adds up what they cost each mote.

    As on the simulated air, a broadcast costs its range and all live motes in that range, also those that it
    is not meant for; a unicast costs its distance and its target. The sink's energy is not counted. Unlike on the
    simulated air, listeners also pay for lost copies.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        positions_m: Reals,
        sink_m: tuple[float, float],
        neighbourhoods: Neighbourhoods,
        alive: Flags,
        loss: float,
        random: np.random.Generator,
    ) -> None:
        self._profile = profile
        self._sending = SendingCost(profile)
        self._points_m = np.concatenate([positions_m, [sink_m]])  # the sink's -1 is the last
        self._neighbourhoods = neighbourhoods
        self._alive = alive
        self._loss = loss
        self._random = random
        self.messages = 0
        self.bytes = 0
        self.spent_j: Reals = np.zeros(len(positions_m))
        """By each mote, sending and receiving."""

    @property
    def energy_j(self) -> float:
        """By all motes together."""
        return float(self.spent_j.sum())

    def __call__(self, send: Send) -> Heard:
        """Who hears `send`, for `run_with`."""
        heard = hear_all(send, self._alive)
        self._charge(send, heard)
        if not self._loss:
            return heard
        kept = self._random.random(len(heard.sources)) >= self._loss
        return Heard(heard.sources[kept], heard.targets[kept])

    def _charge(self, send: Send, heard: Heard) -> None:
        message_bytes = self._profile.on_air_bytes(send.body_bytes)
        self.messages += len(send.nodes)
        self.bytes += message_bytes * len(send.nodes)
        if isinstance(send, Broadcast):
            in_range = self._neighbourhoods.within(send.within.range_m)
            if send.within is not in_range:
                heard = hear_all(replace(send, within=in_range), self._alive)
            sent_j = np.full(
                len(send.nodes), self._profile.transmit_j_per_byte(send.within.range_m)
            )
        else:
            steps_m = self._points_m[send.targets] - self._points_m[send.nodes]
            sent_j = self._sending.j_per_byte(np.hypot(steps_m[:, 0], steps_m[:, 1]))
        from_motes, at_motes = send.nodes != SINK, heard.targets[heard.targets != SINK]
        np.add.at(self.spent_j, send.nodes[from_motes], message_bytes * sent_j[from_motes])
        copies = np.bincount(at_motes, minlength=len(self.spent_j))
        self.spent_j += message_bytes * self._profile.receive_j_per_byte * copies


class SendingCost:
    """The cost of sending one byte, computed once for each distance: motes do not move."""

    def __init__(self, profile: Profile) -> None:
        self._known = _Known(profile.transmit_j_per_byte)

    def j_per_byte(self, distances_m: Reals) -> Reals:
        """Joules for each of the distances."""
        joules = map(self._known.__getitem__, distances_m.tolist())
        return np.fromiter(joules, np.float64, len(distances_m))


class _Known(dict[float, float]):
    """A function's values, kept."""

    def __init__(self, function: Callable[[float], float]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, argument: float) -> float:
        value = self[argument] = self._function(argument)
        return value
