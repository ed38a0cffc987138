"""Figures, claims, stored verdicts and the generated page fit together, with nothing missing."""

import json
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from scenarios.reproduce.figure import Figure, Size
from scenarios.reproduce.page import page
from scenarios.reproduce.registry import PAPERS, all_claims, all_figures
from scenarios.reproduce.stored import best_verdict, stored_verdict

ROOT = Path(__file__).parents[4]
FIGURES = list(all_figures().values())


def test_names_are_unique() -> None:
    assert len(FIGURES) == sum(len(paper.figures) for paper in PAPERS)
    assert len(all_claims()) == sum(len(paper.claims) for paper in PAPERS)


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_claim_is_judged_once_or_has_a_reason_why_not(paper: object) -> None:
    judged = Counter(name for figure in paper.figures for name in figure.judges)  # type: ignore[attr-defined]
    claims = {claim.name: claim for claim in paper.claims}  # type: ignore[attr-defined]
    assert set(judged) <= set(claims)
    for name, claim in claims.items():
        assert judged[name] == (0 if claim.unjudged else 1), name
        assert claim.sentence.endswith("."), name


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_points_are_plain_and_different_and_measured_by_a_named_function(figure: Figure) -> None:
    module = import_module(figure.measure.__module__)
    assert getattr(module, figure.measure.__qualname__) is figure.measure
    for size in Size:
        points = figure.points(size)
        texts = [json.dumps(point, sort_keys=True) for point in points]
        assert points
        assert len(set(texts)) == len(texts)
        assert [json.loads(text) for text in texts] == list(points)
    assert len(figure.points(Size.QUICK)) <= len(figure.points(Size.FULL))


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_stored_verdicts_have_a_finding_for_every_claim_and_a_reason_where_it_fails(
    figure: Figure,
) -> None:
    assert stored_verdict(figure, Size.QUICK) is not None
    for size in Size:
        verdict = stored_verdict(figure, size)
        if verdict is None:
            continue
        assert (verdict.figure, verdict.size) == (figure.name, size)
        assert list(verdict.findings) == list(figure.judges)
        for name, finding in verdict.findings.items():
            assert finding.ours, name
            assert bool(finding.why) != finding.holds, name


def test_no_verdict_is_stored_for_a_figure_that_is_no_more() -> None:
    folder = ROOT / "scenarios/reproduce/verdicts"
    assert {file.stem for file in folder.glob("*/*.json")} <= set(all_figures())


def test_the_page_is_current_and_has_no_blank() -> None:
    text = page()
    document = (ROOT / "docs/REPRODUCTION.md").read_text(encoding="utf-8")
    assert document == text, "run `python -m scenarios.reproduce`"
    assert "not computed" not in text
    assert "never computed" not in text
    for claim in all_claims().values():
        assert claim.sentence.replace("|", "/") in text
    for figure in FIGURES:
        assert f"`{figure.name}`" in text
        assert best_verdict(figure) is not None
