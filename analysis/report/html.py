"""HTML that is safe by construction: text is escaped unless it was made by `tag`."""

from html import escape

VOID = frozenset({"br", "col", "hr", "img", "input", "link", "meta"})


class Html(str):
    """Markup that may stand in a page as it is."""

    __slots__ = ()


def tag(name: str, *content: str, **attributes: str | None) -> Html:
    """An element. Plain strings in it are text; a trailing underscore keeps clear of keywords.

    An attribute of None is left out; underscores inside attribute names become hyphens.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        assert not content, (name, content)
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(*content)}</{name}>")


def join(*content: str) -> Html:
    """Elements and texts in a row."""
    return Html("".join(part if isinstance(part, Html) else escape(part) for part in content))
