"""Three motes in a row, one hop apart, the sink one hop behind the last."""

from join.strategies.automatic.terrain import BYTES, NEIGHBOUR, Counts, Part
from sim.trace.tables import SINK

FRAME_BYTES = 10
HOME = 1
DEPTHS = {0: 3, 1: 2, 2: 1, SINK: 0}


class Row:
    """A terrain whose hops are known."""

    frame_bytes = FRAME_BYTES

    def home_of(self, value: int) -> int:
        del value
        return HOME

    def hops(self, source: int, target: int) -> float:
        return 1.0 if target == NEIGHBOUR else abs(DEPTHS[source] - DEPTHS[target])

    def bytes(self, counts: Counts) -> float:
        return sum(
            number * BYTES.get(part, FRAME_BYTES) * self.hops(source, target)
            for (source, target, part), number in counts.items()
        )


def message(*parts: Part) -> int:
    """Bytes of a message of these parts."""
    return FRAME_BYTES + sum(BYTES[part] for part in parts)
