"""The smallest and largest number that the schema allows, for nearly every key of a scenario: each ends in a message or in success.

`python -m tests.fuzz.extremes` tries them all, one at a time, on short runs that use as many keys as possible.
"""

import argparse
import io
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Final

from scenarios.cli import main as motejoin
from scenarios.schema.scenario import Scenario
from tests.fuzz.judge import HangError, within

SECONDS_MOST: Final = 20
LEAST: Final = 1e-9
"""In place of a smallest number where there is none above 0."""
MOST: Final = 1e9
SMALL: Final = ("motes.count=12", "duration_s=12.0", "motes.interval_s=1.0", "motes.start_s=4.0")
CSMA: Final = ("motes.profile=micaz", "radio.mac=csma", "routing.sink=multi-hop")
LONG: Final = frozenset({"duration_s", "motes.count", "motes.interval_s", "faults.added.count"})
"""Keys whose extremes make a run long: nothing is wrong with that."""
BASES: Final = (
    (),
    ("join.strategy=change", "join.answer=sets", *CSMA, "radio.channel=shadowing"),
    ("join.strategy=perpendicular", "radio.duty_cycle=0.5", "motes.placement=clustered"),
    ("join.strategy=rendezvous", "motes.profile=telosb", "radio.mac=lpl"),
    ("join.strategy=automatic", "join.answer=sets", "faults.crashes={mean_up_s=5.0}"),
    ("join.strategy=two-phase", "clustering.protocol=leach", "motes.placement=poisson-disk"),
)
"""Settings of short runs; between them they use most keys."""


def numeric_keys(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every key of a number by its dotted name, with what the schema says of it; entries of arrays apart."""

    def walk(node: Mapping[str, Any], path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for name, found in node.get("properties", {}).items():
            key = f"{path}{name}"
            for choice in [found, *found.get("anyOf", ())]:
                if choice.get("type") in {"integer", "number"}:
                    yield key, choice
                elif "$ref" in choice:
                    yield from walk(schema["$defs"][choice["$ref"].rpartition("/")[2]], f"{key}.")
                elif "properties" in choice:
                    yield from walk(choice, f"{key}.")

    yield from walk(schema, "")


def extremes(limits: Mapping[str, Any]) -> tuple[float, float]:
    """The least and the greatest number that a key allows."""
    whole = limits["type"] == "integer"
    least = limits.get("minimum", limits.get("exclusiveMinimum", -1) + (1 if whole else LEAST))
    most = limits.get("maximum", limits.get("exclusiveMaximum", MOST) - (1 if whole else LEAST))
    return (int(least), int(most)) if whole else (float(least), float(most))


def attempt(settings: list[str], folder: Path) -> str:
    """Run with these settings; returns what is wrong, if anything."""
    words = [word for setting in settings for word in ("--set", setting)]
    try:
        with within(SECONDS_MOST), redirect_stdout(io.StringIO()):
            code = motejoin(["run", "gas-cloud-small", "--out", str(folder / "run"), *words])
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    except HangError:
        return f"more than {SECONDS_MOST} s"
    except Exception:  # noqa: BLE001 - whatever it is, it is what is looked for
        return traceback.format_exc().strip().splitlines()[-1]
    return "" if code in {0, 2} else f"exit code {code}"


def main() -> int:
    """Try every extreme; exit code 1 if something failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.extremes", description=__doc__)
    parser.add_argument("--key", default="", help="only keys that contain this")
    args = parser.parse_args()
    started_s, tried, failures = time.monotonic(), 0, 0
    for key, limits in numeric_keys(Scenario.model_json_schema()):
        if args.key not in key or key in LONG:
            continue
        for number in extremes(limits):
            for base in BASES:
                with tempfile.TemporaryDirectory() as folder:
                    settings = [*SMALL, *base, f"{key}={number!r}"]
                    wrong = attempt(settings, Path(folder))
                tried += 1
                if wrong:
                    failures += 1
                    sys.stdout.write(f"FAILED {key}={number!r} with {' '.join(base)}: {wrong}\n")
                    sys.stdout.flush()
    spent_s = time.monotonic() - started_s
    sys.stdout.write(f"{tried} runs in {spent_s:.0f} s: {failures} failures\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
