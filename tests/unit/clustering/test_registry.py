"""The registry of clustering protocols: what it refuses, and what it derives from declarations."""

from dataclasses import dataclass

import pytest

from clustering.protocols.each_alone.options import elect
from clustering.protocols.heed.options import HEED, Cost
from clustering.protocols.options import ClusteringProtocol, ProtocolOptions, option
from clustering.protocols.registry import option_flags, protocol_options, register, registered
from sim.errors import InputError


@dataclass(frozen=True, slots=True)
class OtherCost(ProtocolOptions):
    cost: Cost = option(Cost.DEGREE, "what heads are compared by")


def test_a_name_is_given_once() -> None:
    before = registered()
    register(HEED)  # registering the same again has no effect
    with pytest.raises(InputError, match="'heed': there is one of that name"):
        register(ClusteringProtocol("heed", "", ProtocolOptions, elect))
    assert registered() == before


def test_a_key_means_the_same_to_all_protocols() -> None:
    before = registered()
    with pytest.raises(InputError, match="'cost' is declared differently by heed"):
        register(ClusteringProtocol("other", "", OtherCost, elect))
    assert registered() == before


def test_protocols_share_what_they_declare_alike() -> None:
    assert protocol_options()["expected_heads"].protocols == ("leach", "k-means")
    assert protocol_options()["weight"].protocols == ("dca", "max-min")


def test_options_have_names_on_the_command_line() -> None:
    flags = option_flags()
    assert flags["c_prob"] == "--c-prob"
    assert flags["expected_heads"] == "--heads"
    assert "tell_costs" not in flags
