"""The queries of a scenario's sink: reads their tables, makes their engine, reports their errors."""

from collections.abc import Mapping, Sequence

from join.dsms.catalog import Catalog, Table
from join.dsms.engine import Engine
from join.dsms.language.errors import QueryError
from join.sink.queries import SinkQueries, sensors_schema
from join.sink.sensors_query import parse_sensors_query
from scenarios.files.functions import NOT_ALLOWED, load_function, module_file
from scenarios.files.queries import RecordedTable, TableChange
from scenarios.schema.load import LoadedScenario
from scenarios.wiring.site import read_input
from sim.errors import Fault, InputError, ScenarioError
from sim.kernel import Kernel
from sim.trace.recorder import Rows


def read_tables(loaded: LoadedScenario, inputs: dict[str, str]) -> tuple[RecordedTable, ...]:
    """The tables that the scenario's queries can name; digests of their files go to `inputs`.

    Raises:
        ScenarioError: a file cannot be read.
        InputError: a file has no table in it.
    """
    tables = []
    for name, path in loaded.scenario.tables.items():
        read_input(loaded, f"tables.{name}", path, inputs)
        tables.append(RecordedTable(name, loaded.base_dir / path))
    return tuple(tables)


def read_functions(loaded: LoadedScenario, inputs: dict[str, str]) -> None:
    """Digests of the modules beside the scenario whose functions its queries can call go to `inputs`.

    Raises:
        ScenarioError: functions are not allowed, or a file cannot be read.
    """
    refused = refused_functions(loaded.scenario.functions, allowed=loaded.allow_functions)
    if refused:
        raise ScenarioError(loaded.source, refused)
    for name, where in loaded.scenario.functions.items():
        path = module_file(where)
        if (loaded.base_dir / path).is_file():
            read_input(loaded, f"functions.{name}", path, inputs)


def refused_functions(functions: Mapping[str, str], *, allowed: bool) -> list[Fault]:
    """An error for each function of a scenario, unless they are allowed."""
    if allowed:
        return []
    return [Fault(f"functions.{name}", repr(at), NOT_ALLOWED) for name, at in functions.items()]


def build_engine(loaded: LoadedScenario, attribute: str, tables: Sequence[RecordedTable]) -> Engine:
    """The stream database with the queries of the sink.

    Raises:
        ScenarioError: queries cannot be run; lists every error of every query.
    """
    scenario = loaded.scenario
    _check_join(loaded, attribute)
    catalog = Catalog()
    catalog.add_stream(sensors_schema(attribute))
    for table in tables:
        catalog.add_table(Table(table.name, table.columns, table.initial))
    faults = []
    for name, where in scenario.functions.items():
        try:
            catalog.add_function(name, *load_function(where, loaded.base_dir))
        except InputError as fault:
            faults.append(Fault(f"functions.{name}", repr(where), str(fault)))
    if faults:
        raise ScenarioError(loaded.source, faults)
    engine = Engine(catalog, schedule=scenario.sink.schedule, state_limit=scenario.sink.state_limit)
    for query in scenario.sink_queries:
        try:
            engine.add_query(query.name, query.sql)
        except QueryError as fault:
            place = f"query[{scenario.query.index(query)}].sql"
            faults.append(Fault(place, "", str(fault)))
    if faults:
        raise ScenarioError(loaded.source, faults)
    return engine


def _check_join(loaded: LoadedScenario, attribute: str) -> None:
    """Raises ScenarioError if the query that `[join]` answers joins on something that is not sensed."""
    query = loaded.scenario.join_query
    if query is None:
        return
    asked = parse_sensors_query(query.sql).attribute
    if asked != attribute:
        place = f"query[{loaded.scenario.query.index(query)}].sql"
        expected = f"expected JOIN ON {attribute}, which is what motes sense"
        raise ScenarioError(loaded.source, [Fault(place, f"JOIN ON {asked}", expected)])


def build_sink_queries(
    engine: Engine,
    tables: Sequence[RecordedTable],
    kernel: Kernel,
    rows: Rows,
    positions_m: Sequence[tuple[float, float]],
) -> SinkQueries:
    """The running queries, with the changes of their tables scheduled."""
    queries = SinkQueries(engine, kernel, rows, positions_m)

    def change(named: tuple[str, TableChange]) -> None:
        name, (_, insert, delete) = named
        queries.site.change_table(name, insert=insert, delete=delete)

    for table in tables:
        for each in table.changes:
            kernel.call_at(max(each.at_us, 0), change, (table.name, each))
    return queries
