"""Keys whose value is a name in a registry, which grows when users register their own."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from join.strategies.registry import STRATEGIES
from join.strategies.snjoin_star.rules.registry import RULES
from network.mac.registry import MACS
from sim.errors import one_of


def known_in(registry: Mapping[str, object]) -> Callable[[str], str]:
    """A validator that accepts the names that are in `registry` when it is called."""

    def validated(name: str) -> str:
        if name not in registry:
            raise ValueError(one_of(name, registry))
        return name

    return validated


def listing(registry: Mapping[str, object]) -> Callable[[dict[str, Any]], None]:
    """Lists the names of `registry` in the JSON schema of a key."""

    def listed(schema: dict[str, Any]) -> None:
        schema["enum"] = list(registry)

    return listed


MacName = Annotated[str, AfterValidator(known_in(MACS)), Field(json_schema_extra=listing(MACS))]
StrategyName = Annotated[
    str, AfterValidator(known_in(STRATEGIES)), Field(json_schema_extra=listing(STRATEGIES))
]
RuleName = Annotated[str, AfterValidator(known_in(RULES)), Field(json_schema_extra=listing(RULES))]
