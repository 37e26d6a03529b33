import json
import socket
import traceback

import anyio
import pytest

from marchwarden.errors import SourceError
from marchwarden.fetching import ApiClient
from tests.fetching.site import go_on, hang, reply, reset, site

SECRET = "tvly-very-secret"


async def failed(client: ApiClient, url: str) -> SourceError:
    with pytest.raises(SourceError) as error:
        await client.call("POST", url, json={"key": SECRET}, params={"key": SECRET}, headers={"X-Key": SECRET})
    return error.value


async def test_a_call_sends_what_it_is_given_and_returns_what_comes_back():
    async with site({"/search?a=b&q=%C3%BC+%26": reply(200, b'{"ok": 1}', X_Answer="yes")}) as served:
        answer = await ApiClient().call(
            "POST", served.url("/search?a=b"), json={"q": "ü"}, params={"q": "ü &"}, headers={"Authorization": SECRET}
        )
    assert (answer.status, answer.headers["x-answer"], json.loads(answer.content)) == (200, "yes", {"ok": 1})
    request = served.requests[0]
    assert (request.method, json.loads(request.body), request.headers["authorization"]) == ("POST", {"q": "ü"}, SECRET)
    assert request.headers["content-type"] == "application/json"
    assert SECRET not in repr(answer)


@pytest.mark.parametrize(
    "status, tries",
    [(200, 1), (302, 1), (400, 1), (401, 1), (403, 1), (432, 1), (433, 1), (429, 3), (500, 3), (503, 3)],
)
async def test_every_status_is_an_answer_after_the_retries_that_make_sense(status, tries):
    async with site({"/": reply(status, b"{}", Location="http://elsewhere.example.org/")}) as served:
        answer = await ApiClient(pause=0.01).call("GET", served.url("/"))
    assert (answer.status, answer.content) == (status, b"{}")
    assert served.asked("/") == tries


async def test_a_service_that_recovers_is_heard():
    async with site({"/": [reset, reply(429, Retry_After="0"), reply(200, b"[]")]}) as served:
        assert (await ApiClient(pause=0.01).call("GET", served.url("/"))).content == b"[]"


async def test_a_service_that_asks_for_an_hour_is_not_waited_for():
    async with site({"/": reply(429, b"{}", Retry_After="3600")}) as served:
        answer = await ApiClient(pause=0.01).call("GET", served.url("/"))
    assert (answer.status, answer.headers["retry-after"]) == (429, "3600")
    assert served.asked("/") == 1


@pytest.mark.parametrize("act", [hang, reset, go_on, b"garbage\r\n\r\n"])
async def test_no_answer_is_a_source_error_without_the_secret(act):
    async with site({f"/?key={SECRET}": act}) as served:
        start = anyio.current_time()
        error = await failed(ApiClient(seconds=0.5, pause=0.01, largest=1 << 20), served.url("/"))
        assert anyio.current_time() - start < 4
    shown = "".join(traceback.format_exception(error))
    assert SECRET not in shown


async def test_nobody_listening_is_a_source_error():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        error = await failed(ApiClient(), f"http://127.0.0.1:{taken.getsockname()[1]}/")
    assert "accepts no connection" in error.detail


async def test_text_that_is_not_unicode_is_still_a_call():
    async with site({"/?q=%3F": reply(200, b"{}")}) as served:
        answer = await ApiClient().call(
            "POST", served.url("/"), json={"q": "\ud800"}, params={"q": "\ud800"}, headers={"X": "“\ud800”"}
        )
    assert answer.status == 200


async def test_a_header_that_would_split_the_request_is_refused():
    async with site() as served:
        with pytest.raises(SourceError) as error:
            await ApiClient().call("GET", served.url("/"), headers={"X-Key": f"{SECRET}\r\nEvil: yes"})
    assert served.requests == []
    assert SECRET not in str(error.value)
