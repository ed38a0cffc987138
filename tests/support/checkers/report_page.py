"""Parses a report, independently of the code that made it."""

import json
import struct
from base64 import b64decode
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

VOID = {"meta", "input", "br", "link", "img", "hr", "col", "source", "wbr", "area", "base"}


class Page(HTMLParser):
    """A page as its tags, attributes and texts; rejects tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.words: list[str] = []
        self.rows: list[list[str]] = []
        self._open: list[str] = []
        self._cell = False
        self.feed(text)
        self.close()
        assert not self._open, self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, names)
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1] == tag, (self._open, tag, self.getpos())
        self._open.pop()

    def handle_data(self, data: str) -> None:
        within = self._open[-1] if self._open else ""
        if within == "script":
            self.scripts[-1] += data
        elif within != "style" and data.strip():
            self.words.append(data.strip())
            if within in ("td", "th"):
                self.rows[-1][-1] += data

    @property
    def data(self) -> dict[str, Any]:
        """The data that the page's script draws."""
        data: dict[str, Any] = json.loads(self.scripts[0])
        return data

    def chart(self, name: str) -> dict[str, Any]:
        """The specification of one plot."""
        charts: list[dict[str, Any]] = self.data["charts"]
        return next(chart for chart in charts if chart["name"] == name)

    def charts(self) -> set[str]:
        """The names of the plots."""
        return {chart["name"] for chart in self.data["charts"]}


def unpack(text: str, kind: str) -> list[Any]:
    """A typed array: "I" unsigned, "i" signed, "f" floating point, "B" bytes."""
    raw = b64decode(text)
    return list(struct.unpack(f"<{len(raw) // struct.calcsize(kind)}{kind}", raw))


def sets_of(packed: dict[str, str]) -> list[set[int]]:
    """The set at each frame, from its toggle list."""
    starts, nodes = unpack(packed["starts"], "I"), unpack(packed["nodes"], "I")
    member: set[int] = set()
    sets = []
    for start, end in pairwise(starts):
        member ^= set(nodes[start:end])
        sets.append(set(member))
    return sets
