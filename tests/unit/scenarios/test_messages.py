"""Errors in a scenario's phenomenon are reported with their place and what was expected there."""

import pytest

from scenarios.files.shipped import shipped_scenarios
from scenarios.schema.load import parse_scenario
from sim.errors import ScenarioError

TEXT = shipped_scenarios()["gas-cloud-small"]

MISTAKES = {
    "number out of range": (
        ("rate_g_per_s = 150.0", "rate_g_per_s = -5"),
        ["phenomenon.source[0].rate_g_per_s = -5: expected a number above 0.0"],
    ),
    "absurdly far": (
        ("x_m = 40.0", "x_m = 1e300"),
        ["phenomenon.source[0].x_m = 1e+300: expected a number of at most 1000000000.0"],
    ),
    "a storm that no puff model knows": (
        ("speed_m_per_s = 1.5", "speed_m_per_s = 1e300"),
        ["phenomenon.wind.speed_m_per_s = 1e+300: expected a number of at most 150.0"],
    ),
    "misspelt key of a list's table": (
        ("x_m = 40.0", "xm = 40.0"),
        ["phenomenon.source[0].xm = 40.0: unknown key (did you mean 'x_m'?); known here: gas, x_m"],
    ),
    "misspelt key of the phenomenon": (
        ('stability = "A"', 'stabilty = "A"'),
        ["phenomenon.stabilty = 'A': unknown key (did you mean 'stability'?); known here: kind, value"],
    ),
    "no such choice of an enumeration": (
        ('stability = "A"', 'stability = "G"'),
        ["phenomenon.stability = 'G': expected one of 'A', 'B', 'C', 'D', 'E', 'F'"],
    ),
    "words for a number in an inner table": (
        ("from_deg = 260.0", 'from_deg = "west"'),
        ["phenomenon.wind.from_deg = 'west': expected a number"],
    ),
    "one table for a list": (
        ("[[phenomenon.source]]", "[phenomenon.source]"),
        ["phenomenon.source = a table: expected a list of tables, each under [[phenomenon.source]]"],
    ),
    "half a point, and no point": (
        ("[[phenomenon.source]]", "[[phenomenon.barrier]]\nfrom_m = [1.0]\nto_m = 5\n[[phenomenon.source]]"),
        [
            "phenomenon.barrier[0].from_m[1]: missing, expected a number",
            "phenomenon.barrier[0].to_m = 5: expected an array [...]",
        ],
    ),
    "no kind": (
        ('kind = "gas-cloud"', ""),
        ["phenomenon.kind: missing, expected one of 'data-centre', 'gas-cloud', 'moving-objects'"],
    ),
    "unknown gas": (
        ('gas = "ammonia"', 'gas = "amonia"'),
        ["phenomenon: source.gas = 'amonia': expected a [[phenomenon.gas]] of that name, or one of"],
    ),
    "more heads than motes": (
        ('protocol = "heed"', 'protocol = "k-means"\nexpected_heads = 201'),
        ["clustering.expected_heads = 201: expected at most motes.count = 200"],
    ),
    "a name with a blank": (
        ('name = "gas-cloud-small"', 'name = "my field"'),
        ["name = 'my field': expected letters, digits, '.', '_' and '-'"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_where_it_is(change: tuple[str, str], said: list[str]) -> None:
    assert change[0] in TEXT
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(TEXT.replace(*change, 1), "mine.toml")
    lines = str(caught.value).splitlines()
    assert len(lines) == len(said), lines
    for line, words in zip(lines, said, strict=True):
        assert line.startswith(f"mine.toml: {words}")


def test_a_list_that_needs_an_entry_says_so() -> None:
    text = TEXT[: TEXT.index("[[phenomenon.source]]")]
    emptied = text.replace('stability = "A"', 'stability = "A"\nsource = []')
    with pytest.raises(
        ScenarioError, match=r"phenomenon.source = \[\]: expected at least 1 entries"
    ):
        parse_scenario(emptied, "mine.toml")
