"""Whether two engines give the same metrics of a run."""

import math
from collections.abc import Mapping
from typing import Any


def assert_equal_rows(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Check every cell of `found`: integers and text are equal, other numbers to 1e-12."""
    for column, value in found.items():
        theirs = expected[column]
        if isinstance(value, float) and isinstance(theirs, float):
            assert math.isclose(value, theirs, rel_tol=1e-12), (column, value, theirs)
        else:
            assert value == theirs, (column, value, theirs)
