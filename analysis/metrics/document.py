"""docs/METRICS.md, from the declarations: `python -m analysis.metrics.document > docs/METRICS.md`."""

import sys
from collections.abc import Iterable, Sequence

from analysis.metrics.inputs import FACTS
from analysis.metrics.metric import Metric, aggregates_of
from analysis.metrics.registry import METRICS

_HEAD = """# Metrics

Every metric of a run, generated from its declaration in `analysis/metrics/cost_metrics.py`,
`analysis/metrics/answer_metrics.py` and `analysis/metrics/error_metrics.py` by `python -m analysis.metrics.document > docs/METRICS.md`; do not edit.

`motejoin compare` and `motejoin sweep` write all of them to `metrics.csv` and `metrics.parquet`, one row per run, in this order;
those in bold are shown unless `--metric` asks for others. The summary of `motejoin run` and `motejoin report` show some of them,
by the same labels and formulas.

- A metric is null (an empty cell) where it is not defined, and where the run did not record a table that it needs; it is 0 only
  where 0 was counted.
- *share* is a number between 0 and 1, unless it is said that it can exceed 1.
- After these, `bytes_KIND` and `messages_KIND` are the parts of `bytes` and `messages` that each message kind sent.
- Recall, tracking and errors are defined in the docstrings of `analysis/metrics/recall.py`, `analysis/metrics/tracking.py` and
  `analysis/metrics/errors.py`.

To add one of your own, see [EXTENDING.md](EXTENDING.md#a-metric).
"""


def page() -> str:
    """The page."""
    parts = [
        _HEAD,
        "## What was run\n",
        _table(("column", "is"), [("`run`", "the run directory's name"), *_facts()]),
        "## What was measured\n",
        _table(
            ("metric", "label", "unit", "what it is", "formula", "tables", "null when"),
            map(_row, METRICS.values()),
        ),
        "## Aggregates\n\nWhat formulas are made of. Those of one table are sums and counts; the sink counts in traffic only.\n",
        _table(
            ("aggregate", "is", "tables"),
            (
                (f"`{each.name}`", each.what, ", ".join(each.tables))
                for each in aggregates_of(METRICS.values())
            ),
        ),
    ]
    return "\n".join(parts)


def _facts() -> list[tuple[str, str]]:
    return [(f"`{fact.name}`", fact.what) for fact in FACTS]


def _row(metric: Metric) -> Sequence[str]:
    name = f"**`{metric.name}`**" if metric.main else f"`{metric.name}`"
    return (
        name,
        metric.label,
        metric.unit,
        metric.what,
        formula(metric),
        ", ".join(metric.tables),
        _null(metric) or "–",
    )


def _null(metric: Metric) -> str:
    """When it is not defined."""
    levels = " or ".join(f"`{level.value}`" for level in metric.levels)
    other = f"`join.answer` is not {levels}" if levels else ""
    return "; ".join(filter(None, [metric.null, other]))


def formula(metric: Metric) -> str:
    """How a metric is computed, from the docstring of its function."""
    words = (metric.value.__doc__ or "").strip().splitlines()
    assert words, metric.name
    return words[0].rstrip(".").format(*(f"`{need.name}`" for need in metric.needs))


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(_cell(text) for text in line)} |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(page())
