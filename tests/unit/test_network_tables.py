from pathlib import Path

import pytest
from pydantic import BaseModel

from scenarios import network_tables
from scenarios.schema import Clustering, Query

DOCS = Path(__file__).parents[2] / "docs"
DOCUMENT = (DOCS / "SCENARIOS.md").read_text() + (DOCS / "CLUSTERING.md").read_text()
TABLES = [
    network_tables.Motes,
    network_tables.Sink,
    network_tables.Radio,
    network_tables.ShadowingTable,
    network_tables.CsmaTable,
    network_tables.TdmaTable,
    network_tables.Routing,
    network_tables.Faults,
    network_tables.Bursts,
    network_tables.Crashes,
    network_tables.Span,
    network_tables.Outage,
    Clustering,
    Query,
]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_every_key_is_documented(table: type[BaseModel]) -> None:
    for name, field in table.model_fields.items():
        words = (f"`{name}`", f".{name}]`", f"{name},", f", {name} }}`")
        assert any(word in DOCUMENT for word in words), name
        choices = getattr(field.annotation, "__args__", ())
        for choice in choices:
            if isinstance(choice, str):
                assert f"`{choice}`" in DOCUMENT, (name, choice)
