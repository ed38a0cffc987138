"""What a tuple costs the published W-joins on a virtual processor: operations counted, each at a stated cost.

"The service time depends on the number of comparisons in each iteration" (W-join §4.3).

Operation                                         Cost    Where
comparison of two time stamps or two values       1 us    t_p of Shared §3.1.1
window test of a scanned tuple (IsIn)             2 comparisons, W-join §3.2: "boundary checking (two comparisons)"
expiry test of a scanned tuple (IsOut)            1 comparison: the first mostly decides
join predicate                                    1 comparison
hash, insert, form a result                       5, 5, 2 us, as `join.cpu_us` of scenario files

Ripple join and XJoin are cleaned from time to time, so they test no expiry while they scan; their clean-ups are taken to
cost nothing, which favours them. MW and FEW test the window once for each tuple that they look at in mode 1 or
admit in mode 2, and only the predicate in mode 2. The costs were fixed before any of these figures was computed, with one
exception: FEW by hashing was charged at first for look-ups in all tables, also after a miss, which BEW was not.
"""

from typing import Final

from join.contract import Stats

COMPARISON_US: Final = 1.0
HASH_US: Final = 5.0
INSERT_US: Final = 5.0
FORM_US: Final = 2.0

WINDOW: Final = 2
EXPIRY: Final = 1
PREDICATE: Final = 1

SCANS: Final = {
    "nlw": WINDOW + EXPIRY + PREDICATE,
    "hw": WINDOW + EXPIRY + PREDICATE,
    "bew": WINDOW + EXPIRY + PREDICATE,
    "bew-hash": WINDOW + EXPIRY + PREDICATE,
    "ripple": WINDOW + PREDICATE,
    "xjoin-tree": WINDOW + PREDICATE,
    "mw": PREDICATE,
    "few": PREDICATE,
    "few-hash": PREDICATE,
}
"""Comparisons for each stored tuple that is tested."""
MODED: Final = ("mw", "few", "few-hash")
HASHED: Final = ("hw", "xjoin-tree", "bew-hash")


def work_us(name: str, before: Stats, after: Stats) -> float:
    """What an operator's work between two counts costs."""
    comparisons = (after.comparisons - before.comparisons) * SCANS[name]
    if name in MODED:
        # `probes` are the tuples looked at in mode 1.
        looked_at = after.probes - before.probes
        comparisons += WINDOW * (looked_at + after.mode_2 - before.mode_2)
    return (
        comparisons * COMPARISON_US
        + hashing_us(name, before, after)
        + (after.inserts - before.inserts) * INSERT_US
        + (after.formed - before.formed) * FORM_US
    )


def hashing_us(name: str, before: Stats, after: Stats) -> float:
    """What an operator's look-ups between two counts cost."""
    if name == "few-hash":
        # Look-ups in mode 2; as in the other hash joins, a tuple's own insertion is not hashed again.
        hashes = (after.hashes - after.inserts) - (before.hashes - before.inserts)
    elif name in HASHED:
        hashes = after.probes - before.probes
    else:
        hashes = 0
    return hashes * HASH_US


NOTHING: Final = Stats(0, 0, 0, 0, 0, 0, 0)
