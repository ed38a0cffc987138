"""Progress of long work: a live bar on a terminal, plain lines when piped; always on stderr."""

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

LINES = 10
"""Plain lines over the whole work."""


class ProgressDisplay:
    """Shows how far work has come. Use as a context manager."""

    def __init__(self, title: str, total: float) -> None:
        self._title = title
        self._total = total
        self._started = time.monotonic()
        self._shown = 0
        self._bar: Progress | None = None
        if sys.stderr.isatty():
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TaskProgressColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.fields[note]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task(title, total=total, note="")

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        else:
            self._say(f"{self._title} …")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar:
            self._bar.stop()

    def update(self, done: float, note: str = "") -> None:
        """Show how much is done, and a short note."""
        if self._bar:
            self._bar.update(self._task, completed=done, note=note)
            return
        tenths = int(LINES * done / self._total) if self._total else LINES
        if tenths > self._shown:
            self._shown = tenths
            seconds = time.monotonic() - self._started
            self._say(f"{self._title}: {done / self._total:.0%} after {seconds:.0f} s  {note}")

    def _say(self, text: str) -> None:
        print(text.rstrip(), file=sys.stderr, flush=True)
