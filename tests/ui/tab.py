"""A tab that walks through the page: goes to addresses, and waits for what comes after a click, wherever that leads."""

import base64
import json
import time
from pathlib import Path
from typing import Any

from tests.reports.browser import Browser
from tests.ui.deployments import PATIENT

COMPLAINTS = {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening"}


class Tab(Browser):
    def visit(self, address: str) -> None:
        """Go there; returns when that very page has loaded. One that was leaving by itself may win the first time."""
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        end = time.monotonic() + PATIENT
        while not self._went(address):
            assert time.monotonic() < end, f"{address} does not open"

    def _went(self, address: str) -> bool:
        known, end = len(self.events), time.monotonic() + PATIENT
        loader = self.call("Page.navigate", url=address).get("loaderId")
        while time.monotonic() < end:
            for event in self.events[known:]:
                told = event["params"]
                if event["method"] == "Page.lifecycleEvent" and told["name"] == "load" and told["loaderId"] == loader:
                    return True
                if event["method"] == "Page.frameNavigated" and _is_other(told["frame"], loader):
                    return False
            known = len(self.events)
            self._next()
        return False

    def becomes(self, expression: str) -> bool:
        """Whether it becomes true, even if the page is left for another one meanwhile."""
        end = time.monotonic() + PATIENT
        looking = f"new Promise(done => setTimeout(() => done(Boolean({expression})), 20))"
        while time.monotonic() < end:
            try:
                if self.evaluate(looking):
                    return True
            except AssertionError:
                # The page it was asked of is gone, or the next one is not there yet: ask again.
                continue
        return False

    def rest_a_while(self) -> None:
        """Until fonts are there and nothing moves any more."""
        moving = "document.getAnimations().filter(a => a.effect.getTiming().iterations !== Infinity)"
        self.evaluate(f"Promise.all([document.fonts.ready, ...{moving}.map(a => a.finished)]).then(() => 1)")
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def complaints(self) -> list[str]:
        return [json.dumps(event)[:400] for event in self.events if event["method"] in COMPLAINTS]

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


def _is_other(frame: dict[str, Any], loader: str | None) -> bool:
    return "parentId" not in frame and frame["loaderId"] != loader
