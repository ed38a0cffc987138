"""What users may name: paths, and addresses of object stores."""

from pathlib import Path

import pytest

from analysis.store import opening
from analysis.store.opening import store_at
from analysis.store.place import Address, folder_path, place
from sim.errors import InputError, MachineError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sweeps/mine", Path("sweeps/mine")),
        ("/a:/b", Path("/a:/b")),
        ("file:///shared/mine", Path("/shared/mine")),
        ("s3://bucket/mine/", Address("s3", "bucket/mine")),
        ("S3://bucket", Address("s3", "bucket")),
        ("gs://b/x", Address("gs", "b/x")),
        (
            "abfss://c@account.dfs.core.windows.net/x",
            Address("abfss", "c@account.dfs.core.windows.net/x"),
        ),
        (Path("s3://bucket/mine"), Address("s3", "bucket/mine")),
        (Address("s3", "bucket/mine"), Address("s3", "bucket/mine")),
    ],
    ids=str,
)
def test_places_are_recognised(text: str, expected: Path | Address) -> None:
    assert place(text) == expected


@pytest.mark.parametrize("text", ["http://x/y", "hdfs://name:8020/x", "s3://", "s3:///"])
def test_other_addresses_are_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(InputError, match="expected"):
        place(text)


def test_an_address_has_the_parts_of_a_path() -> None:
    address = Address("s3", "bucket/mine") / "runs" / "a-1"
    assert str(address) == "s3://bucket/mine/runs/a-1"
    assert (address.name, str(address.parent)) == ("a-1", "s3://bucket/mine/runs")
    assert address.parts == ("bucket", "mine", "runs", "a-1")
    assert address.resolve() == address


@pytest.mark.parametrize("text", ["s3://bucket/x", "s3:/bucket/x", "http://x"])
def test_where_a_folder_is_needed_an_address_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected a folder"):
        folder_path(text)
    assert folder_path("a/b") == Path("a/b")


def test_a_missing_client_is_named_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda _: None)
    with pytest.raises(MachineError, match=r"motejoin\[s3\]"):
        store_at(Address("s3", "bucket"))
    with pytest.raises(MachineError, match="pip install gcsfs"):
        store_at(Address("gs", "bucket"))
