"""Every incremental operator against the same operator recomputed from scratch, under random changes."""

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction

from hypothesis import example, given, settings
from hypothesis import strategies as st

from join.dsms.changes import Batch, Delta, Row, net
from join.dsms.operators.aggregates import Average, Count, CountDistinct, Extreme, Sum
from join.dsms.operators.delta_join import DeltaJoin, JoinTree, no_key
from join.dsms.operators.distinct import Distinct
from join.dsms.operators.group_by import Aggregate, GroupBy
from join.dsms.operators.projection import Projection
from join.dsms.operators.selection import Selection, TableSelection

rows = st.tuples(st.integers(0, 2), st.one_of(st.none(), st.integers(-3, 3)))


@st.composite
def batches(draw: st.DrawFn, max_batches: int = 8) -> list[list[Delta]]:
    """Changes of a relation that starts empty: only existing rows are removed."""
    there: list[Row] = []
    history = []
    for _ in range(draw(st.integers(1, max_batches))):
        batch = []
        for _ in range(draw(st.integers(0, 3))):
            kind = draw(st.sampled_from("++u-"))
            old = new = None
            if kind != "+":
                if not there:
                    continue
                old = there.pop(draw(st.integers(0, len(there) - 1)))
            if kind != "-":
                new = draw(rows)
                there.append(new)
            batch.append(Delta(old, new))
        history.append(batch)
    return history


def applied(relation: Counter[Row], batch: Batch) -> None:
    """Apply the batch; a row that does not exist cannot be removed."""
    for old, new in batch:
        assert old is not None or new is not None
        if old is not None:
            assert relation[old] > 0, (old, relation)
            relation[old] -= 1
        if new is not None:
            relation[new] += 1
    for row in [row for row, count in relation.items() if not count]:
        del relation[row]


def check(
    history: list[list[Delta]],
    apply: Callable[[list[Delta]], Batch],
    recompute: Callable[[list[Row]], Iterable[Row]],
) -> None:
    there: Counter[Row] = Counter()
    answer: Counter[Row] = Counter()
    for batch in history:
        applied(there, batch)
        applied(answer, apply(batch))
        assert answer == Counter(recompute(list(there.elements())))


def is_odd(row: Row) -> bool:
    return row[1] is not None and row[1] % 2 == 1  # type: ignore[operator]


@settings(deadline=None)
@given(batches())
def test_selection(history: list[list[Delta]]) -> None:
    check(history, Selection(is_odd).apply, lambda there: filter(is_odd, there))


@settings(deadline=None)
@given(batches())
def test_projection(history: list[list[Delta]]) -> None:
    check(history, Projection(lambda row: row[1:]).apply, lambda there: (r[1:] for r in there))


@settings(deadline=None)
@given(batches())
def test_distinct(history: list[list[Delta]]) -> None:
    check(history, Distinct().apply, set)


@settings(deadline=None)
@given(batches())
@example([[Delta(None, (0, 1))], [Delta((0, 1), (1, 1)), Delta(None, (0, 1)), Delta((1, 1), None)]])
def test_netting_keeps_the_difference_only(history: list[list[Delta]]) -> None:
    check(history, net, lambda there: there)
    for batch in history:
        changes = [(old, new) for old, new in net(batch) if old != new]
        gone = {old for old, _ in changes if old is not None}
        come = {new for _, new in changes if new is not None}
        assert not gone & come, "a row was added and removed"


@settings(deadline=None)
@given(batches(), st.lists(st.sets(st.integers(-3, 3)), max_size=8))
def test_selection_by_a_table_that_changes(
    history: list[list[Delta]], tables: list[set[int]]
) -> None:
    table: set[int] = set()
    selection = TableSelection(lambda row: row[1] in table)
    there: Counter[Row] = Counter()
    answer: Counter[Row] = Counter()
    for number, batch in enumerate(history):
        if number < len(tables):
            table.clear()
            table.update(tables[number])
            applied(answer, selection.refresh())
        applied(there, batch)
        applied(answer, selection.apply(batch))
        assert answer == Counter(r for r in there.elements() if r[1] in table)


def argument(row: Row) -> int | None:
    value = row[1]
    assert value is None or isinstance(value, int)
    return value


AGGREGATES = [
    Aggregate(Count, lambda row: row),
    Aggregate(Count, argument),
    Aggregate(CountDistinct, argument),
    Aggregate(Sum, argument),
    Aggregate(Average, argument),
    Aggregate(lambda: Extreme(largest=False), argument),
    Aggregate(lambda: Extreme(largest=True), argument),
]


def aggregated(group: list[Row]) -> Row:
    values = [value for row in group if (value := argument(row)) is not None]
    some = bool(values)
    return (
        len(group),
        len(values),
        len(set(values)),
        sum(values) if some else None,
        sum(values) / len(values) if some else None,
        min(values) if some else None,
        max(values) if some else None,
    )


@settings(deadline=None)
@given(batches())
def test_group_by(history: list[list[Delta]]) -> None:
    def recompute(there: list[Row]) -> Iterable[Row]:
        for key in {row[0] for row in there}:
            yield (key, *aggregated([row for row in there if row[0] == key]))

    check(history, GroupBy(lambda row: row[:1], AGGREGATES).apply, recompute)


@settings(deadline=None)
@given(batches())
def test_aggregates_without_group(history: list[list[Delta]]) -> None:
    grouped = GroupBy(None, AGGREGATES)

    def apply(batch: list[Delta]) -> Batch:
        changes = grouped.apply(batch)
        assert len(changes) <= 1, "more than the state after the batch was shown"
        return changes

    check(history, apply, lambda there: [aggregated(there)])


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.data())
def test_sums_of_floats_accumulate_no_rounding_error(
    values: list[float], data: st.DataObject
) -> None:
    total, mean = Sum(), Average()
    for value in values:
        total.add(value)
        mean.add(value)
    kept = data.draw(st.integers(1, len(values)))
    for value in values[kept:]:
        total.remove(value)
        mean.remove(value)
    exact = sum(map(Fraction, values[:kept]), Fraction(0))
    assert total.result() == _rounded(exact)
    assert mean.result() == _rounded(exact / kept)


def _rounded(exact: Fraction) -> float | None:
    try:
        return float(exact)
    except OverflowError:
        return None


def null_free(row: Row) -> Row | None:
    return None if row[1] is None else (row[1],)


def near(row: Row) -> bool:
    return row[1] is not None and row[3] is not None and abs(row[1] - row[3]) <= 1  # type: ignore[operator]


@settings(deadline=None)
@given(batches(), batches(), st.booleans(), st.data())
def test_join_of_two_changing_relations(
    left: list[list[Delta]], right: list[list[Delta]], equi: bool, data: st.DataObject
) -> None:
    if equi:
        join = DeltaJoin(null_free, null_free, lambda row: row[0] != row[2])
    else:
        join = DeltaJoin(no_key, no_key, near)
    there: tuple[Counter[Row], Counter[Row]] = (Counter(), Counter())
    answer: Counter[Row] = Counter()
    while left or right:
        from_left = bool(left) and (not right or data.draw(st.booleans()))
        batch = (left if from_left else right).pop(0)
        applied(there[0 if from_left else 1], batch)
        applied(answer, (join.apply_left if from_left else join.apply_right)(batch))
        pairs = [a + b for a in there[0].elements() for b in there[1].elements()]
        if equi:
            kept = [r for r in pairs if r[1] is not None and r[1] == r[3] and r[0] != r[2]]
        else:
            kept = list(filter(near, pairs))
        assert answer == Counter(kept)


@settings(deadline=None)
@given(batches(6))
def test_a_relation_joined_with_itself_twice(history: list[list[Delta]]) -> None:
    tree = JoinTree([DeltaJoin(null_free, null_free), DeltaJoin(null_free, null_free)])

    def apply(batch: list[Delta]) -> Batch:
        return net([delta for place in range(3) for delta in tree.apply(place, batch)])

    def recompute(there: list[Row]) -> Iterable[Row]:
        some = [row for row in there if row[1] is not None]
        return (a + b + c for a in some for b in some for c in some if a[1] == b[1] == c[1])

    check(history, apply, recompute)
