from analysis.metrics.document import formula, page
from analysis.metrics.registry import METRICS
from tests.support.places import DOCS


def test_the_page_is_what_the_declarations_give() -> None:
    assert (DOCS / "METRICS.md").read_text() == page(), (
        "run python -m analysis.metrics.document > docs/METRICS.md"
    )


def test_a_formula_names_what_goes_into_it() -> None:
    assert formula(METRICS["probes_per_reading"]) == "`probes.heads_probed` / `probes.readings`"
    for metric in METRICS.values():
        assert "{" not in formula(metric)
