"""IN and OUT predicates are rejected if, and only if, some value satisfies both."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from join.dsms.catalog import Catalog, StreamSchema, Type
from join.dsms.engine import Engine
from join.dsms.language.errors import QueryError

COMPARE = {
    "=": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}

VALUES = {
    Type.TEXT: ["".join(each) for size in range(5) for each in product("\0ab", repeat=size)],
    Type.INTEGER: range(-5, 6),
    Type.REAL: [quarter / 4 for quarter in range(-20, 21)],
}
"""One value for each interval that the predicates' constants can distinguish."""

CONSTANTS = {
    Type.TEXT: st.text("ab", max_size=3),
    Type.INTEGER: st.integers(-3, 3),
    Type.REAL: st.sampled_from([-1.5, -1.0, 0.0, 0.5, 1.0]),
}


@pytest.mark.parametrize("kind", list(VALUES))
@settings(max_examples=200, deadline=None)
@given(st.data())
def test_overlap_is_found_exactly_where_it_exists(kind: Type, data: st.DataObject) -> None:
    term = st.tuples(st.sampled_from(list(COMPARE)), CONSTANTS[kind])
    predicates = st.lists(term, min_size=1, max_size=2)
    enters, leaves = data.draw(predicates), data.draw(predicates)
    catalog = Catalog()
    catalog.add_stream(StreamSchema("S", {"x": kind, "at_us": Type.INTEGER}))
    text = [" AND ".join(f"x {op} {c!r}" for op, c in terms) for terms in (enters, leaves)]
    sql = f"SELECT x FROM S [PWINDOW IN {text[0]} OUT {text[1]} ON x]"
    both = enters + leaves
    witnesses = [v for v in VALUES[kind] if all(COMPARE[op](v, c) for op, c in both)]
    if not witnesses:
        Engine(catalog).explain(sql)
        return
    with pytest.raises(QueryError, match="IN and OUT overlap: x = "):
        Engine(catalog).explain(sql)
