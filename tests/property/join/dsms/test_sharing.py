"""Queries that share joins and windows return exactly what each returns alone and unscheduled."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from join.dsms.catalog import Catalog, StreamSchema, Type
from join.dsms.changes import Row
from join.dsms.engine import Engine
from join.dsms.running_query import Output
from join.dsms.shared.virtual_cpu import CpuCosts

COLUMNS = {"k": Type.INTEGER, "v": Type.INTEGER, "at_us": Type.INTEGER}

FORMS = [
    "SELECT a.k, a.v, b.v FROM S a, T b WHERE a.k = b.k WINDOW {w} us",
    "SELECT x.v, y.k FROM T x, S y WHERE y.k = x.k AND x.v > 0 WINDOW {w} us",
    "SELECT COUNT(*), SUM(a.v) FROM S a, T b WHERE a.k = b.k AND a.v < b.v WINDOW {w} us",
    "SELECT a.k, MAX(b.v) FROM S a, T b WHERE b.k = a.k GROUP BY a.k WINDOW {w} us",
    "SELECT a.v FROM S a, T b WHERE a.v < b.v WINDOW {w} us",
    "SELECT b.v FROM T b, S a WHERE a.v < b.v AND a.k = 1 WINDOW {w} us",
    "SELECT DISTINCT a.k FROM S a, T b WINDOW {w} us",
    "SELECT a.v, b.v FROM S a, S b WHERE a.k = b.k WINDOW {w} us",
    "SELECT COUNT(*), MAX(a.v) FROM S b, S a WHERE a.k = b.k AND a.v < b.v WINDOW {w} us",
    "SELECT a.v, b.v FROM S a, S b WHERE a.v < b.v WINDOW {w} us",
    "SELECT a.v, b.k FROM S a, T b WHERE a.v >= 0 AND sqrt(a.v) = b.k WINDOW {w} us",
    "SELECT a.v, b.k FROM S a, T b WHERE a.v >= 0 AND sqrt(a.v) < b.k WINDOW {w} us",
    "SELECT COUNT(*) FROM S a, T b WHERE a.k = b.k AND a.v >= 0 AND sqrt(a.v) < b.v WINDOW {w} us",
    "SELECT k FROM S [PWINDOW v > 1 ON k]",
    "SELECT COUNT(*) FROM S z [PWINDOW z.v > 1 ON z.k]",
]

queries = st.lists(
    st.builds(lambda form, w: form.format(w=w), st.sampled_from(FORMS), st.integers(0, 6)),
    min_size=1,
    max_size=5,
)

arrivals = st.lists(
    st.tuples(
        st.sampled_from(["S", "S", "T", "T", None]),
        st.one_of(st.none(), st.integers(0, 2)),
        st.one_of(st.none(), st.integers(-1, 3)),
        st.sampled_from([0, 0, 1, 1, 2, 5]),
        st.sampled_from([0, 0, 0, 0, 1, 3, 8, -1, -4]),
    ),
    min_size=1,
    max_size=25,
)

Story = list[tuple[str | None, int | None, int | None, int, int]]
"""Stream (None: only time advances), key, value, how far time advances, how late the row is (below 0: it arrives
before its time)."""


def play(engine: Engine, story: Story, now_us: int, *, wakes: bool = False) -> list[Output]:
    """All outputs of the story; with `wakes`, time advances to every instant at which work is due.

    The wake-up of an instant comes after its arrivals.
    """
    outputs = []
    woken_us = now_us - 1
    for stream, k, v, wait_us, late_us in story:
        until_us = now_us + wait_us
        while wakes and (next_us := engine.next_us()) is not None and next_us < until_us:
            assert next_us > woken_us, "a wake-up that made no progress"
            now_us = woken_us = max(next_us, now_us)
            outputs += engine.advance(now_us)
        now_us = until_us
        at_us = now_us - late_us
        if stream is None:
            outputs += engine.advance(now_us)
        else:
            outputs += engine.arrive(stream, (k, v, at_us), at_us, now_us=now_us)
        assert all(output.at_us <= now_us for output in outputs)
    return outputs


def catalog() -> Catalog:
    known = Catalog()
    for stream in "ST":
        known.add_stream(StreamSchema(stream, COLUMNS))
    return known


def steps(outputs: list[Output]) -> list[tuple[int, Counter[tuple[str, Row]]]]:
    """The changes of each instant; results of one arrival have no order."""
    changes: list[tuple[int, Counter[tuple[str, Row]]]] = []
    for output in outputs:
        if not changes or changes[-1][0] != output.at_us:
            changes.append((output.at_us, Counter()))
        changes[-1][1][output.change.value, output.row] += 1
    return changes


def length_us(story: Story) -> int:
    return sum(wait_us for *_, wait_us, _ in story)


def of_query(outputs: list[Output], name: str) -> list[Output]:
    return [output for output in outputs if output.query == name]


@settings(deadline=None, max_examples=200)
@given(
    queries,
    arrivals,
    st.sampled_from(["lwo", "swf", "mqt"]),
    st.sampled_from([0, 400, 3000]),
    st.integers(0, 25),
    st.integers(0, 25),
    st.booleans(),
)
def test_results_do_not_depend_on_sharing_or_schedule(
    sqls: list[str],
    story: Story,
    schedule: str,
    cost_ns: int,
    comes_at: int,
    stays_for: int,
    wakes: bool,
) -> None:
    together = Engine(catalog(), schedule=schedule, costs=CpuCosts(cost_ns, cost_ns))
    for number, sql in enumerate(sqls[:-1]):
        together.add_query(str(number), sql)
    # The last query is added when the others are already running, and removed again.
    last = str(len(sqls) - 1)
    goes_at = comes_at + stays_for
    before, during, after = story[:comes_at], story[comes_at:goes_at], story[goes_at:]
    outputs = play(together, before, 0, wakes=wakes)
    together.add_query(last, sqls[-1])
    outputs += play(together, during, length_us(before), wakes=wakes)
    together.remove_query(last)
    outputs += play(together, after, length_us(before + during), wakes=wakes) + together.finish()
    for number, sql in enumerate(sqls):
        alone = Engine(catalog())
        if str(number) == last:
            play(alone, before, 0)
            alone.add_query(last, sql)
            expected = play(alone, during, length_us(before))
            expected += alone.advance(length_us(before + during))
        else:
            alone.add_query(str(number), sql)
            expected = play(alone, story, 0) + alone.finish()
        ours = of_query(outputs, str(number))
        assert steps(ours) == steps(expected), sql
        assert [o.at_us for o in ours] == sorted(o.at_us for o in ours)


@settings(deadline=None)
@given(
    queries, arrivals, st.sampled_from(["lwo", "swf", "mqt"]), st.sampled_from([0, 400, 3000, 9000])
)
def test_advancing_time_in_between_changes_neither_results_nor_response_times(
    sqls: list[str], story: Story, schedule: str, cost_ns: int
) -> None:
    lazy, woken = (
        Engine(catalog(), schedule=schedule, costs=CpuCosts(cost_ns, cost_ns)) for _ in range(2)
    )
    for number, sql in enumerate(sqls):
        lazy.add_query(str(number), sql)
        woken.add_query(str(number), sql)
    end: Story = [*story, (None, None, None, 10**6, 0)]
    late, early = play(lazy, end, 0), play(woken, end, 0, wakes=True)
    for number in range(len(sqls)):
        assert of_query(early, str(number)) == of_query(late, str(number))
    assert woken.responses() == lazy.responses()
    # After enough time, nothing is pending.
    assert woken.finish() == lazy.finish() == []
    assert woken.next_us() is None
