"""docs/EXTENDING.md shows the examples as they are, and each is short enough for one sitting."""

from pathlib import Path

import pytest

from tests.support.places import DOCS

EXAMPLES = sorted(Path(__file__).parent.glob("toy_*.py"))
LINES_MOST = 60


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_shown_as_it_is(example: Path) -> None:
    code = example.read_text()
    assert f"```python\n{code}```" in (DOCS / "EXTENDING.md").read_text()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_one_short_file_that_registers_something(example: Path) -> None:
    code = example.read_text()
    assert len(code.splitlines()) <= LINES_MOST
    assert "\nregister(" in code
