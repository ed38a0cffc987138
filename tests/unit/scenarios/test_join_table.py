"""Options of `[join]` that do not go together are refused."""

from typing import Any

import pytest
from pydantic import ValidationError

from scenarios.schema.join import Join

CLASHES: dict[str, tuple[dict[str, Any], str]] = {
    "fan-out that waits for ever": ({"probing": "fan-out", "timeout_s": 0}, "timeout_s = 0"),
    "a tour of heads asked at once": ({"probing": "fan-out", "order": "tour"}, "order = 'tour'"),
    "retries without a time-out": ({"retries": 2, "timeout_s": 0}, "retries = 2"),
    "a target for the paper's rule": ({"target_recall": 0.9}, "feedback = 'directory'"),
    "regions that the sink would not know": (
        {"path": "straight", "answer": "occupancy"},
        "path = 'straight'",
    ),
    "regions that motes would not know": (
        {"strategy": "change", "reporters": "motes", "answer": "occupancy"},
        "reporters = 'motes'",
    ),
    "a target for match rates": (
        {"target_recall": 0.9, "feedback": "match-rate"},
        "found feedback = 'match-rate'",
    ),
}


@pytest.mark.parametrize(("keys", "said"), CLASHES.values(), ids=CLASHES)
def test_options_that_do_not_go_together_are_refused(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Join.model_validate({"strategy": "snjoin-star", "window_s": 6.0, **keys})


def test_options_that_go_together_are_accepted() -> None:
    table = Join.model_validate(
        {"strategy": "snjoin-star", "window_s": 6.0, "probing": "fan-out", "retries": 1}
    )
    assert (table.probing, table.retries, table.timeout_s) == ("fan-out", 1, None)
