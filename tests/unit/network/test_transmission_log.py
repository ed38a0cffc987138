from hypothesis import given
from hypothesis import strategies as st

from network.transmission_log import LogRow, TransmissionLog
from sim.trace.tables import SINK, Outcome

ROWS = st.lists(
    st.tuples(
        st.integers(0, 1 << 50),
        st.sampled_from(["probe", "result", "head"]),
        st.integers(SINK, 100_000),
        st.none() | st.integers(SINK, 100_000),
        st.integers(0, 10_000),
        st.sampled_from([outcome.value for outcome in Outcome]),
        st.none() | st.integers(0, 1 << 50),
        st.integers(0, 1000),
        st.integers(0, 1000),
    ),
    max_size=50,
)


@given(ROWS, ROWS)
def test_rows_come_back_as_they_were_also_after_others_were_cleared(
    before: list[LogRow], rows: list[LogRow]
) -> None:
    log = TransmissionLog()
    for row in before:
        log.append(row)
    log.clear()
    for row in rows:
        log.append(row)
    assert list(log) == rows
    assert len(log) == len(rows)
    cells = [column.numbers.tolist() for column in log.columns().cells()]
    assert [len(column) for column in cells] == [len(rows)] * 9


def test_a_log_grows_beyond_its_first_room() -> None:
    log = TransmissionLog()
    for number in range(10_000):
        log.append((number, "probe", 1, 2, 30, Outcome.DELIVERED, number + 5, 1, 1))
    assert len(log) == 10_000
    assert [row[0] for row in log] == list(range(10_000))
