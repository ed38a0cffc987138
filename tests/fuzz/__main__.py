"""`python -m tests.fuzz`: random scenarios, each run and audited, until the time is up.

A failure prints what is wrong, the command that runs it again, and a smaller scenario that fails as well.
"""

import argparse
import os
import shlex
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.generator import Fuzzed, fuzzed
from tests.fuzz.judge import judge
from tests.fuzz.metamorphic import RULES
from tests.fuzz.shrink import shrunk
from tests.golden.inputs import write_inputs

RULE_EVERY = 10
"""A metamorphic rule is tried after this many scenarios."""


def main() -> int:
    """Fuzz; exit code 1 if something failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="time budget (default: 60)")
    parser.add_argument("--first", type=int, default=1, help="number of the first scenario")
    parser.add_argument("--count", type=int, default=1_000_000, help="how many at most")
    parser.add_argument("--only", type=int, help="run this one scenario again")
    args = parser.parse_args()
    first, count = (args.first, args.count) if args.only is None else (args.only, 1)
    started_s = time.monotonic()
    failures = done = rules = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder)
        os.chdir(folder)
        for number in range(first, first + count):
            if time.monotonic() - started_s > args.seconds and args.only is None:
                break
            scenario = fuzzed(number)
            done += 1
            wrong = judge(scenario, folder)
            if wrong:
                failures += 1
                _report(scenario, wrong, folder)
            if number % RULE_EVERY == 0:
                rule = RULES[number // RULE_EVERY % len(RULES)]
                rules += 1
                if wrong := rule(number, folder):
                    failures += 1
                    _say(f"FAILED {rule.__name__}, number {number}: {wrong}")
            if done % 100 == 0:
                _say(f"{done} scenarios, {failures} failures, {time.monotonic() - started_s:.0f} s")
    spent_s = time.monotonic() - started_s
    _say(
        f"scenarios {first} to {first + done - 1} and {rules} metamorphic rules in {spent_s:.0f} s:"
        f" {failures} failures"
    )
    return 1 if failures else 0


def _report(scenario: Fuzzed, wrong: str, folder: Path) -> None:
    _say(f"FAILED scenario {scenario.number}: {wrong}")
    _say(f"  again: python -m tests.fuzz --only {scenario.number}")
    small = shrunk(scenario, lambda each: bool(judge(each, folder)))
    _say(f"  smaller: motejoin {shlex.join(small.arguments(Path('run')))}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
