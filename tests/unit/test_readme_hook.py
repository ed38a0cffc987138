"""Links of the README in the built package."""

from tools.readme_hook import resolved

TEXT = "![A run](docs/images/a.png) [keys](docs/KEYS.md#x) [here](#below) [there](https://example.org/a) [mail](mailto:a@b)"


def test_links_stay_relative_while_there_is_no_source() -> None:
    assert resolved(TEXT, None) == TEXT


def test_pictures_are_raw_files_and_links_pages_of_the_source() -> None:
    found = resolved(TEXT, "https://example.org/motejoin/")
    base = "https://example.org/motejoin"
    assert f"![A run]({base}/raw/main/docs/images/a.png)" in found
    assert f"[keys]({base}/blob/main/docs/KEYS.md#x)" in found
    for kept in ("[here](#below)", "[there](https://example.org/a)", "[mail](mailto:a@b)"):
        assert kept in found
