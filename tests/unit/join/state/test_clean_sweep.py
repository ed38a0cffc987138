from join.state.clean_sweep import Record, Sweep, make_sweep
from join.windows import LastTuples, PerStream, Uniform


def record(number: int, stream: str, at_us: int) -> Record[int]:
    return (at_us, number, stream, "v")


def filled(sweep: Sweep[int], *arrivals: tuple[str, int]) -> Sweep[int]:
    for number, (stream, at_us) in enumerate(arrivals):
        assert not sweep.append(record(number, stream, at_us))
    return sweep


def test_a_record_stays_for_exactly_window_and_lateness() -> None:
    sweep = filled(make_sweep(Uniform(10), late_us=3), ("A", 5))
    assert not sweep.expire(18)
    assert list(sweep.expire(19)) == [record(0, "A", 5)]
    assert len(sweep) == 0


def test_a_record_at_the_edge_stays_when_earlier_ones_expire() -> None:
    sweep = filled(make_sweep(Uniform(10), late_us=3), ("A", 4), ("A", 5))
    assert list(sweep.expire(18)) == [record(0, "A", 4)]


def test_each_stream_s_records_stay_for_its_own_window_and_lateness() -> None:
    sweep = filled(make_sweep(PerStream({"A": 10, "B": 2}), late_us=3), ("A", 5), ("B", 5))
    assert not sweep.expire(10)
    assert list(sweep.expire(11)) == [record(1, "B", 5)]
    assert not sweep.expire(18)
    assert list(sweep.expire(19)) == [record(0, "A", 5)]


def test_a_late_record_stays_until_earlier_arrivals_are_dropped() -> None:
    sweep = filled(make_sweep(Uniform(10), late_us=3), ("A", 5), ("A", 3))
    assert not sweep.expire(18)
    assert len(sweep.expire(19)) == 2


def test_the_last_tuples_of_each_stream_stay() -> None:
    sweep = filled(make_sweep(LastTuples(2, {"B": 1}), late_us=0), ("A", 9), ("B", 8), ("A", 1))
    assert list(sweep.append(record(3, "A", 7))) == [record(0, "A", 9)]
    assert list(sweep.append(record(4, "B", 7))) == [record(1, "B", 8)]
    assert not sweep.expire(10**9)
    assert len(sweep) == 3
