from hypothesis import given
from hypothesis import strategies as st

from join.contract import Partner
from join.sink.answer import FIRST_ROOM, Census

members = st.tuples(
    st.integers(0, 3) | st.just(FIRST_ROOM) | st.just(5 * FIRST_ROOM), st.integers()
)
results = st.lists(st.lists(st.lists(members.filter(lambda m: abs(m[1]) < 1 << 60)).map(tuple)))


@given(results)
def test_a_census_is_that_of_a_set(results: list[list[tuple[Partner, ...]]]) -> None:
    census = Census()
    for partners in results:
        listed = [member for part in partners for member in part]
        sensors = {sensor for sensor, _ in listed}
        assert census.take(partners) == (len(sensors) < len(listed))
        assert census.sensors == len(sensors)
        assert census.oldest_us == min((at_us for _, at_us in listed), default=1 << 62)
