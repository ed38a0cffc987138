"""How well the answer at the sink follows what is truly there, measured at every instant of truth."""

from collections.abc import Callable
from dataclasses import dataclass

from scenarios.phenomena.contract import Phenomenon
from sim.kernel import US_PER_S, Kernel
from sim.recorder import Rows

TRUTH_EVERY_US = US_PER_S


@dataclass(frozen=True, slots=True)
class TrackingFigures:
    """Detection and coverage of one run; None where the phenomenon never showed."""

    appeared_s: float | None
    """When two motes were first truly inside."""
    detected_s: float | None
    """When the answer first held a mote that was truly inside."""
    coverage: float | None
    """Mean over the instants with at least two motes inside of |answer and truth| / |answer or truth|."""
    false_alarms: float | None
    """Mean share of the answer that was not inside, over the instants with an answer."""
    inside_most: int
    answer_most: int


class Tracking:
    """Writes the truth and compares the answer with it, once a second."""

    def __init__(
        self, kernel: Kernel, phenomenon: Phenomenon, rows: Rows, answer: Callable[[], set[int]]
    ) -> None:
        self._kernel = kernel
        self._phenomenon = phenomenon
        self._rows = rows
        self._answer = answer
        self._appeared_us: int | None = None
        self._detected_us: int | None = None
        self._overlap = 0.0
        self._instants = 0
        self._false = 0.0
        self._answered = 0
        self._inside_most = 0
        self._answer_most = 0
        self.inside = 0
        """Motes truly inside at the last instant."""

    def start(self) -> None:
        """Begin to look, now and every second."""
        self._look(None)

    def figures(self) -> TrackingFigures:
        """What was measured so far."""
        return TrackingFigures(
            appeared_s=_seconds(self._appeared_us),
            detected_s=_seconds(self._detected_us),
            coverage=self._overlap / self._instants if self._instants else None,
            false_alarms=self._false / self._answered if self._answered else None,
            inside_most=self._inside_most,
            answer_most=self._answer_most,
        )

    def _look(self, _: None) -> None:
        now_us = self._kernel.now_us
        inside: set[int] = set()
        for source, nodes in self._phenomenon.truth(now_us).items():
            listed = nodes.tolist()
            if listed:
                self._rows.append((now_us, source, listed))
                inside.update(listed)
        self._compare(now_us, inside, self._answer())
        self._kernel.call_later(TRUTH_EVERY_US, self._look, None)

    def _compare(self, now_us: int, inside: set[int], answer: set[int]) -> None:
        self.inside = len(inside)
        self._inside_most = max(self._inside_most, len(inside))
        self._answer_most = max(self._answer_most, len(answer))
        if len(inside) >= 2:
            if self._appeared_us is None:
                self._appeared_us = now_us
            self._instants += 1
            self._overlap += len(answer & inside) / len(answer | inside)
        if answer:
            self._answered += 1
            self._false += len(answer - inside) / len(answer)
            if self._detected_us is None and answer & inside:
                self._detected_us = now_us


def _seconds(at_us: int | None) -> float | None:
    return None if at_us is None else at_us / US_PER_S
