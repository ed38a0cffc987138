"""The query for the variable-arity join over all sensors: `SELECT * FROM SENSORS JOIN ON gas WINDOW 60 s`."""

from dataclasses import dataclass

from join.dsms.language.errors import QueryError
from join.dsms.language.parse import parse
from join.dsms.language.syntax import Sensors

FORM = "SELECT * FROM SENSORS JOIN ON <attribute> WINDOW <number> <ms|s|min|h>"


@dataclass(frozen=True, slots=True)
class SensorsQuery:
    """A variable-arity join over all sensors."""

    attribute: str
    window_us: int


class QuerySyntaxError(ValueError):
    """A query that is not of this form; the message gives line, column and what was expected."""


def parse_sensors_query(sql: str) -> SensorsQuery:
    """Parse `sql`.

    Raises:
        QuerySyntaxError: it is not a query of this form.
    """
    try:
        query = parse(sql)
    except QueryError as error:
        raise QuerySyntaxError(f"{error.faults[0]}; here expected {FORM}") from None
    others = (query.items, query.where, query.group_by, query.pairs, query.either_way_at)
    is_plain = not (any(others) or query.distinct or query.explain)
    if not isinstance(query.origin, Sensors) or query.window_us is None or not is_plain:
        raise QuerySyntaxError(f"this is another kind of query; expected {FORM}")
    return SensorsQuery(query.origin.attribute, query.window_us)
