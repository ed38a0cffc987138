"""Requirements of some tests beyond the Python packages: a browser, and recordings that do not ship.

Locally such tests are skipped, and the end of the test run lists what was skipped and how to install it. Under
CI=true a skipped test fails, so that no check is missed silently; recordings are exempt.
"""

import os
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from sim.compiled import is_compiled, why_interpreted
from tests.support.places import ROOT

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None,
    reason="needs a browser: install Chromium (Debian: apt-get install chromium) so that it is on PATH",
)

needs_compiled_core = pytest.mark.skipif(
    not is_compiled(),
    reason=f"needs the compiled core, which is interpreted: {why_interpreted()} (`make setup` compiles it if there is a C compiler)",
)

_DOES_NOT_SHIP = "needs a recording that does not ship"


def recorded_file(*parts: str) -> Path:
    """The path of a recording in the folder of shared data; skips the test if it does not exist."""
    given = os.environ.get("MOTEJOIN_SHARED_DATA")
    folder = Path(given) if given else ROOT.parent / "shared" / "data"
    path = folder.joinpath(*parts)
    if not path.exists():
        pytest.skip(
            f"{_DOES_NOT_SHIP}: set MOTEJOIN_SHARED_DATA to a folder that has {'/'.join(parts)}"
        )
    return path


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skipped test into a failed one under CI."""
    report = yield
    skipped = report.skipped and not hasattr(report, "wasxfail")
    if skipped and os.environ.get("CI") == "true" and _DOES_NOT_SHIP not in str(report.longrepr):
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not allow: {report.longrepr}"
    return report
