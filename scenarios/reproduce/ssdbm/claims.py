"""The comparative sentences of the SSDBM paper's performance study, in our own words. The text lost its numbers."""

from scenarios.reproduce.figure import Claim

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "ssdbm-throughput-hash",
        "Query execution throughput",
        "With hashing FEW-join has a higher maximum throughput than BEW-join, for 2 to 6 streams.",
    ),
    Claim(
        "ssdbm-throughput-nested",
        "Query execution throughput",
        "With nested loops FEW-join has a higher maximum throughput than BEW-join, for 2 to 6 streams.",
    ),
    Claim(
        "ssdbm-falls-earlier",
        "Query execution throughput",
        "BEW-join fails to keep up at a lower arrival rate than FEW-join.",
    ),
    Claim(
        "ssdbm-difference-shrinks",
        "Query execution throughput",
        "The difference in maximum throughput shrinks as streams are added.",
    ),
    Claim(
        "ssdbm-modes",
        "Query execution throughput",
        "It shrinks because FEW-join switches between its modes more often, and mode 1 takes a larger part of the time.",
    ),
    Claim(
        "ssdbm-rates-alike",
        "Query execution throughput",
        "Streams of different rates give results like those of comparable rates.",
    ),
    Claim(
        "ssdbm-response-low",
        "Response time",
        "At low arrival rates BEW-join responds sooner than FEW-join.",
    ),
    Claim(
        "ssdbm-response-waiting",
        "Response time",
        "FEW-join responds late at low rates because tuples wait for tuples of other streams, not because of its work.",
    ),
    Claim(
        "ssdbm-response-bew-rises",
        "Response time",
        "BEW-join's response time rises with the arrival rate.",
    ),
    Claim(
        "ssdbm-response-few-falls",
        "Response time",
        "FEW-join's response time falls as the arrival rate rises.",
    ),
    Claim(
        "ssdbm-response-cross",
        "Response time",
        "The two cross near BEW-join's maximum throughput; beyond it FEW-join responds sooner.",
    ),
    Claim(
        "ssdbm-output-time",
        "Output execution time",
        "FEW-join produces the same output in less execution time than BEW-join, on retail data with a window of an hour.",
    ),
    Claim(
        "ssdbm-path-windows",
        "Variations",
        "On a path, BEW-join with the constraints of each stream keeps smaller windows than the conservative approaches, and processes a tuple faster.",
    ),
)
