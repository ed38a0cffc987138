"""Counters of the published operators, on inputs small enough to count by hand."""

import pytest

from join.contract import Arity, Occurrence, Stats
from join.operators.counted.tables import sorting_steps
from join.operators.registry import UnsupportedError, make_operator
from join.windows import LastTuples, Uniform


def counted(
    name: str, tuples: str, *, arity: Arity = Arity.COMPLETE, streams: str = "ABC"
) -> Stats:
    operator = make_operator(name, windows=Uniform(10), arity=arity, streams=streams, counted=True)
    for stream in tuples:
        operator.insert(Occurrence(stream, "gas", 0))
    return operator.stats


def test_choosing_costs_n_log_n() -> None:
    assert [sorting_steps(tables) for tables in (0, 1, 2, 3, 4, 8, 19)] == [0, 0, 2, 6, 8, 24, 95]


def test_mjoin_chooses_and_forms_partial_results_and_snjoin_does_neither() -> None:
    # The last tuple finds two A, then two B: 2 + 4 results. Each B before found no C, or two A and then no C.
    mjoin, snjoin = counted("mjoin", "AABBC"), counted("snjoin", "AABBC")
    assert (snjoin.hashes, snjoin.inserts, snjoin.choices, snjoin.formed) == (5, 5, 0, 4)
    assert (mjoin.hashes, mjoin.inserts, mjoin.choices) == (5, 5, 5 * 2)
    assert mjoin.formed >= 2 + 4
    assert (snjoin.probes, snjoin.comparisons) == (5, 4)


def test_a_tree_stores_its_partial_results() -> None:
    tree = counted("shj-tree", "AABBC")
    # Four AB are stored beside five tuples.
    assert (tree.inserts, tree.hashes, tree.held_peak) == (9, 9, 9)
    # Each B finds two A, C finds four AB.
    assert tree.formed == 2 + 2 + 4
    assert tree.comparisons == 2 + 2 + 4


def test_with_variable_arity_partial_results_count_once_each() -> None:
    streams = "ABCDE"
    tree, mjoin, snjoin = (
        counted(name, "EA", arity=Arity.VARIABLE, streams=streams)
        for name in ("xjoin-tree", "mjoin", "snjoin")
    )
    # E probes the left table of its level; A climbs all four levels above its own.
    assert (tree.probes, tree.formed, tree.inserts) == (5, 4, 6)
    assert (mjoin.choices, mjoin.formed) == (0, 8)
    assert (snjoin.probes, snjoin.formed) == (2, 1)


def test_periodic_cleaning_leaves_expired_tuples_to_be_compared() -> None:
    stats = {}
    for clean_every in (None, 100):
        operator = make_operator(
            "ripple",
            windows=Uniform(10),
            arity=Arity.COMPLETE,
            streams="AB",
            counted=True,
            clean_every=clean_every,
        )
        for number in range(300):
            operator.insert(Occurrence("AB"[number % 2], "gas", 5 * number))
        stats[clean_every] = operator.stats
    assert stats[None].formed == stats[100].formed == 299
    assert stats[None].comparisons == 299
    assert stats[100].comparisons > 10 * 299
    assert stats[None].held_peak < 5
    assert stats[100].held_peak >= 100


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("hw", {"clean_every": 10}, "hw cleans up as it joins"),
        ("ripple", {"clean_every": 10, "windows": LastTuples(3)}, "no periodic clean-up"),
        ("snjoin", {"clean_every": 10, "memory": 5}, "no periodic clean-up"),
        ("nlw", {"two_modes": True}, "use mw, few, few-hash"),
    ],
)
def test_options_that_an_operator_has_not_are_refused(
    name: str, options: dict[str, object], says: str
) -> None:
    given = {"windows": Uniform(1), "arity": Arity.COMPLETE, "streams": "AB", **options}
    with pytest.raises(UnsupportedError, match=says):
        make_operator(name, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("two_modes", "wanted"), [(False, [0, 0, 1, 1, 1, 1, 0]), (True, [0, 0, 1, 0, 0, 1, 2])]
)
def test_the_published_modes_wait_for_every_stream(two_modes: bool, wanted: list[int]) -> None:
    operator = make_operator(
        "few-hash",
        windows=Uniform(10),
        arity=Arity.COMPLETE,
        streams="ABC",
        two_modes=two_modes,
    )
    tuples = [("A", 0), ("B", 1), ("C", 2), ("A", 11), ("B", 12), ("C", 13)]
    # A11 joins B1 and C2, but lies after the period of A0: as published, it waits for the next of B and of C.
    counts = [len(operator.insert(Occurrence(s, 1, at_us))) for s, at_us in tuples]
    assert [*counts, len(list(operator.close()))] == wanted


def test_a_stream_added_to_the_published_modes_joins_what_came_before() -> None:
    operator = make_operator(
        "mw", windows=Uniform(10), arity=Arity.COMPLETE, streams="AB", late_us=50, two_modes=True
    )
    operator.insert(Occurrence("A", 1, 0))
    operator.insert(Occurrence("B", 1, 2))
    operator.add_stream("C")
    found = [result.latest() for result in operator.insert(Occurrence("C", 1, 4))]
    assert [[member.at_us for member in members] for members in found] == [[0, 2, 4]]


def test_a_tuple_older_than_its_stream_is_late_in_the_published_modes() -> None:
    operator = make_operator(
        "few", windows=Uniform(10), arity=Arity.COMPLETE, streams="AB", late_us=50, two_modes=True
    )
    for stream, at_us in (("A", 5), ("A", 4), ("B", 5)):
        operator.insert(Occurrence(stream, 1, at_us))
    assert operator.stats.late == 1
