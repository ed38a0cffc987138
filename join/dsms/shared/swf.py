"""Smallest Window First: no tuple goes on to a larger window while one waits for a smaller (Shared §3.2).

Two statements of §3.2 disagree on the router: its text and Eq. (2) hold a tuple's outputs for a query until the
tuple has scanned that query's window; its Fig. 3 (step 2) and the list of steps send the first outputs to all
queries at once, and would then release them again. We follow the text.
"""

from join.dsms.shared.schedule import Queues, Schedule


class SmallestWindowFirst(Schedule):
    """Serves the first queue that is not empty, one window at a time (§3.2, steps 1–3: new tuples are in queue 0)."""

    def choose(self, queues: Queues) -> tuple[int, int]:
        """The tuple with the fewest windows done, up to its next window."""
        return next(i for i, queue in enumerate(queues) if queue), 1
