"""What the HEED paper's evaluation claims, as far as it could be checked in quotations: the paper itself was not available."""

from scenarios.reproduce.figure import Claim

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "heed-heads-fall",
        "Clustering study",
        "The share of heads falls as the cluster range grows.",
    ),
    Claim(
        "heed-heads-separate",
        "Clustering study",
        "The share of heads at each range is that of a separate implementation, within a tenth.",
        "plots only",
    ),
    Claim(
        "heed-iterations-flat",
        "Clustering study",
        "The number of iterations does not depend on the cluster range.",
    ),
    Claim(
        "heed-iterations-bound",
        "Lemma 1",
        "An election takes at most 12 iterations at p_min 0.0005.",
        "12",
    ),
    Claim(
        "heed-lifetime-first",
        "Application study",
        "HEED's first mote dies later than gen-LEACH's, with 300 to 700 motes.",
    ),
    Claim(
        "heed-lifetime-last",
        "Application study",
        "HEED's last mote dies later than gen-LEACH's, with 300 to 700 motes.",
    ),
    Claim(
        "heed-lifetime-control",
        "Application study",
        "HEED spends less energy on clustering than gen-LEACH.",
    ),
    Claim(
        "heed-lifetime-direct",
        "Application study",
        "HEED's first mote dies later than that of a network without clusters.",
    ),
    Claim(
        "heed-leach-own",
        "Application study",
        "In the setting LEACH was designed for, LEACH itself does better than HEED.",
    ),
)
