"""`docs/REPRODUCTION.md`: every figure, claim, verdict and deviation, from the registry and the stored verdicts."""

from collections.abc import Iterator

from scenarios.reproduce.figure import Claim, Figure, Finding, Paper, Size
from scenarios.reproduce.outputs import Verdict
from scenarios.reproduce.registry import PAPERS
from scenarios.reproduce.stored import best_verdict

_HEAD = """\
# Reproduction of the papers' evaluations

This page is generated: `python -m scenarios.reproduce` writes it from the stored verdicts, and a test checks that it is current.
`motejoin reproduce FIGURE` computes a figure, `motejoin reproduce` all of them, `--quick` all at a reduced size. Each writes
a picture, the numbers as CSV and its verdict as JSON. Verdicts are computed from the numbers; nobody typed them.

Claims are the comparative sentences of the papers' evaluations, in our own words. They were listed before any of these experiments
was run. Delays, drops and output rates of a loaded engine come from a virtual CPU with stated costs per operation, so that
results are the same on every machine. A verdict marked *quick* was computed at the reduced size only.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *_summary(), *(line for paper in PAPERS for line in _paper(paper))])


def _summary() -> Iterator[str]:
    yield "| paper | figures | claims | hold | do not hold | not judged |"
    yield "|---|---|---|---|---|---|"
    for paper in PAPERS:
        findings = [found for _, found, _ in _findings(paper) if found is not None]
        hold = sum(finding.holds for finding in findings)
        yield (
            f"| {paper.title} | {len(paper.figures)} | {len(paper.claims)} | {hold}"
            f" | {len(findings) - hold} | {len(paper.claims) - len(findings)} |"
        )
    yield ""


def _findings(paper: Paper) -> Iterator[tuple[Claim, Finding | None, Size | None]]:
    """Each claim with the finding on it, and the size at which it was judged."""
    verdicts = [(figure, best_verdict(figure)) for figure in paper.figures]
    for claim in paper.claims:
        found, size = None, None
        for _, verdict in verdicts:
            if verdict is not None and claim.name in verdict.findings:
                found, size = verdict.findings[claim.name], verdict.size
        yield claim, found, size


def _paper(paper: Paper) -> Iterator[str]:
    yield f"## {paper.title}\n"
    claims = {claim.name: claim for claim in paper.claims}
    for figure in paper.figures:
        yield from _figure(figure, claims)
    unjudged = [claim for claim in paper.claims if claim.unjudged]
    if unjudged:
        yield "### Not judged\n"
        for claim in unjudged:
            yield f"* {claim.section}: {claim.sentence} {claim.unjudged}"
        yield ""


def _figure(figure: Figure, claims: dict[str, Claim]) -> Iterator[str]:
    verdict = best_verdict(figure)
    yield f"### `{figure.name}`: {figure.title}\n"
    size = "never computed" if verdict is None else f"{verdict.size.value} size"
    yield f"{figure.source}. Verdicts at {size}.\n"
    if figure.judges:
        yield "| section | claim | paper | ours | verdict |"
        yield "|---|---|---|---|---|"
        for name in figure.judges:
            yield _line(claims[name], verdict)
        yield ""
    reasons = _reasons(verdict)
    if reasons:
        yield "Why not:\n"
        for name, finding in reasons.items():
            yield f"* {claims[name].sentence} {finding.why}"
        yield ""
    if figure.deviations:
        yield "Deviations:\n"
        for deviation in figure.deviations:
            yield f"* {deviation}"
        yield ""


def _line(claim: Claim, verdict: Verdict | None) -> str:
    finding = verdict.findings.get(claim.name) if verdict else None
    ours = finding.ours if finding else "not computed"
    mark = "not computed"
    if finding and verdict:
        mark = "holds" if finding.holds else "**does not hold**"
        mark += " (quick)" if verdict.size is Size.QUICK else ""
    cells = (claim.section, claim.sentence, claim.printed or "–", ours, mark)
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _reasons(verdict: Verdict | None) -> dict[str, Finding]:
    if verdict is None:
        return {}
    return {name: finding for name, finding in verdict.findings.items() if not finding.holds}
