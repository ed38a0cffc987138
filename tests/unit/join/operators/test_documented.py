import doctest
import re

from join.operators.registry import OPERATORS
from tests.support.places import DOCS

PAGE = DOCS / "JOINS.md"


def test_every_example_of_the_page_gives_the_output_shown() -> None:
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"```pycon\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) >= 10
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "JOINS.md", str(PAGE), 0)
    complaints: list[str] = []
    outcome = doctest.DocTestRunner(verbose=False).run(test, out=complaints.append)
    assert outcome.failed == 0, "".join(complaints)


def test_the_page_names_every_operator() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in OPERATORS if f"`{name}`" not in text] == []
