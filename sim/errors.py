"""Errors that are not bugs; the user gets each as one message."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


class MoteJoinError(Exception):
    """Base of every error that the command line prints without a traceback (exit code 2)."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with an input: where, what was found, what was expected."""

    place: str
    """Dotted key, row or file position; empty when the file as a whole is at fault."""
    found: str
    expected: str

    def __str__(self) -> str:
        found = f" = {self.found}" if self.found else ""
        return f"{self.place}{found}: {self.expected}" if self.place else self.expected


class ScenarioError(MoteJoinError):
    """An invalid scenario or sweep file, with all of its errors."""

    def __init__(self, source: str, faults: list[Fault]) -> None:
        assert faults, source
        self.source = source
        self.faults = faults
        super().__init__("\n".join(f"{source}: {fault}" for fault in faults))


class TraceError(MoteJoinError):
    """A run directory that is missing, unfinished or not ours."""


class InputError(MoteJoinError):
    """An input file or argument that cannot be used as given."""


class MachineError(MoteJoinError):
    """Something this machine lacks, such as Java for Spark."""


def near_miss(found: str, choices: Iterable[str]) -> str:
    """A suggestion such as " (did you mean 'heed'?)", or nothing if nothing is near."""
    near = difflib.get_close_matches(found, list(choices), n=1, cutoff=0.6)
    return f" (did you mean {near[0]!r}?)" if near else ""


def one_of(found: str, choices: Iterable[str]) -> str:
    """What to expect instead of a name that is none of `choices`."""
    listed = sorted(choices)
    return f"expected one of {', '.join(map(repr, listed))}{near_miss(found, listed)}"
