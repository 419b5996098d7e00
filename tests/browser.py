"""Debian's Chromium, without a window, spoken to over a pipe: open, look, click, take pictures.

Its DevTools protocol is JSON over two file descriptors, so that no library is needed.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
WHY_NOT = "no chromium on the PATH: apt-get install chromium"


class Browser:
    """One page of a browser, and all that it complained about."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._rest, self._number, self._session = b"", 0, ""
        self.complaints: list[str] = []
        """Errors and warnings of the console, scripts that failed, requests that were made."""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def open(self, path: Path) -> None:
        """Load a file and wait until all of it is there."""
        self._call("Page.navigate", url=path.as_uri())
        self._await("Page.loadEventFired")

    def show(self, *, width: int, height: int = 900, dark: bool = False) -> None:
        """Look at it on a screen of so many pixels, by day or by night."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            **{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        # A page that still glides to where a click led has nothing at its place.
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self._call("Emulation.setEmulatedMedia", features=[scheme, still])

    def ask(self, expression: str) -> Any:
        """What a JavaScript expression is in the page, whose own policy binds only itself."""
        found = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def click(self, selector: str) -> None:
        """Click, with the mouse, into the middle of what a CSS selector finds."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.ask(f"{found}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        box = f"(b => [b.x + b.width / 2, b.y + b.height / 2])({found}.getBoundingClientRect())"
        x, y = self.ask(box)
        for kind in ("mousePressed", "mouseReleased"):
            event = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}
            self._call("Input.dispatchMouseEvent", **event)

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """A screenshot, as PNG, of what is seen or of the whole page."""
        found = self._call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def _await(self, event: str) -> None:
        while self._next().get("method") != event:
            pass

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            read = os.read(self._from, 1 << 16)
            assert read, "the browser is gone"
            self._rest += read
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._note(message)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        told = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.complaints.append(f"exception: {told['exceptionDetails']['text']}")
            case "Runtime.consoleAPICalled":
                self.complaints.append(f"console: {told['type']}")
            case "Log.entryAdded":
                self.complaints.append(f"{told['entry']['level']}: {told['entry']['text']}")
            case "Network.requestWillBeSent":
                url = told["request"]["url"]
                if not url.startswith(("file:", "data:")):
                    self.complaints.append(f"request: {url}")
            case "Page.javascriptDialogOpening":
                self.complaints.append(f"dialog: {told['message']}")


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """A browser that keeps what it remembers in a folder."""
    assert CHROMIUM is not None, WHY_NOT
    their_input, our_output = os.pipe()
    our_input, their_output = os.pipe()
    command = [
        CHROMIUM,
        *("--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu"),
        *("--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run"),
        f"--user-data-dir={folder}",
    ]
    # It reads from descriptor 3 and writes to 4, whatever the numbers of our pipes are.
    script = f'exec "$@" 3<&{their_input} 4>&{their_output}'
    process = subprocess.Popen(
        ["bash", "-c", script, "bash", *command],
        pass_fds=(their_input, their_output),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(their_input)
    os.close(their_output)
    try:
        yield Browser(our_output, our_input)
    finally:
        process.terminate()
        process.wait(timeout=30)
        os.close(our_output)
        os.close(our_input)
