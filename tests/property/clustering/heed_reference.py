"""HEED computed node by node, slowly: the reference that the vectorised core must equal.

Each node is an object with an inbox and decides from received messages alone; messages are tuples in
lists. It shares nothing with the core but its random draws and the order of back-offs.
"""

from dataclasses import dataclass, field

import numpy as np

from clustering.contract import Neighbourhood
from tests.support.lossy_air import Arrives

TENTATIVE, FINAL = "tentative", "final"


@dataclass
class Node:
    number: int
    neighbours: list[int]
    cost: float
    probability: float
    previous_probability: float = 0.0
    is_final: bool = False
    announced: bool = False
    """Whether it announced itself as tentative head in the last iteration."""
    final_heads: set[tuple[float, int]] = field(default_factory=set)
    tentative_heads: set[tuple[float, int]] = field(default_factory=set)
    head: int = -1
    self_elected: bool = False
    tentative_rounds: int = 0
    sent: dict[str, int] = field(default_factory=dict)

    @property
    def badge(self) -> tuple[float, int]:
        return (self.cost, self.number)

    def iterate(self, draw: float) -> str | None:
        """One pass of Repeat: the status to announce, if any."""
        known = self.final_heads | self.tentative_heads
        if self.announced:
            known = known | {self.badge}
        self.tentative_heads = set()
        self.announced = False
        status = None
        if known:
            if min(known) == self.badge:
                status = FINAL if self.probability == 1 else TENTATIVE
        elif self.probability == 1:
            status = FINAL
            self.self_elected = True
        elif draw < self.probability:
            status = TENTATIVE
        if status == FINAL:
            self.is_final = True
        if status == TENTATIVE:
            self.announced = True
            self.tentative_rounds += 1
        self.previous_probability = self.probability
        self.probability = min(2 * self.probability, 1.0)
        return status

    def hear(self, status: str, badge: tuple[float, int]) -> None:
        (self.final_heads if status == FINAL else self.tentative_heads).add(badge)

    def settle(self, join_attempts: int, arrives: Arrives) -> None:
        """Join the cheapest final head, or become a head if that one never hears the join."""
        if not self.is_final:
            cheapest = min(self.final_heads)[1]
            for attempt in range(1, join_attempts + 1):
                if arrives("join", attempt, self.number, cheapest):
                    self.head = cheapest
                    return
            self.self_elected = True
        self.head = self.number


def reference_costs(
    cost: str, neighbourhood: Neighbourhood, alive: list[bool]
) -> tuple[list[list[int]], list[float]]:
    rows: list[list[int]] = []
    costs: list[float] = []
    for node in range(neighbourhood.count):
        start, stop = int(neighbourhood.starts[node]), int(neighbourhood.starts[node + 1])
        row: list[int] = []
        power = 0.0
        for link in range(start, stop):
            other = int(neighbourhood.targets[link])
            if alive[other]:
                row.append(other)
                power += float(neighbourhood.distances_m[link]) ** 2
        rows.append(row)
        costs.append(
            {
                "amrp": power / len(row) if row else 0.0,
                "degree": float(len(row)),
                "max-degree": -float(len(row)),
            }[cost]
        )
    return rows, costs


def reference_heed(
    *,
    neighbourhood: Neighbourhood,
    alive: list[bool],
    energy_share: list[float],
    cost: str,
    c_prob: float,
    p_min: float,
    random: np.random.Generator,
    join_attempts: int,
    arrives: Arrives,
) -> tuple[list[Node | None], int]:
    """The nodes as HEED leaves them (None if dead) and the number of iterations."""
    count = neighbourhood.count
    rows, costs = reference_costs(cost, neighbourhood, alive)
    nodes: list[Node | None] = [
        Node(i, rows[i], costs[i], min(1.0, max(c_prob * energy_share[i], p_min)))
        if alive[i]
        else None
        for i in range(count)
    ]
    live = [node for node in nodes if node is not None]

    def reaches(kind: str, source: Node, target: int) -> bool:
        return arrives(kind, source.sent[kind], source.number, target)

    def announce(source: Node, status: str) -> None:
        source.sent["head"] = source.sent.get("head", 0) + 1
        for other in source.neighbours:
            listener = nodes[other]
            assert listener is not None
            if reaches("head", source, other):
                listener.hear(status, source.badge)

    iterations = 0
    while any(node.previous_probability < 1 for node in live):
        iterations += 1
        draws = random.random(count).tolist()
        # All nodes decide on earlier messages, then all send.
        statuses = [
            (node, node.iterate(draws[node.number]))
            for node in live
            if node.previous_probability < 1
        ]
        # A node that is done with its iterations still forgets old tentative heads.
        for node in live:
            node.tentative_heads = set()
        for node, status in statuses:
            if status is not None:
                announce(node, status)

    for node in live:
        if node.is_final:
            announce(node, FINAL)
    turn = random.permutation(count).tolist()
    for node in sorted(live, key=lambda node: turn[node.number]):
        if not node.is_final and not node.final_heads:
            node.is_final = node.self_elected = True
            announce(node, FINAL)

    for node in live:
        node.settle(join_attempts, arrives)
    return nodes, iterations
