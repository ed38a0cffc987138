"""The `[clustering]` table: how often heads are elected, and the options that protocols declare."""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import Field, create_model, field_validator, model_validator

from clustering.protocols.options import Option, ProtocolOptions
from clustering.protocols.registry import (
    AnyProtocol,
    SharedOption,
    protocol_named,
    protocol_options,
    registered,
)
from scenarios.schema.base import LARGEST, NotNegative, Positive, Table


class Clustering(Table):
    """`[clustering]`: the protocol, its options, and how often heads are elected.

    What the protocols do, and how to compare them: [CLUSTERING.md](CLUSTERING.md).
    """

    protocol: str = Field(description="how cluster heads are elected")
    range_m: Positive = Field(
        100.0,
        description="how far announcements carry, hence how far a member is from its head or its next hop; at most"
        " `radio.range_m`. LEACH's advertisements reach the whole field when this is its diagonal",
    )
    round_s: NotNegative = Field(
        120.0, description="re-election period, at least 10; 0: only at the start and when called"
    )
    trigger_share: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.0,
        description="a head whose battery falls below this share of what it was at its election calls"
        " an election; 0: never",
    )
    on_head_failure: Literal["re-elect", "wait"] = Field(
        "re-elect",
        description="members that find their head dead call an election (`re-elect`) or go on until the next"
        " (`wait`)",
    )
    handover: Literal["expire", "move"] = Field(
        "expire",
        description="readings at a head that steps down: it answers for them until they have left"
        " the window (`expire`), or they are sent to their motes' new heads (`move`)",
    )

    @property
    def options(self) -> ProtocolOptions:
        """The options of the protocol."""
        return chosen_options(self.protocol, dict(self))

    @model_validator(mode="after")
    def _options_go_together(self) -> Self:
        for fault in option_faults(self.protocol, dict(self), {"range_m": self.range_m}):
            raise ValueError(fault)
        return self

    @field_validator("round_s")
    @classmethod
    def _round_holds_an_election(cls, round_s: float) -> float:
        if 0 < round_s < 10:
            raise ValueError("expected 0 (elect once) or at least 10 s: an election takes seconds")
        return round_s


def clustering_table() -> type[Clustering]:
    """The table with the options of all protocols that are registered."""
    return _table(registered())


@cache
def _table(protocols: tuple[AnyProtocol, ...]) -> type[Clustering]:
    names = tuple(protocol.name for protocol in protocols)
    fields: dict[str, Any] = {"protocol": (Literal[names], Clustering.model_fields["protocol"])}
    fields |= option_fields()
    taken = fields.keys() & Clustering.model_fields.keys() - {"protocol"}
    assert not taken, f"options of protocols have the names of other keys: {sorted(taken)}"
    return create_model(
        Clustering.__name__, __base__=Clustering, __doc__=Clustering.__doc__, **fields
    )


def option_fields() -> dict[str, Any]:
    """Every protocol's options as fields of a table: by key, type and description with the default."""
    return {
        key: (
            _annotation(shared.option),
            Field(_in_file(shared.option.default), description=_described(shared)),
        )
        for key, shared in protocol_options().items()
    }


def _described(shared: SharedOption) -> str:
    owners = ", ".join(f"`{name}`" for name in shared.protocols)
    return f"{owners}: {shared.option.meaning}"


def _annotation(option: Option) -> Any:  # noqa: ANN401 (typing's own objects)
    annotation: Any = Literal[tuple(option.choices)] if option.choices else _number(option)
    if option.kind is tuple:
        annotation = list[annotation]
    return annotation | None if option.optional else annotation


def _number(option: Option) -> Any:  # noqa: ANN401
    limits = option.limits
    if option.kind is bool:
        return bool
    if option.kind is int:
        return Annotated[
            int, Field(gt=limits.above, ge=limits.least, lt=limits.below, le=limits.most)
        ]
    least, most = limits.least, limits.most
    if least is None and limits.above is None:
        least = -LARGEST
    if most is None and limits.below is None:
        most = LARGEST
    return Annotated[float, Field(gt=limits.above, ge=least, lt=limits.below, le=most)]


def _in_file(default: Any) -> Any:  # noqa: ANN401 (whatever an option takes)
    """A default as written in a file."""
    if isinstance(default, str):
        return str(default)
    return list(default) if isinstance(default, tuple) else default


def chosen_options(protocol: str, values: Mapping[str, Any]) -> ProtocolOptions:
    """The options of a protocol, from checked values of all options."""
    chosen = protocol_named(protocol)
    options: ProtocolOptions = chosen.options(
        **{option.key: option.value(values[option.key]) for option in chosen.declared()}
    )
    return options


def option_faults(
    protocol: str,
    values: Mapping[str, Any],
    facts: Mapping[str, Any],
    names: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Conflicts of options with the protocol, and with facts of the network.

    Args:
        protocol: The protocol that is chosen.
        values: Of all options, by key.
        facts: `range_m` and `motes`; limits that refer to one that is not given are not checked.
        names: The user's names of options, facts and `protocol`, where they differ from those here.
    """
    names = names or {}
    for key, shared in protocol_options().items():
        limits, value, name = shared.option.limits, values[key], names.get(key, key)
        if not value:
            continue
        if shared.option.only_here and protocol not in shared.protocols and "range_m" in facts:
            owner = " or ".join(map(repr, shared.protocols))
            yield (
                f"{name}: expected {names.get('protocol', 'protocol')} = {owner}, found {protocol!r}:"
                f" {shared.option.only_here}"
            )
        elif limits.ascends_from_range and "range_m" in facts:
            range_m = facts["range_m"]
            if any(near >= far for near, far in pairwise([range_m, *value])):
                yield (
                    f"{name} = {value}: expected ranges that ascend from"
                    f" {names.get('range_m', 'range_m')} = {range_m}"
                )
        elif limits.up_to_motes and "motes" in facts and value > facts["motes"]:
            yield f"{name} = {value}: expected at most {names.get('motes', 'motes')} = {facts['motes']}"
