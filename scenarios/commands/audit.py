"""`motejoin audit`: re-checks finished runs from their traces alone."""

import argparse
from typing import TYPE_CHECKING, Final

from analysis.store.place import Place, place

if TYPE_CHECKING:
    from analysis.audit.audit import Audit

EXAMPLES: Final = """examples:
  motejoin audit runs/gas-cloud-small-1
  motejoin audit sweeps/feedback/runs/*
  motejoin run gas-cloud-small --audit

Every check is independent of the code that made the trace: `motejoin docs reliability` lists them, and the errors that they are
known to find. Exit code 1 if a trace has a violation.
"""
_SHOWN: Final = 5
"""Violations to print per check."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.description = "Check that finished runs add up, from their traces alone."
    parser.epilog = EXAMPLES
    parser.add_argument("run_dir", metavar="RUN_DIR", nargs="+", type=place, help="a run directory")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Audit each run: 0 if all pass, 1 if not."""
    passed = [audit_and_print(directory) for directory in args.run_dir]
    return 0 if all(passed) else 1


def audit_and_print(directory: Place) -> bool:
    """Audit one run and print what was found; returns whether it passed."""
    from analysis.audit.audit import audit_run
    from analysis.store.reading import local_copy

    with local_copy(directory) as copy:
        audit = audit_run(copy)
    print("\n".join(lines(audit)).replace(str(copy), str(directory)))
    return audit.passed


def lines(audit: "Audit") -> list[str]:
    """What was found, for people."""
    done = len(audit.violations)
    skipped = (
        f"; not checked, for want of a table: {', '.join(audit.skipped)}" if audit.skipped else ""
    )
    if audit.passed:
        return [f"{audit.directory}: {audit.rows:,} rows pass {done} checks{skipped}"]
    texts = [f"{audit.directory}: {audit.rows:,} rows, violations{skipped}"]
    for name, found in audit.violations.items():
        for violation in found[:_SHOWN]:
            times = f" ({violation.count:,} such)" if violation.count > 1 else ""
            texts.append(f"  {name}: {violation.text}{times}")
        if len(found) > _SHOWN:
            texts.append(f"  {name}: {len(found) - _SHOWN} more")
    return texts
