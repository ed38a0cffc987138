"""The page of a comparison or a sweep: the table, the figures, what failed, and where the numbers are."""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from analysis.compare.estimates import Answers, scale_of
from analysis.compare.intervals import Estimate, Scale
from analysis.compare.run_plots import ENDINGS
from analysis.metrics.number_format import percent, short
from analysis.metrics.registry import label
from analysis.report.html import Html, join, tag


@dataclass(slots=True)
class Page:
    """The content of the page."""

    title: str
    description: str
    facts: list[str]
    """Short facts under the title."""
    header: list[str] = field(default_factory=list)
    """The table's header, and its rows."""
    rows: list[list[str]] = field(default_factory=list)
    note: str = ""
    """What the table's cells mean."""
    failures: list[tuple[str, str]] = field(default_factory=list)
    """What failed, and why."""
    warning: str = ""
    """What the reader must know before trusting the table."""
    figures: Mapping[str, Path] = field(default_factory=dict)
    """PNG files by what they show; each has an SVG and a PDF of the same name beside it."""
    captions: Mapping[str, str] = field(default_factory=dict)
    """In words, by figure."""
    downloads: Sequence[Path] = ()


def answer_rows(found: Answers, shown: Sequence[str]) -> list[list[str]]:
    """A row per group: its label, its number of runs, and the estimate of each metric shown."""
    return [
        [
            group,
            str(found.runs[group]),
            *(cell(m, found.means[group, m], found.differences.get((group, m))) for m in shown),
        ]
        for group in found.grouping.places
    ]


def answer_header(found: Answers, shown: Sequence[str], name: str) -> list[str]:
    """The header of `answer_rows`."""
    assert found.metrics
    return [name, "runs", *(label(metric) for metric in shown)]


def cell(metric: str, mean: Estimate, difference: Estimate | None) -> str:
    """A mean with its interval, and the difference from the baseline with its own."""
    if mean.bounds and mean.low is not None:
        return f"> {_shown(metric, mean.low, 4)}"
    if mean.mean is None:
        return "–"
    text = _shown(metric, mean.mean, 4)
    if mean.low is not None and mean.high is not None and mean.low < mean.high:
        text += f" [{_shown(metric, mean.low, 3)} to {_shown(metric, mean.high, 3)}]"
    if difference is not None and difference.mean is not None:
        # A baseline's difference from itself is 0 and needs no interval.
        percent = f"{difference.mean:+.1f} %"
        if difference.low is not None and difference.high is not None and difference.half:
            percent += f" [{difference.low:+.0f} to {difference.high:+.0f}]"
        text += f" ({percent})"
    return text


def _shown(metric: str, value: float, digits: int) -> str:
    if scale_of(metric) is Scale.SHARE:
        return percent(value, digits=min(3, digits))
    return short(value, digits=digits)


def answer_page(page: Page, folder: Path) -> str:
    """The page as HTML; files are named relative to `folder`."""
    parts = [
        tag(
            "header",
            tag("p", "motejoin", class_="brand"),
            tag("h1", page.title),
            tag("p", page.description, class_="description"),
            tag("ul", *(tag("li", fact) for fact in page.facts), class_="facts"),
        ),
        tag("main", *_sections(page, folder)),
    ]
    style = files("analysis.compare").joinpath("page.css").read_text(encoding="utf-8")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name_="color-scheme", content="light dark"),
        tag("title", page.title),
        tag("style", Html(style)),
    )
    body = tag("body", *parts)
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _sections(page: Page, folder: Path) -> list[Html]:
    sections = []
    if page.failures:
        rows = [
            tag("tr", tag("th", name), tag("td", why, class_="why")) for name, why in page.failures
        ]
        sections += [
            tag("h2", f"{len(page.failures)} failed"),
            tag("div", tag("table", *rows), class_="wide"),
        ]
    if page.rows:
        header = tag("tr", *(tag("th", name, scope="col") for name in page.header))
        rows = [
            tag("tr", tag("th", row[0], scope="row"), *(_number(text) for text in row[1:]))
            for row in page.rows
        ]
        sections += [
            tag("h2", "Numbers"),
            tag("p", page.warning, class_="warning") if page.warning else Html(),
            tag(
                "div",
                tag("table", tag("thead", header), tag("tbody", *rows)),
                class_="wide",
                tabindex="0",
                role="region",
                aria_label="Numbers",
            ),
            tag("p", page.note, class_="note"),
        ]
    if page.figures:
        sections.append(tag("h2", "Figures"))
        sections.append(tag("div", *_figures(page, folder), class_="figures"))
    if page.downloads:
        links = [
            tag("li", tag("a", file.name, href=file.relative_to(folder).as_posix()))
            for file in page.downloads
        ]
        sections += [tag("h2", "Tables to work with"), tag("ul", *links)]
    return sections


def _number(text: str) -> Html:
    """A cell: the number, and below it, smaller, its interval and its difference."""
    first, *rest = re.split(r" (?=[\[(])", text, maxsplit=1)
    return tag("td", first, *(tag("small", part) for part in rest))


def _figures(page: Page, folder: Path) -> list[Html]:
    shown = []
    for name, file in page.figures.items():
        caption = page.captions.get(name, name)
        picture = b64encode(file.with_suffix(".svg").read_bytes()).decode()
        image = tag("img", src=f"data:image/svg+xml;base64,{picture}", alt=caption)
        links = [
            tag(
                "a",
                ending.upper(),
                href=file.with_suffix(f".{ending}").relative_to(folder).as_posix(),
            )
            for ending in ENDINGS
        ]
        words = join(caption, " ", *(join(link, " ") for link in links))
        shown.append(tag("figure", image, tag("figcaption", words)))
    return shown
