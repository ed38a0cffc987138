"""`automatic` with a mind of its own: it switches plans whenever it may, so that tests see many switches."""

from collections.abc import Mapping, Sequence
from itertools import cycle

from join.strategies.automatic.driver import AutomaticJoin
from join.strategies.automatic.plans import Plan
from join.strategies.contract import JoinSettings, JoinStrategy, Ports
from join.strategies.registry import STRATEGIES

RESTLESS = "automatic, restless"


def made(strategy: str, ports: Ports, settings: JoinSettings) -> JoinStrategy:
    """The strategy of that name, or the restless one."""
    if strategy == RESTLESS:
        return AutomaticJoin(ports, settings, Restless())
    return STRATEGIES[strategy].make(ports, settings)


class Restless:
    """Decides for one plan after the other."""

    def __init__(self) -> None:
        self._turns = cycle(Plan)

    def __call__(
        self, costs: Mapping[Plan, float], plans: Sequence[Plan], present: Plan, **_: object
    ) -> Plan | None:
        """The next plan, in a fixed order."""
        del costs
        return next(
            (p for p in (next(self._turns) for _ in Plan) if p in plans and p is not present), None
        )
