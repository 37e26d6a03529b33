"""Another server on this machine, which the browser visits while the page is open, gets no access to it."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from marchwarden.storage.store import Store
from tests.ui.tab import Tab
from tests.ui.user_actions import QUESTION, ask, wait_for_report

pytestmark = pytest.mark.slow


@dataclass
class OtherServer:
    """Returns an empty page and records all headers that browsers send."""

    origin: str = ""
    received: list[dict[str, str]] = field(default_factory=list)

    def cookies(self) -> dict[str, str]:
        sent = SimpleCookie("; ".join(each["cookie"] for each in self.received if "cookie" in each))
        return {name: morsel.value for name, morsel in sent.items()}

    def seen_paths(self) -> set[str]:
        return {urlsplit(each.get("referer", "")).path for each in self.received}


@pytest.fixture
def other() -> Iterator[OtherServer]:
    server = OtherServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.received.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Set-Cookie", "mine=1; Path=/")
            self.end_headers()
            self.wfile.write(b"<!doctype html><link rel=icon href='data:,'><title>other</title><body>")

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        server.origin = f"http://127.0.0.1:{http.server_port}"
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield server
        http.shutdown()


@pytest.fixture
def run(tab: Tab, address: str, home: Path) -> str:
    """Ask a question in the browser. Returns the path of its run; the page stays open."""
    tab.log_in(address)
    ask(tab, QUESTION, home / "library")
    return wait_for_report(tab)


def visit(tab: Tab, other: OtherServer) -> None:
    """Follow a link from the page to the other server. There, the browser sends the cookies of its own accord."""
    tab.evaluate(f"void (location.href = '{other.origin}/')")
    assert tab.wait_until(f"location.origin === '{other.origin}' && document.readyState === 'complete'")
    tab.visit(f"{other.origin}/again")
    assert other.cookies()["mine"] == "1"


def test_cookies_that_the_other_server_receives_open_nothing(tab: Tab, address: str, run: str, other: OtherServer):
    visit(tab, other)
    site = address.partition("/?")[0]
    headers = {"cookie": "; ".join(f"{name}={value}" for name, value in other.cookies().items()), "origin": site}
    with httpx2.Client(trust_env=False, headers=headers) as http:
        for start in {"", *(path.rstrip("/") for path in other.seen_paths())}:
            assert http.get(f"{site}{start}{run}/report").status_code == 403
            assert http.post(f"{site}{start}/ask", data={"question": QUESTION}).status_code == 403


SEND = """
(async () => {
  const site = %r, run = %r;
  const read = [];
  for (const path of ["/", "/runs", run, run + "/report"])
    for (const mode of ["cors", "no-cors"])
      read.push(await fetch(site + path, {credentials: "include", mode}).then(r => r.text()).catch(() => ""));
  for (const path of ["/ask", run + "/resume"]) {
    await fetch(site + path, {method: "POST", credentials: "include", mode: "no-cors",
      headers: {"content-type": "application/x-www-form-urlencoded"}, body: "question=x"}).catch(() => "");
    const frame = document.createElement("iframe");
    frame.name = "frame";
    const form = document.createElement("form");
    Object.assign(form, {method: "post", action: site + path, target: "frame"});
    form.innerHTML = "<input name=question value=x>";
    document.body.append(frame, form);
    const loaded = new Promise(done => frame.addEventListener("load", done));
    form.submit();
    await loaded;
    try { read.push(frame.contentDocument.body.textContent); } catch { }
    frame.remove();
  }
  return read.join("");
})()
"""


def test_pages_of_the_other_server_read_and_start_nothing(
    tab: Tab, address: str, home: Path, run: str, other: OtherServer
):
    """Not even if they know the secret path."""
    root = tab.evaluate("location.href").removesuffix(run)
    runs = Store(home / "home" / "traces").traces()
    visit(tab, other)
    for site in (address.partition("/?")[0], root):
        assert tab.evaluate(SEND % (site, run)) == ""
    assert Store(home / "home" / "traces").traces() == runs
