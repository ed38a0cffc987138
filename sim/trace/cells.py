"""Cells of one trace column for many rows, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Cells:
    """Numbers, or positions in a list of names."""

    numbers: NDArray[np.int64] | NDArray[np.float64]
    valid: NDArray[np.bool_] | None = None
    """Which cells are not null; None: all."""
    names: Sequence[str] | None = None
    """If the column is a text: what the numbers stand for. It may grow, but not change."""

    def __len__(self) -> int:
        return len(self.numbers)


def joined(blocks: Sequence[Cells]) -> Cells:
    """Several blocks of one column, one after another."""
    if len(blocks) == 1:
        return blocks[0]
    valid = None
    if blocks[0].valid is not None:
        valid = np.concatenate([block.valid for block in blocks if block.valid is not None])
    numbers = np.concatenate([block.numbers for block in blocks])
    return Cells(numbers, valid, blocks[-1].names)
