"""A browser tab that visits URLs and waits for conditions, also across page loads."""

import base64
import json
import time
from pathlib import Path
from typing import Any

from tests.reports.browser import Browser
from tests.ui.ui_server import TIMEOUT_SEC

CONSOLE_EVENTS = {
    "Runtime.consoleAPICalled",
    "Runtime.exceptionThrown",
    "Log.entryAdded",
    "Page.javascriptDialogOpening",
}


class Tab(Browser):
    def visit(self, address: str) -> None:
        """Load the URL and wait for it. Retries if the current page navigates away by itself at the same time."""
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        end = time.monotonic() + TIMEOUT_SEC
        while not self._try_to_load(address):
            assert time.monotonic() < end, f"{address} does not open"

    def log_in(self, address: str) -> str:
        """Open the address with its secret. Return the URL of the site without a slash at its end."""
        self.visit(address)
        assert self.evaluate("location.search") == ""
        return str(self.evaluate("location.href")).rstrip("/")

    def _try_to_load(self, address: str) -> bool:
        seen, end = len(self.events), time.monotonic() + TIMEOUT_SEC
        loader = self.call("Page.navigate", url=address).get("loaderId")
        while time.monotonic() < end:
            for event in self.events[seen:]:
                params = event["params"]
                if (
                    event["method"] == "Page.lifecycleEvent"
                    and params["name"] == "load"
                    and params["loaderId"] == loader
                ):
                    return True
                if event["method"] == "Page.frameNavigated" and _is_other(params["frame"], loader):
                    return False
            seen = len(self.events)
            self._next()
        return False

    def wait_until(self, expression: str) -> bool:
        """Return whether the expression becomes true, even if another page loads in the meantime."""
        end = time.monotonic() + TIMEOUT_SEC
        check = f"new Promise(done => setTimeout(() => done(Boolean({expression})), 20))"
        while time.monotonic() < end:
            try:
                if self.evaluate(check):
                    return True
            except AssertionError:
                # The page has just been replaced: try again.
                continue
        return False

    def wait_until_still(self) -> None:
        """Wait until fonts are loaded and animations have ended."""
        moving = "document.getAnimations().filter(a => a.effect.getTiming().iterations !== Infinity)"
        self.evaluate(f"Promise.all([document.fonts.ready, ...{moving}.map(a => a.finished)]).then(() => 1)")
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def console_messages(self) -> list[str]:
        return [json.dumps(event)[:400] for event in self.events if event["method"] in CONSOLE_EVENTS]

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


def _is_other(frame: dict[str, Any], loader: str | None) -> bool:
    return "parentId" not in frame and frame["loaderId"] != loader
