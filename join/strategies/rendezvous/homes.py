"""Homes of values: the mote at which all readings of a value meet.

After GHT, a geographic hash table (Ratnasamy et al., WSNA 2002): a value is hashed to a point in the field, and the mote
nearest to it is the value's home. Where the scenario knows the place that a value belongs to (its *scope*), the home is
there. Deviation: GHT routes by position (GPSR) and refreshes replicas around the home; here messages take the network's
own routes, every mote knows who is nearest, and what a home holds is lost with it.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b

from join.reading import Reading
from join.strategies.change.hold_rule import PRIOR_SHARE
from join.strategies.contract import JoinSettings, Point, Ports

_HASH_BYTES = 8
_HASH_RANGE = 256.0 ** (_HASH_BYTES // 2)


def hashed_place_m(value: int, field_m: Point) -> Point:
    """The point of the field that a value is hashed to."""
    digest = blake2b(str(value).encode(), digest_size=_HASH_BYTES).digest()
    half = _HASH_BYTES // 2
    x, y = int.from_bytes(digest[:half], "big"), int.from_bytes(digest[half:], "big")
    return x / _HASH_RANGE * field_m[0], y / _HASH_RANGE * field_m[1]


class Homes:
    """The home of every value: the live mote nearest to its place."""

    meets = True
    own = False
    going_on = PRIOR_SHARE

    def __init__(self, ports: Ports, settings: JoinSettings) -> None:
        self._alive = ports.links.alive
        self._motes_m: Sequence[Point] = settings.positions_m[:-1]
        self._field_m = settings.field_m
        self._places_m: Mapping[int, Point] = settings.places_m or {}
        self._homes: dict[int, int] = {}

    def site_of(self, reading: Reading) -> int:
        """The home of the reading's value; -1 if no mote is left."""
        return self.home(reading.value)

    def home(self, value: int) -> int:
        """The home of a value; -1 if no mote is left."""
        home = self._homes.get(value)
        if home is None or not self._alive[home]:
            home = self._homes[value] = self._find(value)
        return home

    def on_down(self, node: int) -> None:
        """Do nothing: a home that is down is noticed when it is asked for."""

    def on_lost(self, node: int) -> None:
        """Do nothing: the next reading goes to the new home."""

    def _find(self, value: int) -> int:
        place_m = self._places_m.get(value)
        if place_m is None:
            place_m = hashed_place_m(value, self._field_m)
        working = (mote for mote in range(len(self._motes_m)) if self._alive[mote])
        return min(working, key=lambda mote: _squared_m2(self._motes_m[mote], place_m), default=-1)


def _squared_m2(one_m: Point, other_m: Point) -> float:
    return (one_m[0] - other_m[0]) ** 2 + (one_m[1] - other_m[1]) ** 2
