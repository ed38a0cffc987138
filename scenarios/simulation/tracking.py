"""How well the answer at the sink follows the truth, measured once a second.

Motes in the field count as inside even if they have crashed or their battery is empty: a network that no longer
senses there has missed something. Motes not yet added, or removed, do not count.

`analysis.metrics.tracking` computes the same figures, by the same definitions, from the trace.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from join.sink.sets_site import SetsSite
from join.sink.site import SinkSite
from scenarios.phenomena.contract import Phenomenon
from sim.kernel import Kernel
from sim.trace.recorder import Rows
from sim.trace.rows import truth_row
from sim.units import US_PER_S

TRUTH_EVERY_US = US_PER_S


@dataclass(frozen=True, slots=True)
class TrackingFigures:
    """Detection and coverage of one run; None where the phenomenon has no inside."""

    appeared_s: float | None
    """The first instant at which a mote was truly inside."""
    detected_s: float | None
    """The first result then or later."""
    coverage: float | None
    """Mean of |answer and truth| / |answer or truth| over the instants at which either is not empty."""
    false_alarms: float | None
    """Mean number of motes in the answer but not inside."""
    misses: float | None
    """Mean number of motes inside but not in the answer."""
    inside_most: int
    answer_most: int


class Tracking:
    """Writes the truth and compares the answer with it."""

    def __init__(
        self,
        kernel: Kernel,
        phenomenon: Phenomenon,
        rows: Rows,
        sink: SinkSite | SetsSite,
        *,
        gone: AbstractSet[int] = frozenset(),
    ) -> None:
        """`gone` holds the motes that are not in the field, as it changes."""
        self._kernel = kernel
        self._phenomenon = phenomenon
        self._rows = rows
        self._answer = sink.sensors
        self._gone = gone
        self._appeared_us: int | None = None
        self._detected_us: int | None = None
        self._overlap = 0.0
        self._judged = 0
        self._instants = 0
        self._has_sets = True
        """Whether the sink knows which motes join, not only how many."""
        self._false = 0
        self._missed = 0
        self._inside_most = 0
        self._answer_most = 0
        self.inside = 0
        """Motes truly inside at the last instant."""
        self.answered = 0
        """Motes in the answer then."""
        sink.when_result(self._on_result)

    def start(self) -> None:
        """Compare now and every second."""
        self._look(None)

    def _on_result(self, at_us: int) -> None:
        if self._detected_us is None and self._appeared_us is not None:
            self._detected_us = at_us

    def figures(self) -> TrackingFigures:
        """The figures measured so far."""
        instants = self._instants if self._has_sets else 0
        return TrackingFigures(
            appeared_s=_seconds(self._appeared_us),
            detected_s=_seconds(self._detected_us),
            coverage=self._overlap / self._judged if self._judged and instants else None,
            false_alarms=self._false / instants if instants else None,
            misses=self._missed / instants if instants else None,
            inside_most=self._inside_most,
            answer_most=self._answer_most,
        )

    def _look(self, _: None) -> None:
        now_us = self._kernel.now_us
        truth = self._phenomenon.truth(now_us)
        inside: set[int] = set()
        for source, nodes in truth.items():
            listed = [node for node in nodes.tolist() if node not in self._gone]
            self._rows.append(truth_row(at_us=now_us, source=source, nodes=listed))
            inside.update(listed)
        answer = self._answer()
        self.inside, self.answered = len(inside), len(answer or ())
        self._answer_most = max(self._answer_most, self.answered)
        if truth:
            self._instants += 1
            self._inside_most = max(self._inside_most, len(inside))
            if inside and self._appeared_us is None:
                self._appeared_us = now_us
            if answer is None:
                self._has_sets = False
            else:
                self._compare(inside, answer)
        self._kernel.call_later(TRUTH_EVERY_US, self._look, None)

    def _compare(self, inside: set[int], answer: set[int]) -> None:
        either = inside | answer
        if either:
            both = len(inside & answer)
            self._judged += 1
            self._overlap += both / len(either)
            self._false += len(answer) - both
            self._missed += len(inside) - both


def _seconds(at_us: int | None) -> float | None:
    return None if at_us is None else at_us / US_PER_S
