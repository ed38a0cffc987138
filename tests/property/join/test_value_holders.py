"""Counted holders are those that a look at every sensor finds."""

from hypothesis import given
from hypothesis import strategies as st

from join.reading import Stamp
from join.strategies.snjoin_star.rules.value_holders import SLACK_US, Held, Holders, ValueHolders

UNIT_US = SLACK_US // 4


class EverySensor:
    """The same, by a look at every sensor."""

    def __init__(self) -> None:
        self.held: dict[int, dict[int, Held]] = {}

    def take(self, sensor: int, head: int, held: Held) -> None:
        at_heads = self.held.setdefault(sensor, {})
        if head not in at_heads or at_heads[head][1] < held[1]:
            at_heads[head] = held

    def holders(self, oldest_us: int, before: Stamp | None, origin: int | None) -> Holders:
        found: Holders = {}
        for sensor, at_heads in self.held.items():
            if sensor == origin:
                continue
            for head, held in sorted(at_heads.items(), key=lambda e: e[1][1], reverse=True):
                if held[0] >= oldest_us:
                    found[head] = found.get(head, 0) + 1
                if before is None or held[1] < before:
                    break
        return found

    def forget(self, before_us: int) -> None:
        for sensor, at_heads in list(self.held.items()):
            self.held[sensor] = {h: held for h, held in at_heads.items() if held[0] >= before_us}
            if not self.held[sensor]:
                del self.held[sensor]


SENSORS, HEADS, TIMES = st.integers(0, 5), st.integers(0, 2), st.integers(0, 40)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("take"), SENSORS, HEADS, TIMES),
        st.tuples(st.just("ask"), TIMES, st.none() | st.integers(0, 80), st.none() | SENSORS),
        st.tuples(st.just("forget"), TIMES, st.none(), st.none()),
    ),
    max_size=60,
)


@given(STEPS, st.permutations(range(61)))
def test_counts_are_those_of_every_sensor(
    steps: list[tuple[str, int, int | None, int | None]], stamps: list[int]
) -> None:
    counted, every = ValueHolders(), EverySensor()
    forgotten = 0
    for number, (what, first, second, third) in enumerate(steps):
        if what == "take":
            assert second is not None
            assert third is not None
            # Stamps mostly ascend, but readings that are handed over or come late have older ones.
            stamp = (number // 3 * 3 + stamps[number] % 5, second, number)
            for holders in (counted, every):
                holders.take(first, second, (third * UNIT_US, stamp))
        elif what == "ask":
            before = None if second is None else (second, 0, 0)
            asked = (first * UNIT_US, before, third)
            assert counted.holders(*asked) == every.holders(*asked), asked
        else:
            forgotten = max(forgotten, first)  # it never goes back
            for holders in (counted, every):
                holders.forget(forgotten * UNIT_US)
