"""Pages in a real browser: played, scrubbed, zoomed, pinned, at desk and on a phone, light and dark."""

import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageSequence

from scenarios.cli import main
from tests.support.browser import Browser, chromium
from tests.support.requirements import needs_chromium
from tests.support.runs import run_here

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.xdist_group("browser")]

WALL = "phenomenon.barrier=[{from_m=[90.0, 60.0], to_m=[90.0, 130.0]}]"
TURN = "phenomenon.wind.turn=[{at_s=60.0, over_s=10.0, from_deg=0.0}]"
PHONE: dict[str, Any] = {"width": 390, "height": 844, "phone": True}
AXE = "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => v.impact + ' ' + v.id + ' ' + v.nodes.map(n => n.html).slice(0, 3).join(' ')))"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened
        assert opened.console == []
        assert opened.requests == []


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cloud before a wall in a wind that turns, and the same with all readings sent to the sink."""
    folder = tmp_path_factory.mktemp("runs")
    settings = ["--set", WALL, "--set", TURN]
    run_here(folder / "star", *settings)
    run_here(folder / "central", *settings, "--set", "join.strategy=centralised")
    star, central = str(folder / "star"), str(folder / "central")
    assert main(["report", star, "--baseline", central]) == 0
    assert main(["report", star, central]) == 0
    return folder


@pytest.fixture(scope="module")
def page(runs: Path) -> Path:
    return runs / "star" / "report.html"


def mote_place(browser: Browser, node: int) -> tuple[float, float]:
    """Where a mote is in the window."""
    x, y = browser.value(
        "(() => { const m = player.maps[0]; m.canvas.scrollIntoView({block: 'nearest'});"
        " const b = m.canvas.getBoundingClientRect();"
        f" return [b.x + m.px(m.world.x[{node}]), b.y + m.py(m.world.y[{node}])]; }})()"
    )
    return x, y


def lonely(browser: Browser) -> int:
    """A mote that no other is close to, so that a click means it."""
    return int(
        browser.value(
            "(() => { const w = player.worlds[0]; let best = 0, far = 0;"
            " for (let a = 0; a < w.motes; a++) { let near = Infinity;"
            " for (let b = 0; b < w.motes; b++) if (a !== b) near = Math.min(near, Math.hypot(w.x[a] - w.x[b], w.y[a] - w.y[b]));"
            " if (near > far) { best = a; far = near; } } return best; })()"
        )
    )


def facts(browser: Browser) -> dict[str, str]:
    """The facts about the mote shown."""
    found: dict[str, str] = browser.value(
        "Object.fromEntries([...document.querySelectorAll('#mote dt')].map((d) => [d.textContent, d.nextSibling.textContent]))"
    )
    return found


def near(picture: NDArray[np.uint8], colour: str, browser: Browser) -> int:
    """How many pixels of a picture have the colour of a style variable."""
    wanted = browser.value(
        f"(() => {{ const c = document.createElement('canvas').getContext('2d'); c.fillStyle = colour('{colour}');"
        " c.fillRect(0, 0, 1, 1); return [...c.getImageData(0, 0, 1, 1).data].slice(0, 3); })()"
    )
    return int((np.abs(picture.astype(int) - np.array(wanted)).max(axis=2) <= 12).sum())


def test_the_verdict_and_the_map_are_on_the_first_screen(browser: Browser, page: Path) -> None:
    browser.open(page)
    verdict = browser.text(".verdict")
    assert "Found: the gas cloud reached the first of 200 motes (sensors) at 11 s" in verdict
    assert "(recall)" in verdict
    assert "times that with “centralised”" in verdict
    assert "Idealised radio: one hop, no collisions" in verdict
    assert browser.value("document.querySelector('.controls').getBoundingClientRect().bottom") < 900
    browser.open(page, **PHONE)
    assert browser.value("document.querySelector('canvas').getBoundingClientRect().bottom") < 844
    assert browser.value("document.documentElement.scrollWidth") <= 390


def test_costs_stand_beside_those_of_the_baseline(browser: Browser, page: Path) -> None:
    browser.open(page)
    rows = browser.value(
        "[...document.querySelectorAll('.comparison tr')].map((r) => r.innerText.split('\\t'))"
    )
    assert rows[0][1:3] == ["this run: snjoin-star", "baseline: centralised"]
    known = {row[0]: row for row in rows[1:]}
    assert known["bytes/s on air"][3].endswith("times as much")
    assert {"coverage", "recall", "energy of the busiest radio (J)"} <= set(known)
    assert "with “centralised” all readings with a value go to the sink" in browser.text(".verdict")
    inside = "(() => { const b = document.querySelector('.comparison').getBoundingClientRect(); return [b.right, b.bottom]; })()"
    right, bottom = browser.value(inside)
    assert right < 1440
    assert bottom < 500


def test_the_page_says_which_time_it_shows(browser: Browser, page: Path) -> None:
    browser.open(page)
    first = browser.text("#clock")
    assert browser.text("#at") == f"At {first}"
    # What the page opens with is the moment that it talks about.
    assert browser.text("#event").startswith(f"Now, at {first}: most motes inside, ")
    assert "▶ plays from the start" in browser.text("#event")
    assert [browser.value(f"format.rate({n})") for n in (0, 12, 7_730)] == [
        "0 B/s",
        "12 B/s",
        "7.73 kB/s",
    ]
    browser.press("ArrowRight")
    assert browser.text("#at") == f"At {browser.text('#clock')}"
    assert browser.text("#event").startswith(f"Last event, at {first}: ")
    assert "▶" not in browser.text("#event")
    assert browser.text("#replay ~ section h2") == "Over the whole run, 0 to 120 s"


def test_every_mark_is_explained(browser: Browser, page: Path) -> None:
    browser.open(page, part="#t=40")
    legend = browser.text("#key")
    for text in ("leak, open", "gas at the threshold", "gas at 4 times the threshold", "barrier"):
        assert text in legend, text
    kinds = set(browser.value("player.events.map((e) => e.kind)"))
    assert {"appeared", "found", "most", "election"} <= kinds
    assert browser.value("document.querySelectorAll('#ticks li').length") == len(kinds)
    browser.press("End")
    assert "leak, closed" in browser.text("#key")


def test_labels_on_the_map_do_not_lie_on_each_other(browser: Browser, tmp_path: Path) -> None:
    leaks = [
        f"{{gas='ammonia', x_m={x}, y_m=60.0, start_s=5.0, duration_s=50.0}}"
        for x in (50.0, 53.0, 56.0)
    ]
    source = f"phenomenon.source=[{', '.join(leaks)}]"
    run_here(tmp_path / "run", "--set", "duration_s=60.0", "--set", source)
    assert main(["report", str(tmp_path / "run")]) == 0
    browser.open(tmp_path / "run" / "report.html", part="#t=40")
    boxes = browser.value("player.maps[0].taken")
    # Three open leaks with a label each, the wind, the sink and the scale.
    assert len(boxes) == 9
    texts = [box for box in boxes if box[2] - box[0] > 19]
    apart = [
        a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        for n, a in enumerate(texts)
        for b in texts[:n]
    ]
    assert apart
    assert all(apart)
    # A closed leak needs none: the legend explains its mark.
    browser.press("End")
    assert len(browser.value("player.maps[0].taken")) == 6


def test_playing_scrubbing_and_keys_move_the_clock(browser: Browser, page: Path) -> None:
    browser.open(page, part="#t=40")
    assert browser.text("#clock") == "40 s"
    browser.click(*browser.middle("#play"))
    browser.wait("document.getElementById('clock').textContent !== '0 s' && player.playing")
    browser.wait("shown.atS > 3")
    # The button has the focus now: its own key pauses once, and the others work all the same.
    browser.press(" ")
    assert browser.value("player.playing") is False
    at = browser.value("player.frame")
    browser.press("ArrowRight")
    assert browser.value("player.frame") == at + 1
    browser.press("Home")
    browser.press(".")
    first = browser.value("player.events.find((e) => player.frameOf(e) > 0)")
    assert browser.value("player.frame") == browser.value(
        f"player.frameOf({{at_s: {first['at_s']}}})"
    )
    assert first["text"] in browser.text("#event")
    x, y = browser.middle("#time")
    browser.click(x, y)
    assert abs(browser.value("player.frame") - 60) <= 2
    browser.press("End")
    assert browser.text("#clock") == "119 s"
    browser.press(" ")
    browser.wait("player.playing && shown.atS < 60")
    browser.press(" ")


def test_the_map_zooms_and_moves(browser: Browser, page: Path) -> None:
    browser.open(page, part="#t=40")
    x, y = browser.middle("canvas")
    metres = "player.maps[0].px(50) + player.maps[0].canvas.getBoundingClientRect().x"
    before = browser.value(metres)
    browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-200, modifiers=2)
    browser.wait("player.maps[0].view.zoom > 1.5")
    assert abs(browser.value(metres) - x) > abs(before - x)
    before = browser.value(metres)
    browser.drag((x, y), (x + 40, y))
    assert browser.value(metres) == pytest.approx(before + 40, abs=1)
    assert browser.value("player.pinned") == -1
    browser.press("0")
    assert browser.value("player.maps[0].view.zoom") == 1
    browser.press("+")
    assert browser.value("player.maps[0].view.zoom") == 1.5
    # Without the key the wheel scrolls the page.
    browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=200)
    browser.wait("window.scrollY > 0")
    assert browser.value("player.maps[0].view.zoom") == 1.5


def test_a_pinned_motes_facts_follow_the_clock(browser: Browser, page: Path) -> None:
    browser.open(page, part="#t=20")
    node = lonely(browser)
    x, y = mote_place(browser, node)
    browser.mouse("mouseMoved", x, y)
    assert browser.text("#mote-name") == f"mote {node}"
    browser.click(x, y)
    assert browser.value("player.pinned") == node
    assert facts(browser)["at 20 s"]
    browser.mouse("mouseMoved", 5, 5)
    assert browser.text("#mote-name") == f"mote {node}"
    sent = facts(browser)["messages sent, received"]
    browser.click(*browser.middle("#play"))
    browser.wait("shown.atS > 90")
    browser.press(" ")
    later = facts(browser)
    assert f"at {browser.text('#clock')}" in later
    assert later["messages sent, received"] != sent
    cursor = float(browser.value("document.querySelector('#mote .cursor').getAttribute('x1')"))
    assert cursor > 200
    browser.click(*browser.middle("#unpin"))
    assert browser.value("player.pinned") == -1
    browser.press("]")
    assert browser.text("#mote-name") == "mote 0"
    browser.press("Escape")
    assert "Point at a mote" in browser.text("#mote")


def test_a_tap_pins_on_a_phone(browser: Browser, page: Path) -> None:
    browser.open(page, part="#t=40", **PHONE)
    node = lonely(browser)
    browser.tap(*mote_place(browser, node))
    browser.wait(f"player.pinned === {node}")
    assert browser.text("#mote-name") == f"mote {node}"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_barrier_wind_leak_and_contours_can_be_seen(
    browser: Browser, page: Path, tmp_path: Path, dark: bool
) -> None:
    browser.open(page, part="#t=40", dark=dark)
    for option in ("messages", "links"):
        browser.value(f"document.getElementById('{option}').click()")
    picture = browser.picture(tmp_path / "page.png")
    wall_px = browser.value("player.maps[0].scale * 70 * 5")
    # Motes stand in front of a part of it.
    assert near(picture, "--wall", browser) > 0.4 * wall_px
    assert near(picture, "--leak", browser) > 30
    with_contours = near(picture, "--contour", browser)
    browser.value("document.getElementById('contours').click()")
    assert with_contours > near(browser.picture(), "--contour", browser) + 40
    # The wind blows east at first and south after it has turned.
    arrow = "(() => { const w = player.worlds[0]; return [...w.scenery.wind.subarray(2 * w.frame, 2 * w.frame + 2)]; })()"
    east, north = browser.value(arrow)
    assert east > abs(north)
    box = browser.value(
        "(() => { const m = player.maps[0]; const b = m.canvas.getBoundingClientRect(); return [b.x + m.width - 66, b.y + 14]; })()"
    )
    left, top = (int(each) for each in box)
    before = picture[top : top + 52, left : left + 52]
    assert near(before, "--wind", browser) > 50
    browser.value("shown.to(90)")
    east, north = browser.value(arrow)
    assert -north > abs(east)
    assert (browser.picture()[top : top + 52, left : left + 52] != before).any()


def test_messages_are_drawn_on_their_way(browser: Browser, page: Path) -> None:
    browser.open(page, part="#t=40")
    counts = browser.value("player.maps[0].causes.counts()")
    kinds = browser.value("player.worlds[0].pulses.kinds.map((k) => k.name)")
    assert dict(zip(kinds, counts, strict=True))["probe"] > 0
    with_messages = browser.picture()
    browser.value("document.getElementById('messages').click()")
    without = browser.picture()
    assert (with_messages != without).any(axis=2).sum() > 300
    browser.value("document.getElementById('routes').click()")
    assert (browser.picture() != without).any(axis=2).sum() > 300


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
@pytest.mark.parametrize("name", ["report.html", "side-by-side.html"])
def test_nobody_is_shut_out(
    browser: Browser, runs: Path, name: str, phone: bool, dark: bool
) -> None:
    browser.open(runs / "star" / name, part="#t=40&mote=3", dark=dark, **(PHONE if phone else {}))
    browser.value(
        files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8") + "; 0"
    )
    found = [each for each in browser.value(AXE) if each.startswith(("serious", "critical"))]
    assert found == []


def test_two_runs_share_one_clock(browser: Browser, runs: Path) -> None:
    browser.open(runs / "star" / "side-by-side.html", part="#t=40")
    assert browser.value("player.maps.length") == 2
    browser.press("ArrowRight")
    assert browser.value("player.worlds.map((w) => w.frame)") == [41, 41]
    browser.press("+")
    assert browser.value("player.maps.map((m) => m.view.zoom)") == [1.5, 1.5]
    rows = browser.value(
        "[...document.querySelectorAll('tbody tr')].map((r) => r.innerText.split('\\t'))"
    )
    strategy = next(row for row in rows if row[0] == "strategy")
    assert strategy[1:3] == ["snjoin-star", "centralised"]
    cost = next(row for row in rows if row[0] == "bytes/s on air")
    assert cost[3].startswith("-")


ODD = {
    "one mote": (["motes.count=1"], "The gas cloud never reached a mote"),
    "all dead": (["motes.battery_j=0.02", "clustering.round_s=20.0"], ""),
    "out of reach": (
        [
            "phenomenon.source=[{gas='ammonia', x_m=900.0, y_m=900.0, start_s=10.0}]",
            "phenomenon.wind.from_deg=180.0",
        ],
        "The gas cloud never reached a mote",
    ),
    "markup": (["description='<script>alert(1)</script>'"], "Found"),
    "no tables": (["trace.tables=['motes']"], "Found"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_runs_have_a_sensible_page(browser: Browser, tmp_path: Path, name: str) -> None:
    settings, says = ODD[name]
    words = [word for setting in settings for word in ("--set", setting)]
    run_here(tmp_path / "run", "--set", "duration_s=60.0", *words)
    assert main(["report", str(tmp_path / "run")]) == 0
    browser.open(tmp_path / "run" / "report.html")
    assert browser.value("document.documentElement.dataset.report") == "ready"
    assert says in browser.text(".verdict")
    assert len(np.unique(browser.picture().reshape(-1, 3), axis=0)) > 20
    browser.press("]")
    browser.press("End")
    assert browser.text("#mote-name") == "mote 0"


def test_an_animation_moves(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "cloud.gif"
    assert main(["report", str(runs / "star"), "--animate", str(out)]) == 0
    with Image.open(out) as moving:
        shown = [np.asarray(each.convert("RGB")) for each in ImageSequence.Iterator(moving)]
    assert len(shown) > 50
    assert (shown[40] != shown[0]).any()
    movie = ["report", str(runs / "star"), "--animate", str(tmp_path / "cloud.mp4")]
    assert main(movie) == (0 if shutil.which("ffmpeg") else 2)
