"""Largest Window Only: each tuple scans the largest window before the next one starts (Shared §3.1)."""

from join.dsms.shared.schedule import Queues, Schedule


class LargestWindowOnly(Schedule):
    """First come, first served, and served completely: outputs need not be held."""

    early = True

    def choose(self, queues: Queues) -> tuple[int, int]:
        """The oldest tuple, through all windows."""
        oldest = min((i for i, q in enumerate(queues) if q), key=lambda i: queues[i][0].arrival)
        return oldest, len(queues) - oldest
