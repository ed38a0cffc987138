"""Options that several protocols have: one key of scenario files each, whatever the protocol."""

from enum import StrEnum
from typing import Any

from clustering.protocols.options import Limits, option


class Weight(StrEnum):
    """What makes a node a good head, for protocols that compare weights."""

    ENERGY = "energy"
    DEGREE = "degree"
    """Most live neighbours first."""
    NUMBER = "number"
    """The node number, as in the first papers."""


def weight_option() -> Any:  # noqa: ANN401 (typed by the field that it declares)
    """`weight`, for protocols that compare weights."""
    return option(
        Weight.ENERGY,
        "what makes a mote a good head: energy left, neighbours, or its number as in the first papers",
    )


def expected_heads_option() -> Any:  # noqa: ANN401 (typed by the field that it declares)
    """`expected_heads`, for protocols that aim at a number of heads."""
    return option(
        None,
        "heads wanted; default: a twentieth of the motes (`motejoin cluster`: as many as squares of"
        " side range·√2 fill the field)",
        Limits(least=1, most=1_000_000, up_to_motes=True),
        flag="heads",
    )
