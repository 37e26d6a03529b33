"""Access control: one host, one secret, one origin."""

import httpx2
import pytest

from marchwarden.ui.auth import POLICY
from tests.ui.ui_server import Page, make_dependencies, open_page

pytestmark = pytest.mark.slow

PATHS = [
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


def client_without_cookie(page: Page, **headers: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=page.base, trust_env=False, headers=headers)


@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", "?token=%00%ff", "?token=a&token=b"])
async def test_without_the_token_every_path_returns_a_short_403(tmp_path, query):
    async with open_page(make_dependencies(tmp_path)) as page, client_without_cookie(page) as http:
        for path in PATHS:
            response = await http.get(f"{path}{query}")
            assert response.status_code == 403
            assert "marchwarden ui" in response.text and len(response.text) < 100
            assert "set-cookie" not in response.headers


@pytest.mark.parametrize(
    "cookie", ["marchwarden-{port}=wrong", "marchwarden-1={token}", "=;;;", "marchwarden-{port}={token}"]
)
async def test_a_wrong_cookie_is_rejected(tmp_path, cookie):
    async with open_page(make_dependencies(tmp_path)) as page:
        port, token = page.origin.rpartition(":")[2], page.address.partition("=")[2]
        async with client_without_cookie(page, cookie=cookie.format(port=port, token=token)) as http:
            assert (await http.get("/runs")).status_code == 403


async def test_the_cookie_is_worth_nothing_outside_its_path(tmp_path):
    async with open_page(make_dependencies(tmp_path)) as page:
        (cookie,) = page.http.cookies.jar
        headers = {"cookie": f"{cookie.name}={cookie.value}"}
        async with httpx2.AsyncClient(base_url=page.origin, trust_env=False, headers=headers) as http:
            assert (await http.get(f"{page.root}/runs")).status_code == 200
            for path in ("/", "/runs", page.root, f"{page.root[:-1]}/runs", f"//{page.root}/runs", f"/x{page.root}/"):
                assert (await http.get(httpx2.URL(f"{page.origin}{path}"))).status_code == 403


async def test_the_token_moves_from_the_url_into_an_http_only_cookie(tmp_path):
    async with open_page(make_dependencies(tmp_path)) as page, client_without_cookie(page) as http:
        response = await http.get(page.address)
        assert (response.status_code, response.headers["location"]) == (303, f"{page.root}/")
        cookie = response.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=strict" in cookie and f"Path={page.root}/;" in cookie
        assert page.address.partition("=")[2] not in cookie
        assert (await http.get("/runs")).status_code == 200


async def test_the_redirect_after_login_stays_on_this_site(tmp_path):
    async with open_page(make_dependencies(tmp_path)) as page, client_without_cookie(page) as http:
        token = page.address.partition("?")[2]
        for path in ("//evil.example/x", "/%2f/evil.example", "/\\evil.example", "////evil.example"):
            for base in (page.origin, page.base):
                location = (await http.get(httpx2.URL(f"{base}{path}?{token}"))).headers["location"]
                assert location.startswith(f"{page.root}/")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", ""])
async def test_another_host_name_is_rejected_even_with_the_token(tmp_path, host):
    async with open_page(make_dependencies(tmp_path)) as page:
        host_header = host.format(port=page.origin.rpartition(":")[2])
        assert (await page.http.get("/runs", headers={"host": host_header})).status_code == 403


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://127.0.0.1:1", "https://{host}"])
async def test_posts_from_other_origins_are_rejected(tmp_path, origin):
    async with open_page(make_dependencies(tmp_path)) as page:
        headers = {"origin": origin.format(host=page.origin.partition("//")[2])} if origin else {}
        for path in ("/ask", "/asked/x/stop", "/runs/x/resume"):
            response = await page.http.post(path, data={"question": "q"}, headers=headers)
            assert response.status_code == 403
        assert "No runs yet" in await page.get("/runs")


async def test_every_response_has_the_security_headers(tmp_path):
    async with open_page(make_dependencies(tmp_path)) as page:
        for path in ("/", "/runs", "/costs", "/static/page.css", "/nowhere", "/runs/x"):
            headers = (await page.http.get(path)).headers
            assert headers["content-security-policy"] == POLICY
            assert "unsafe" not in POLICY
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cache-control"] == "no-store"


async def test_other_methods_are_not_allowed(tmp_path):
    async with open_page(make_dependencies(tmp_path)) as page:
        for method in ("PUT", "DELETE", "PATCH"):
            assert (await page.http.request(method, "/runs", headers={"origin": page.origin})).status_code == 405
        assert (await page.http.get("/ask")).status_code == 405
