"""Drive headless Chromium through its DevTools protocol over a pipe. Needs no driver or library."""

import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pytest

PATIENCE = 30.0


def chromium() -> str:
    """Return the path of the browser, or skip the test."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not found:
        pytest.skip("needs a browser: apt-get install chromium")
    return found


@dataclass
class Browser:
    """One browser with one tab, and everything it reported since it was started."""

    process: "subprocess.Popen[bytes]"
    commands: int
    answers: int
    session: str = ""
    sent: int = 0
    events: list[dict[str, Any]] = field(default_factory=list)
    rest: bytes = b""

    @classmethod
    @contextmanager
    def started(cls, profile: Path, width: int = 1440, height: int = 900) -> Iterator[Self]:
        program = chromium()
        their_in, our_out = os.pipe()
        our_in, their_out = os.pipe()
        flags = f"--headless --no-sandbox --disable-gpu --remote-debugging-pipe --window-size={width},{height}"
        quiet = "--no-first-run --disable-background-networking --disable-component-update --hide-scrollbars"
        # The protocol uses descriptors 3 and 4. Only a shell can assign them to a child by number.
        script = f'exec "$0" {flags} {quiet} --user-data-dir="$1" 3</dev/fd/{their_in} 4>/dev/fd/{their_out}'
        process = subprocess.Popen(
            ["/bin/sh", "-c", script, program, str(profile)],
            pass_fds=(their_in, their_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(profile)},
        )
        os.close(their_in)
        os.close(their_out)
        try:
            browser = cls(process, our_out, our_in)
            browser._open_tab(width, height)
            yield browser
        finally:
            os.close(our_out)
            process.terminate()
            process.wait(PATIENCE)
            os.close(our_in)

    def _open_tab(self, width: int, height: int) -> None:
        tab = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def resize(self, width: int, height: int = 900) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def emulate(self, **features: str) -> None:
        answer = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", features=answer)

    def open(self, path: Path, fragment: str = "") -> None:
        """Open a file and wait until it has loaded. Clears earlier reports."""
        self.call("Page.navigate", url="about:blank")
        self._until("Page.loadEventFired")
        self.events.clear()
        self.call("Page.navigate", url=f"{path.resolve().as_uri()}{fragment}")
        self._until("Page.loadEventFired")

    def evaluate(self, expression: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def point(self, selector: str, *, click: bool = False) -> None:
        """Move the mouse over an element, and optionally click it."""
        quoted = json.dumps(selector)
        self.evaluate(f"document.querySelector({quoted}).scrollIntoView({{block: 'center', behavior: 'instant'}})")
        place = self.evaluate(
            f"(() => {{ const r = document.querySelector({quoted}).getClientRects()[0];"
            "return [r.x + r.width / 2, r.y + r.height / 2] })()"
        )
        where = {"x": place[0], "y": place[1]}
        self.call("Input.dispatchMouseEvent", type="mouseMoved", **where)
        for kind in ("mousePressed", "mouseReleased") if click else ():
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **where)

    def press(self, key: str, code: int) -> None:
        for kind in ("rawKeyDown", "char", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "char" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)

    def holds(self, expression: str) -> bool:
        """Wait until the expression becomes true: transitions and smooth scrolling take time."""
        look = (
            f"() => ({expression}) ? done(true) : performance.now() > end ? done(false) : requestAnimationFrame(look)"
        )
        waiting = f"new Promise(done => {{ const end = performance.now() + 5000; const look = {look}; look() }})"
        return bool(self.evaluate(waiting))

    def unwanted_events(self) -> list[str]:
        """Return what a report must not cause: console messages, dialogs and requests."""
        bad = {
            "Runtime.consoleAPICalled",
            "Runtime.exceptionThrown",
            "Log.entryAdded",
            "Page.javascriptDialogOpening",
            "Page.windowOpen",
        }
        answer = [json.dumps(event)[:300] for event in self.events if event["method"] in bad]
        return answer + [url for url in self.requests() if not url.startswith(("file:", "data:", "about:"))]

    def requests(self) -> list[str]:
        asked = [event for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in asked]

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        self.sent += 1
        message: dict[str, object] = {"id": self.sent, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data) :]
        while True:
            answer = self._next()
            if answer.get("id") == self.sent:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def _until(self, event: str) -> None:
        while not any(each["method"] == event for each in self.events):
            self._next()
        self.events = [each for each in self.events if each["method"] != event]

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.answers], [], [], max(end - time.monotonic(), 0))
            read = os.read(self.answers, 1 << 20) if ready else b""
            assert read, "the browser does not answer"
            self.rest += read
        message, _, self.rest = self.rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        if "method" in answer:
            self.events.append(answer)
        return answer
