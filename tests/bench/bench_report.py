"""The report in a browser: how many frames a second the replay draws, with 5,000 motes."""

import tempfile
from pathlib import Path

from scenarios.cli import main as motejoin
from tests.support.browser import chromium
from tests.support.requirements import CHROMIUM

MOTES = 5_000
PLAYED_S = 8
# Counts the frames that the page draws while it plays.
COUNT = f"""new Promise((done) => {{
  let frames = 0;
  const begun = performance.now();
  const step = () => {{
    frames++;
    if (performance.now() - begun < {PLAYED_S * 1000}) requestAnimationFrame(step);
    else done(frames / ((performance.now() - begun) / 1000));
  }};
  shown.to(20);
  player.untouched = false;
  player.speed.value = "5";
  player.toggle();
  requestAnimationFrame(step);
}})"""


def main() -> None:
    """Make the page of a run and play it."""
    if CHROMIUM is None:
        print("needs Chromium")
        return
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        sides = ["field.width_m=1000.0", "field.height_m=1000.0", "duration_s=80.0"]
        settings = [f"motes.count={MOTES}", *sides, "join.strategy=centralised"]
        words = [word for setting in settings for word in ("--set", setting)]
        assert motejoin(["run", "gas-cloud-small", "--out", str(run), *words]) == 0
        assert motejoin(["report", str(run)]) == 0
        page = run / "report.html"
        with chromium(Path(folder) / "profile") as browser:
            browser.open(page)
            assert browser.value("player.worlds[0].motes") == MOTES
            rate = browser.value(COUNT)
            assert browser.value("player.playing"), "it played to the end before it was measured"
        size_mb = page.stat().st_size / 1e6
        print(
            f"{MOTES:,} motes: {rate:.0f} frames/s (30 or more wanted), a page of {size_mb:.1f} MB"
        )


if __name__ == "__main__":
    main()
