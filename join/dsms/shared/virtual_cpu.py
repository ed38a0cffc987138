"""A processor whose time is counted, not measured: a fixed cost per comparison and per output.

Response times under it are exact and the same on every machine.

Shared §3.1.1        Here
t_p                  comparison_ns
(cost of output, §3.4: up to 40 % of the execution time)   output_ns
"""

from dataclasses import dataclass

NS_PER_US = 1000


@dataclass(frozen=True, slots=True)
class CpuCosts:
    """Costs of the join's two kinds of work."""

    comparison_ns: int
    output_ns: int = 0

    def __post_init__(self) -> None:
        assert self.comparison_ns >= 0, self.comparison_ns
        assert self.output_ns >= 0, self.output_ns


FREE = CpuCosts(0)
"""For work whose time is given with each piece of it."""


class VirtualCpu:
    """One processor that does one thing at a time.

    Invariant: `now_ns` never goes back; `busy_ns` is at most what has passed.
    """

    def __init__(self, costs: CpuCosts = FREE) -> None:
        self.costs = costs
        self.now_ns = 0
        self.busy_ns = 0

    def wait_until(self, at_ns: int) -> None:
        """Stay idle until `at_ns`, if that lies ahead."""
        self.now_ns = max(self.now_ns, at_ns)

    def spend(self, duration_ns: int) -> None:
        """Work for `duration_ns`."""
        assert duration_ns >= 0, duration_ns
        self.now_ns += duration_ns
        self.busy_ns += duration_ns


COSTS = CpuCosts(comparison_ns=1000, output_ns=650)
"""t_p of Shared §3.1.1; outputs take 40 % of the time when every comparison yields one (§3.4)."""
