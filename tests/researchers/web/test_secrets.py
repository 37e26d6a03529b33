"""A search service that repeats the key it was given, and addresses that contain somebody's credentials."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from marchwarden.core.notebook import Hit, Query
from marchwarden.errors import SourceError
from marchwarden.fetching import AllowedHosts, Fetcher, FetchSettings, FolderPageCache
from marchwarden.researchers.web.providers.tavily import Tavily
from marchwarden.researchers.web.tools import WebSource
from marchwarden.storage.archive import Archive
from marchwarden.text.secrets import ConfiguredKeys
from tests.cli.in_process import Shell
from tests.researchers.web.investigating import shared_extractor
from tests.researchers.web.providers.services import API
from tests.world.server import Reply, Request, Server

pytestmark = pytest.mark.slow

KEY: Final = "tvly-Leaked0123456789"
SIGNED: Final = "/signed?X-Amz-Signature=5f1d7a0e40004000&X-Amz-Expires=60"
QUESTION: Final = "How long is the main span of the Alder Bridge?"
_TEXT: Final = "The main span of the Alder Bridge is 212 metres long. {}"
_PAGES: Final[Mapping[str, str]] = {
    "/bridge": _TEXT.format(""),
    "/signed": _TEXT.format("Its towers stand on <a href='/next?page=2'>two piers</a>."),
    "/told": _TEXT.format(f"The key is {KEY}."),
    "/links": _TEXT.format(
        f"<a href='https://senn.gov/a?access_token=x'>one link</a> <a href='https://senn.gov/{KEY}'>another link</a>"
    ),
    "/tokens": _TEXT.format("<a href='https://senn.gov/a?access_token=x'>a link</a> <a href='/bridge'>a bridge</a>"),
}
_MOVED: Final = {"/moved": SIGNED, "/leak": f"/bridge?k={KEY}", "/leak-host": f"http://{KEY}.senn.gov/"}
RESULTS: Final = (
    {"url": "{}/bridge", "title": "The Alder Bridge", "score": 0.9},
    {"url": "{}/moved", "title": "The span", "score": 0.8},
    {"url": "{}/told", "title": "Told", "score": 0.7},
    {"url": "{}/leak", "title": "Moved to the key", "score": 0.7},
    {"url": "{}/leak-host", "title": "Moved to the host", "score": 0.7},
    {"url": f"{{}}/bridge?session={KEY}", "title": "The key in the address", "score": 1.0},
    {"url": "{}/bridge?k=%74vly%2DLeaked0123456789", "title": "The encoded key in the address", "score": 1.0},
    {"url": "{}/bridge?a=1", "title": f"The key {KEY} in the title", "score": 1.0},
    {"url": "{}/bridge?api_key=somebody", "title": "Somebody's key", "score": 1.0},
    {"url": f"{{}}{SIGNED}", "title": "Signed", "score": 1.0},
)


@dataclass(frozen=True)
class Leaky:
    """The address of the service, which is also the only site, and the requests it received."""

    origin: str
    requests: list[Request]

    def environ(self, **more: str) -> dict[str, str]:
        allowed = {"MARCHWARDEN_ALLOW_HOSTS": self.origin.removeprefix("http://")}
        return {"TAVILY_API_KEY": KEY, "TAVILY_BASE_URL": self.origin, **allowed, **more}

    def source(self, folder: Path) -> WebSource:
        settings = FetchSettings(
            host_delay=0.0,
            retries=0,
            allowed=AllowedHosts.parse(self.environ()["MARCHWARDEN_ALLOW_HOSTS"]),
            keys=ConfiguredKeys.from_environ(self.environ()),
        )
        cache = FolderPageCache(folder / "pages", Archive(folder / "archive"))
        return WebSource(Tavily(API, KEY, self.origin), Fetcher(settings, cache), shared_extractor(6.0))


@pytest.fixture
def leaky() -> Iterator[Leaky]:
    def answer(request: Request) -> Reply:
        if request.path == "/search":
            found = [{**each, "url": str(each["url"]).format(f"http://{request.headers['host']}")} for each in RESULTS]
            return Reply(200, json.dumps({"results": found}).encode())
        if request.path in _MOVED:
            return Reply(302, b"", (("Location", _MOVED[request.path]),))
        text = f"<html><body><article><p>{_PAGES.get(request.path, '')}</p></article></body></html>"
        headers = (("Content-Type", "text/html"), ("Cache-Control", "max-age=60"))
        return Reply(200 if request.path in _PAGES else 404, text.encode(), headers)

    with Server() as server:
        yield Leaky(f"http://{server.listen('leaky', answer)}", server.requests)


async def test_results_with_a_key_or_credentials_are_left_out_with_a_notice(leaky: Leaky, tmp_path: Path) -> None:
    source = leaky.source(tmp_path)
    hits = await source.search(Query(QUESTION))
    assert [hit.locator.removeprefix(leaky.origin) for hit in hits] == [
        "/bridge",
        "/moved",
        "/told",
        "/leak",
        "/leak-host",
    ]
    assert [notice for notice in source.notices() if KEY in notice] == []
    assert [("replace this key" in notice, "credentials" in notice) for notice in source.notices()] == [
        (True, False),
        (False, True),
    ]


@pytest.mark.parametrize("path", ["/told", "/leak", "/leak-host", "/links"])
async def test_a_page_with_a_key_is_refused(path: str, leaky: Leaky, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="one of the configured API keys") as refused:
        await leaky.source(tmp_path).fetch(Hit(f"{leaky.origin}{path}"))
    assert KEY.casefold() not in refused.value.detail.casefold()
    assert [request.target for request in leaky.requests if KEY in request.target] == []


async def test_a_page_behind_a_signed_redirect_is_cited_by_the_address_that_led_to_it(
    leaky: Leaky, tmp_path: Path
) -> None:
    document = await leaky.source(tmp_path).fetch(Hit(f"{leaky.origin}/moved"))
    assert document.locator == f"{leaky.origin}/moved"
    assert "two piers" in document.text
    assert [link.url for link in document.links] == [f"{leaky.origin}/next?page=2"]


async def test_links_with_credentials_are_left_out(leaky: Leaky, tmp_path: Path) -> None:
    document = await leaky.source(tmp_path).fetch(Hit(f"{leaky.origin}/tokens"))
    assert [link.url for link in document.links] == [f"{leaky.origin}/bridge"]


@pytest.mark.parametrize("way", ["--local", "--mcp"])
def test_a_leaked_key_appears_in_no_output_and_no_file(way: str, leaky: Leaky, tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    environ = leaky.environ(MARCHWARDEN_LOG_FILE=str(tmp_path / "log"), MARCHWARDEN_LOG_LEVEL="DEBUG")
    done = shell.run("ask", QUESTION, "--researcher", "web", way, "--json", "--max-sources", "20", **environ)
    result = json.loads(done.stdout)
    assert "212 metres" in result["answer"]
    shown = shell.run("report", result["trace_id"], "--format", "json", **environ).stdout
    checked = shell.run("verify", result["trace_id"], **environ)
    assert checked.returncode == 0
    # The archive contains the bytes of a page that was refused because of what it says.
    files = [each for each in tmp_path.rglob("*") if each.is_file() and "archive" not in each.parts]
    assert {"log", "pages.sqlite", f"{result['trace_id']}.jsonl"} <= {each.name for each in files}
    outputs = [done.stdout, done.stderr, shown, checked.stdout, *(each.read_text("latin-1") for each in files)]
    assert [text for text in outputs if KEY.casefold() in text.casefold()] == []
    assert [text for text in outputs[:3] if "X-Amz-Signature" in text or "somebody" in text] == []
