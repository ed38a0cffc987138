"""Shows where a simulation spends its time: `python -m tests.bench.profile_simulation [FEEDBACK] [SECONDS]`.

A timer samples the running functions a thousand times a second, so that the run is not slowed down as it
would be by a profiler that traces every call.
"""

import signal
import sys
from collections import Counter
from types import FrameType

from tests.bench.bench_simulation import run, zipf

EVERY_S = 0.001
SHOWN = 25
PACKAGES = ("sim", "network", "join", "clustering", "scenarios")


class Sampler:
    """Counts how often each function was running, itself or through its callees."""

    def __init__(self) -> None:
        self.samples = 0
        self.running: Counter[str] = Counter()
        self.itself: Counter[str] = Counter()

    def look(self, _signal: int, frame: FrameType | None) -> None:
        """Count the functions that are running now."""
        names = []
        while frame is not None:
            package, _, rest = frame.f_globals.get("__name__", "").partition(".")
            if package in PACKAGES:
                names.append(f"{package}.{rest}: {frame.f_code.co_qualname}")
            frame = frame.f_back
        self.samples += 1
        self.running.update(set(names))
        self.itself.update(names[:1])


def main() -> None:
    """Print the functions that were running most."""
    feedback = sys.argv[1] if len(sys.argv) > 1 else "off"
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 15.0
    sampler = Sampler()
    signal.signal(signal.SIGPROF, sampler.look)
    signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)
    cpu_s, messages = run(zipf(feedback, seconds))
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    assert sampler.samples
    print(
        f"feedback {feedback}: {cpu_s:.1f} CPU s, {messages:,} messages, {sampler.samples} samples"
    )
    print("running  itself")
    for name, count in sampler.running.most_common(SHOWN):
        shares = count / sampler.samples, sampler.itself[name] / sampler.samples
        print(f"{shares[0]:7.1%} {shares[1]:7.1%}  {name}")


if __name__ == "__main__":
    main()
