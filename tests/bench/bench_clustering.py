"""Elections at constant density: time should grow with the number of motes and no faster."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from time import perf_counter

import numpy as np

from clustering.contract import Clusters, ControlMessages, History, Situation, run_ideal
from clustering.neighbourhood import neighbourhood_within
from clustering.protocols.registry import AnyProtocol, registered
from clustering.quality import is_valid_clustering

COUNTS = (1_000, 10_000, 100_000)
RANGE_M = 100.0
MOTES_PER_M2 = 1_000 / 2_000**2
REPEATS = 3
CONTROL = ControlMessages(body_bytes=25, interval_us=1000, slot_us=100, join_attempts=3)


def main() -> None:
    """Print seconds per election and how they grow with each tenfold number of motes."""
    print(f"elections at constant density, range {RANGE_M:g} m, seconds (best of {REPEATS})")
    print(f"{'':<15}" + "".join(f"{count:>12,}" for count in COUNTS) + "   growth per tenfold")
    _print_row("neighbourhood", [_best_s(partial(_situation, n)) for n in COUNTS])
    for protocol in registered():
        _print_row(protocol.name, [_election_s(protocol, count) for count in COUNTS])


def _election_s(protocol: AnyProtocol, count: int) -> float:
    situation = _situation(count)

    def run_election() -> Clusters:
        election = protocol.elect(protocol.options(), situation, np.random.default_rng(1))
        return run_ideal(election, situation.alive)

    # The time is meaningless unless the work was done.
    clusters = run_election()
    assert is_valid_clustering(clusters, situation.neighbourhood, situation.alive)
    assert len(clusters.heads()) > count / 20
    return _best_s(run_election)


def _situation(count: int) -> Situation:
    side_m = (count / MOTES_PER_M2) ** 0.5
    positions_m = np.random.default_rng(count).random((count, 2)) * side_m
    return Situation(
        neighbourhood=neighbourhood_within(positions_m, RANGE_M),
        positions_m=positions_m,
        alive=np.ones(count, dtype=np.bool_),
        energy_share=np.random.default_rng(2).random(count),
        history=History.first(count),
        heads_guess=count // 5,
        control=CONTROL,
    )


def _best_s(work: Callable[[], object]) -> float:
    times_s = []
    for _ in range(REPEATS):
        start_s = perf_counter()
        work()
        times_s.append(perf_counter() - start_s)
    return min(times_s)


def _print_row(name: str, times_s: list[float]) -> None:
    growth = ", ".join(f"x{after / before:.1f}" for before, after in pairwise(times_s))
    print(f"{name:<15}" + "".join(f"{time_s:>12.4f}" for time_s in times_s) + f"   {growth}")


if __name__ == "__main__":
    main()
