import json
import socket
import traceback

import anyio
import pytest

from marchwarden.errors import SourceError
from marchwarden.fetching import ApiClient
from tests.fetching.site import hang, reply, reset, send_forever, site

SECRET = "tvly-very-secret"


async def call_error(client: ApiClient, url: str) -> SourceError:
    with pytest.raises(SourceError) as error:
        await client.call("POST", url, json={"key": SECRET}, params={"key": SECRET}, headers={"X-Key": SECRET})
    return error.value


async def test_call_sends_params_body_and_headers_and_returns_the_response():
    async with site({"/search?a=b&q=%C3%BC+%26": reply(200, b'{"ok": 1}', X_Answer="yes")}) as served:
        response = await ApiClient().call(
            "POST", served.url("/search?a=b"), json={"q": "ü"}, params={"q": "ü &"}, headers={"Authorization": SECRET}
        )
    assert (response.status, response.headers["x-answer"], json.loads(response.content)) == (200, "yes", {"ok": 1})
    request = served.requests[0]
    assert (request.method, json.loads(request.body), request.headers["authorization"]) == ("POST", {"q": "ü"}, SECRET)
    assert request.headers["content-type"] == "application/json"
    assert SECRET not in repr(response)


@pytest.mark.parametrize(
    "status, tries",
    [(200, 1), (302, 1), (400, 1), (401, 1), (403, 1), (432, 1), (433, 1), (429, 3), (500, 3), (503, 3)],
)
async def test_every_status_is_returned_and_only_transient_ones_are_retried(status, tries):
    async with site({"/": reply(status, b"{}", Location="http://other.example.org/")}) as served:
        response = await ApiClient(pause=0.01).call("GET", served.url("/"))
    assert (response.status, response.content) == (status, b"{}")
    assert served.request_count("/") == tries


async def test_call_succeeds_after_transient_failures():
    async with site({"/": [reset, reply(429, Retry_After="0"), reply(200, b"[]")]}) as served:
        assert (await ApiClient(pause=0.01).call("GET", served.url("/"))).content == b"[]"


async def test_impossible_retry_after_is_ignored():
    busy = reply(503, b"{}", Retry_After="1 Jan 99999999999999999999 00:00:00 +0000")
    async with site({"/": [busy, reply(200, b"[]")]}) as served:
        assert (await ApiClient(pause=0.01).call("GET", served.url("/"))).content == b"[]"


async def test_retry_after_beyond_the_deadline_is_not_waited_for():
    async with site({"/": reply(429, b"{}", Retry_After="3600")}) as served:
        response = await ApiClient(pause=0.01).call("GET", served.url("/"))
    assert (response.status, response.headers["retry-after"]) == (429, "3600")
    assert served.request_count("/") == 1


@pytest.mark.parametrize("act", [hang, reset, send_forever, b"garbage\r\n\r\n"])
async def test_missing_response_is_a_source_error_without_the_secret(act):
    async with site({f"/?key={SECRET}": act}) as served:
        start = anyio.current_time()
        error = await call_error(ApiClient(seconds=0.5, pause=0.01, max_bytes=1 << 20), served.url("/"))
        assert anyio.current_time() - start < 4
    assert SECRET not in "".join(traceback.format_exception(error))


async def test_refused_connection_is_a_source_error():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        error = await call_error(ApiClient(), f"http://127.0.0.1:{bound.getsockname()[1]}/")
    assert "could not be reached" in error.detail


async def test_lone_surrogates_are_replaced_before_sending():
    async with site({"/?q=%3F": reply(200, b"{}")}) as served:
        response = await ApiClient().call(
            "POST", served.url("/"), json={"q": "\ud800"}, params={"q": "\ud800"}, headers={"X": "“\ud800”"}
        )
    assert response.status == 200


async def test_header_with_line_break_is_rejected():
    async with site() as served:
        with pytest.raises(SourceError) as error:
            await ApiClient().call("GET", served.url("/"), headers={"X-Key": f"{SECRET}\r\nEvil: yes"})
    assert served.requests == []
    assert SECRET not in str(error.value)
