"""Who is let in: one address, one secret, one origin."""

import httpx2
import pytest

from marchwarden.ui.auth import POLICY
from tests.ui.deployments import Page, a_house, opened

EVERYWHERE = [
    "/",
    "/runs",
    "/costs",
    "/compare",
    "/events",
    "/static/page.js",
    "/static/page.css",
    "/nowhere",
    "/runs/x",
]


def stranger(page: Page, **headers: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=page.base, trust_env=False, headers=headers)


@pytest.mark.parametrize("shown", ["", "?token=", "?token=wrong", "?token=%00%ff", "?token=a&token=b"])
async def test_without_the_token_every_address_is_a_403_that_shows_nothing(tmp_path, shown):
    async with opened(a_house(tmp_path)) as page, stranger(page) as http:
        for path in EVERYWHERE:
            refused = await http.get(f"{path}{shown}")
            assert refused.status_code == 403
            assert "marchwarden ui" in refused.text and len(refused.text) < 100
            assert "set-cookie" not in refused.headers


@pytest.mark.parametrize(
    "kept", ["marchwarden-{port}=wrong", "marchwarden-1={token}", "=;;;", "marchwarden-{port}={token}"]
)
async def test_a_cookie_that_is_not_ours_lets_nobody_in(tmp_path, kept):
    async with opened(a_house(tmp_path)) as page:
        port, token = page.base.rpartition(":")[2], page.address.partition("=")[2]
        async with stranger(page, cookie=kept.format(port=port, token=token)) as http:
            assert (await http.get("/runs")).status_code == 403


async def test_the_token_moves_from_the_address_into_a_cookie_no_script_can_read(tmp_path):
    async with opened(a_house(tmp_path)) as page, stranger(page) as http:
        welcome = await http.get(page.address)
        assert (welcome.status_code, welcome.headers["location"]) == (303, "/")
        cookie = welcome.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=strict" in cookie
        assert page.address.partition("=")[2] not in cookie
        assert (await http.get("/runs")).status_code == 200


async def test_the_welcome_never_leads_away(tmp_path):
    async with opened(a_house(tmp_path)) as page, stranger(page) as http:
        token = page.address.partition("?")[2]
        for path in ("//evil.example/x", "/%2f/evil.example", "/\\evil.example", "////evil.example"):
            away = (await http.get(httpx2.URL(f"{page.base}{path}?{token}"))).headers["location"]
            assert away.startswith("/") and not away.startswith(("//", "/\\"))


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", ""])
async def test_a_name_that_is_not_ours_is_refused_even_with_the_token(tmp_path, host):
    async with opened(a_house(tmp_path)) as page:
        named = host.format(port=page.base.rpartition(":")[2])
        assert (await page.http.get("/runs", headers={"host": named})).status_code == 403


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://127.0.0.1:1", "https://{host}"])
async def test_only_the_page_itself_may_ask_stop_and_resume(tmp_path, origin):
    async with opened(a_house(tmp_path)) as page:
        headers = {"origin": origin.format(host=page.base.partition("//")[2])} if origin else {}
        for path in ("/ask", "/asked/x/stop", "/runs/x/resume"):
            refused = await page.http.post(path, data={"question": "q"}, headers=headers)
            assert refused.status_code == 403
        assert "No runs yet" in await page.get("/runs")


async def test_every_answer_carries_the_policy(tmp_path):
    async with opened(a_house(tmp_path)) as page:
        for path in ("/", "/runs", "/costs", "/static/page.css", "/nowhere", "/runs/x"):
            headers = (await page.http.get(path)).headers
            assert headers["content-security-policy"] == POLICY
            assert "unsafe" not in POLICY
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cache-control"] == "no-store"


async def test_the_page_is_read_by_its_methods_only(tmp_path):
    async with opened(a_house(tmp_path)) as page:
        for method in ("PUT", "DELETE", "PATCH"):
            assert (await page.http.request(method, "/runs", headers={"origin": page.base})).status_code == 405
        assert (await page.http.get("/ask")).status_code == 405
