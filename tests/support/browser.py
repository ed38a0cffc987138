"""A real headless Chromium, driven over its debugging pipe: pages are opened, clicked, tapped and looked at."""

import json
import os
import subprocess
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from select import select
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tests.support.requirements import CHROMIUM

_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync --hide-scrollbars"
    " --disable-background-networking --disable-component-update --remote-debugging-pipe"
)
_ANSWER_S = 60.0
_KEYS = {" ": ("Space", 32), "ArrowLeft": ("ArrowLeft", 37), "ArrowRight": ("ArrowRight", 39)}
_KEYS |= {"Home": ("Home", 36), "End": ("End", 35), "Escape": ("Escape", 27)}


class Browser:
    """One browser process with one page."""

    def __init__(self, out: int, into: int) -> None:
        self._out, self._into = out, into
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.console: list[str] = []
        """Errors and messages that pages wrote."""
        self.requests: list[str] = []
        """Addresses that pages asked for, the pages themselves apart."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Call a method of the debugging protocol and wait for its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select([self._into], [], [], _ANSWER_S)
            assert ready, "the browser does not answer"
            read = os.read(self._into, 1 << 20)
            assert read, "the browser has ended"
            self._buffer += read
        text, _, self._buffer = self._buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(text)
        return answer

    def _note(self, event: dict[str, Any]) -> None:
        given = event.get("params", {})
        match event.get("method"):
            case "Runtime.consoleAPICalled":
                self.console.append(" ".join(str(each.get("value")) for each in given["args"]))
            case "Runtime.exceptionThrown":
                self.console.append(json.dumps(given["exceptionDetails"]))
            case "Log.entryAdded":
                self.console.append(given["entry"]["text"])
            case "Network.requestWillBeSent" if given.get("type") != "Document":
                self.requests.append(given["request"]["url"])

    def open(
        self,
        page: Path,
        *,
        width: int = 1440,
        height: int = 900,
        phone: bool = False,
        dark: bool = False,
        part: str = "",
    ) -> None:
        """Open a page at a size, on a phone or not, and wait until its script has run."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=f"{page.absolute().as_uri()}{part}")
        self.wait("document.readyState === 'complete'")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true."""
        end_s = time.monotonic() + _ANSWER_S
        while not self.value(condition):
            assert time.monotonic() < end_s, condition
            time.sleep(0.02)

    def value(self, expression: str) -> Any:  # noqa: ANN401 (any JSON value)
        """The value of an expression in the page."""
        given = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in given, given["exceptionDetails"]
        return given["result"].get("value")

    def text(self, selector: str) -> str:
        """The text of an element."""
        return str(self.value(f"document.querySelector({selector!r}).textContent"))

    def middle(self, selector: str) -> tuple[float, float]:
        """Where the middle of an element is, once it is scrolled into view."""
        x, y = self.value(
            f"(() => {{ const e = document.querySelector({selector!r}); e.scrollIntoView({{block: 'nearest'}});"
            " const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        return float(x), float(y)

    def mouse(self, kind: str, x: float, y: float, **more: object) -> None:
        """A mouse event: mousePressed, mouseMoved, mouseReleased or mouseWheel."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x: float, y: float) -> None:
        """Click with the mouse."""
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag with the mouse."""
        self.mouse("mouseMoved", *start)
        self.mouse("mousePressed", *start, button="left", clickCount=1)
        for share in (0.25, 0.5, 0.75, 1.0):
            x, y = (a + share * (b - a) for a, b in zip(start, end, strict=True))
            self.mouse("mouseMoved", x, y, button="left", buttons=1)
        self.mouse("mouseReleased", *end, button="left", clickCount=1)

    def tap(self, x: float, y: float) -> None:
        """Tap with a finger."""
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def press(self, key: str) -> None:
        """Press a key, wherever the focus is."""
        code, number = _KEYS.get(key, (key, ord(key[0])))
        text = key if len(key) == 1 else ""
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=code,
                windowsVirtualKeyCode=number,
                **({"text": text} if text and kind == "keyDown" else {}),
            )

    def picture(self, path: Path | None = None, *, whole: bool = False) -> NDArray[np.uint8]:
        """What the page looks like, as rows of red, green and blue; `path` keeps it as PNG."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        data = b64decode(shot["data"])
        if path is not None:
            path.write_bytes(data)
        return np.asarray(Image.open(BytesIO(data)).convert("RGB"))


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """A browser that ends with the block."""
    assert CHROMIUM is not None
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    # The browser reads commands from descriptor 3 and writes answers to 4.
    command = f'exec "$0" "$@" 3<&{their_in} 4>&{their_out}'
    process = subprocess.Popen(
        ["bash", "-c", command, CHROMIUM, *_FLAGS.split(), f"--user-data-dir={profile}"],
        pass_fds=(their_in, their_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(their_in)
    os.close(their_out)
    try:
        yield Browser(our_out, our_in)
    finally:
        process.terminate()
        process.wait(timeout=30)
        os.close(our_out)
        os.close(our_in)
