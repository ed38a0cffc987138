"""The network before time starts: hardware, positions and links, from the scenario and its files."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from network.radio.profile import DatasheetRadio, Profile, load_profile, parse_profile
from network.topology import (
    Placement,
    Points,
    place_clustered,
    place_grid,
    place_poisson_disk,
    place_uniform,
    read_links,
    read_positions,
)
from scenarios.phenomena.registry import recorded_positions_m
from scenarios.schema.load import LoadedScenario
from sim.errors import Fault, ScenarioError
from sim.files import read_regular
from sim.rng import RandomStreams
from sim.trace.tables import SINK

_LINES: Final = "expected `id x y`, or CSV with a header id,x_m,y_m, and whole numbers as ids"


@dataclass(frozen=True, slots=True)
class Site:
    """The network before time starts: hardware, positions and links, all input files read."""

    profile: Profile
    placement: Placement
    ids: tuple[int, ...]
    """The id of each mote in the files of positions and links."""
    links: dict[tuple[int, int], float]
    """Link probabilities by (source, target), for channel = 'links'."""


def read_input(loaded: LoadedScenario, key: str, path: str, inputs: dict[str, str]) -> bytes:
    """The content of an input file, its digest noted in `inputs`.

    Raises:
        ScenarioError: it cannot be read.
    """
    try:
        content = read_regular(loaded.base_dir / Path(path))
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise ScenarioError(
            loaded.source, [Fault(key, repr(path), f"cannot be read: {reason}")]
        ) from None
    inputs[path] = hashlib.blake2b(content, digest_size=16).hexdigest()
    return content


def build_site(loaded: LoadedScenario, streams: RandomStreams, inputs: dict[str, str]) -> Site:
    """Place the motes and read the files that the network is made of.

    Raises:
        ScenarioError: a file is missing or bad, or the motes do not fit.
    """
    scenario = loaded.scenario
    profile = _read_profile(loaded, inputs)
    if scenario.radio.channel == "shadowing" and not isinstance(profile.radio, DatasheetRadio):
        expected = "expected a profile with power levels, such as 'micaz', with channel 'shadowing'"
        raise ScenarioError(
            loaded.source, [Fault("motes.profile", repr(scenario.motes.profile), expected)]
        )
    motes_m, ids = _place(loaded, streams, inputs)
    sink = np.array([[scenario.sink.x_m, scenario.sink.y_m]])
    return Site(
        profile=profile,
        placement=Placement(np.concatenate([motes_m, sink])),
        ids=ids,
        links=_read_links(loaded, ids, inputs) if scenario.radio.links else {},
    )


def _read_profile(loaded: LoadedScenario, inputs: dict[str, str]) -> Profile:
    name = loaded.scenario.motes.profile
    if not name.endswith(".toml"):
        return load_profile(name)
    content = read_input(loaded, "motes.profile", name, inputs)
    return parse_profile(content.decode("utf-8", errors="replace"), name)


def _place(
    loaded: LoadedScenario, streams: RandomStreams, inputs: dict[str, str]
) -> tuple[Points, tuple[int, ...]]:
    """Positions of the motes, and their ids."""
    field, motes = loaded.scenario.field, loaded.scenario.motes
    rng = streams.vector("placement")
    numbers = tuple(range(motes.count))
    count, width_m, height_m = motes.count, field.width_m, field.height_m
    match motes.placement:
        case "uniform":
            return place_uniform(rng, count=count, width_m=width_m, height_m=height_m), numbers
        case "grid":
            points_m = place_grid(
                rng, count=count, width_m=width_m, height_m=height_m, jitter=motes.jitter
            )
            return points_m, numbers
        case "clustered":
            points_m = place_clustered(
                rng,
                count=count,
                width_m=width_m,
                height_m=height_m,
                groups=motes.groups,
                spread_m=motes.spread_m,
            )
            return points_m, numbers
        case "poisson-disk":
            found = place_poisson_disk(
                rng, count=count, width_m=width_m, height_m=height_m, apart_m=motes.apart_m
            )
            if found is None:
                expected = f"expected less: {count} motes so far apart do not fit in the field"
                raise ScenarioError(
                    loaded.source, [Fault("motes.apart_m", str(motes.apart_m), expected)]
                )
            return found, numbers
        case "file":
            return _place_from_file(loaded, inputs)
        case "recorded":
            recorded_m = recorded_positions_m(loaded.scenario.phenomenon, base_dir=loaded.base_dir)
            if recorded_m is None:
                expected = "expected a recording with positions"
                raise ScenarioError(
                    loaded.source, [Fault("motes.placement", "'recorded'", expected)]
                )
            if len(recorded_m) != count:
                expected = f"expected as many motes as the recording has: {len(recorded_m)}"
                raise ScenarioError(loaded.source, [Fault("motes.count", str(count), expected)])
            return recorded_m, numbers


def _place_from_file(
    loaded: LoadedScenario, inputs: dict[str, str]
) -> tuple[Points, tuple[int, ...]]:
    motes = loaded.scenario.motes
    assert motes.positions is not None, motes
    content = read_input(loaded, "motes.positions", motes.positions, inputs)
    points_m, bad = read_positions(content.decode("utf-8", errors="replace"))
    faults = [
        Fault(
            "motes.positions",
            repr(motes.positions),
            f"line {n} is {line!r}, {_LINES}",
        )
        for n, line in bad[:20]
    ]
    if not bad and not points_m:
        fault = f"has no positions, {_LINES}"
        faults.append(Fault("motes.positions", repr(motes.positions), fault))
    elif not bad and len(points_m) != motes.count:
        expected = f"expected as many positions as the file has: {len(points_m)}"
        faults.append(Fault("motes.count", str(motes.count), expected))
    if faults:
        raise ScenarioError(loaded.source, faults)
    return np.array(list(points_m.values()), dtype=np.float64), tuple(points_m)


def _read_links(
    loaded: LoadedScenario, ids: Sequence[int], inputs: dict[str, str]
) -> dict[tuple[int, int], float]:
    """Link probabilities between nodes, numbered as the motes are."""
    radio = loaded.scenario.radio
    assert radio.links is not None, radio
    content = read_input(loaded, "radio.links", radio.links, inputs)
    by_id, bad = read_links(content.decode("utf-8", errors="replace"))
    number = {name: node for node, name in enumerate(ids)}
    number.setdefault(radio.links_sink, SINK)
    expected = "expected `sender receiver probability`"
    faults = [
        Fault("radio.links", repr(radio.links), f"line {n} is {line!r}, {expected}")
        for n, line in bad[: 20 if len(bad) > radio.links_bad_lines else 0]
    ]
    unknown = sorted({name for pair in by_id for name in pair} - set(number))
    if unknown:
        listed = ", ".join(map(str, unknown[:10]))
        faults.append(Fault("radio.links", repr(radio.links), f"ids without position: {listed}"))
    if faults:
        raise ScenarioError(loaded.source, faults)
    return {(number[a], number[b]): rate for (a, b), rate in by_id.items()}
