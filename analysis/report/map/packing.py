"""Numbers as the page reads them: little-endian typed arrays in base64, decoded without parsing."""

from base64 import b64encode
from typing import Any

from numpy.typing import NDArray


def packed(numbers: NDArray[Any], kind: str) -> str:
    """Numbers of a NumPy kind such as "<u4"."""
    return b64encode(numbers.astype(kind).tobytes()).decode()
