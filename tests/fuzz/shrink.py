"""Makes a failing scenario small: settings are taken out, and numbers made smaller, as long as it fails."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from sim.errors import ScenarioError
from tests.fuzz.generator import Fuzzed

Fails = Callable[[Fuzzed], bool]


def shrunk(scenario: Fuzzed, fails: Fails, tries: int = 60) -> Fuzzed:
    """The smallest scenario found that still fails."""
    left = tries
    progress = True
    while progress and left > 0:
        progress = False
        for smaller in _smaller(scenario):
            left -= 1
            if left <= 0:
                break
            try:
                smaller.load()
            except ScenarioError:
                continue
            if fails(smaller):
                scenario, progress = smaller, True
                break
    return scenario


def _smaller(scenario: Fuzzed) -> Iterator[Fuzzed]:
    settings = scenario.settings
    half = len(settings) // 2
    if half > 2:
        yield replace(scenario, settings=settings[half:])
        yield replace(scenario, settings=settings[:half])
    for place in range(len(settings)):
        yield replace(scenario, settings=settings[:place] + settings[place + 1 :])
    for place, setting in enumerate(settings):
        key, _, value = setting.partition("=")
        if key in {"motes.count", "duration_s"} and re.fullmatch(r"[0-9.]+", value):
            less = str(int(value) // 2) if "." not in value else repr(float(value) * 0.7)
            if float(less) >= 1:
                yield replace(
                    scenario, settings=(*settings[:place], f"{key}={less}", *settings[place + 1 :])
                )
