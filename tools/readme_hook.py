"""The package's long description: the README, its links and pictures resolved against the project's source.

A package index shows the README without the files around it. If `project.urls` has an entry `Source`, relative links
point there; while it has none, they stay as they are.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


def resolved(text: str, source: str | None) -> str:
    """Markdown with relative links made absolute: pictures as raw files, the rest as pages."""
    if source is None:
        return text
    base = source.rstrip("/")
    text = re.sub(r"(!\[[^\]]*\]\()(?!\w+:|#)", rf"\1{base}/raw/main/", text)
    return re.sub(r"((?<!!)\[[^\]]*\]\()(?!\w+:|#)", rf"\1{base}/blob/main/", text)


class ReadmeHook(MetadataHookInterface):
    """Sets `readme` when the package is built."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Put the README into the metadata."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source = metadata.get("urls", {}).get("Source")
        metadata["readme"] = {"content-type": "text/markdown", "text": resolved(text, source)}
