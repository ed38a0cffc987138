"""Audits run directories: all checks over each, with what they found."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final

from analysis.audit.checks.files import damaged_files, wrong_rows
from analysis.audit.registry import CHECKS, Violation
from analysis.audit.run_trace import RunTrace

for _name in ("energy", "messages", "liveness", "readings", "results", "answer"):
    import_module(f"analysis.audit.checks.{_name}")
for _name in ("clusters", "missing", "counts"):
    import_module(f"analysis.audit.checks.{_name}")

FIRST: Final = {"files": damaged_files, "rows": wrong_rows}
"""If one of these fails, nothing else can be checked."""


@dataclass(frozen=True, slots=True)
class Audit:
    """The outcome of the audit of one run."""

    directory: Path
    rows: int
    """Rows in all tables."""
    violations: dict[str, list[Violation]]
    """By check: what it found; empty if it passed."""
    skipped: list[str]
    """Checks that need a table that was not written."""

    @property
    def passed(self) -> bool:
        """Whether no check found a violation."""
        return not any(self.violations.values())


def audit_run(directory: Path) -> Audit:
    """Check a complete run directory.

    Raises:
        TraceError: it is not one.
    """
    trace = RunTrace(directory)
    rows = sum(trace.manifest["rows"].values())
    violations: dict[str, list[Violation]] = {}
    for name, find in FIRST.items():
        violations[name] = list(find(trace))
        if violations[name]:
            return Audit(directory, rows, violations, [each.name for each in CHECKS])
    skipped = []
    for each in CHECKS:
        if all(map(trace.has, each.tables)):
            violations[each.name] = list(each.find(trace))
        else:
            skipped.append(each.name)
    return Audit(directory, rows, violations, skipped)
