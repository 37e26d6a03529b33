"""Access control for the browser interface: one host, one secret, one origin. All other requests get a 403."""

import hashlib
import hmac
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN: Final = "token"  # noqa: S105 - the name of the parameter
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
)
HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
_NOT_ALLOWED: Final = "Open this page with the address that `marchwarden ui` printed.\n"


class AccessGuard:
    """ASGI middleware that requires the token: in the URL of the first request, in a cookie afterwards.

    The pages and the cookie are below `root`, which other servers on this machine do not know.
    """

    def __init__(self, application: ASGIApp, token: str, root: str, port: int) -> None:
        self._application = application
        self._token = token
        self._root = root
        self._cookie = f"marchwarden-{port}"
        self._hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        response = self._rejection(scope) or self._set_cookie(scope)
        if response is not None:
            await response(scope, receive, _with_headers(send))
        else:
            await self._application(scope, receive, _with_headers(send))

    def _rejection(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if headers.get("host") not in self._hosts:
            return PlainTextResponse("Unknown host name.\n", 403)
        if not (self._has_token(scope) or (self._is_below_root(scope) and self._has_cookie(headers))):
            return PlainTextResponse(_NOT_ALLOWED, 403)
        # Browsers treat other ports of this machine as the same site: only the origin distinguishes them.
        if scope["method"] not in _SAFE_METHODS and headers.get("origin") != f"http://{headers['host']}":
            return PlainTextResponse("Requests from other origins are not allowed.\n", 403)
        return None

    def _set_cookie(self, scope: Scope) -> Response | None:
        """Move the secret from the URL, which browsers keep in their history, into a cookie no script can read."""
        if scope["method"] not in _SAFE_METHODS or not self._has_token(scope):
            return None
        path = scope["path"].removeprefix(self._root)
        response = RedirectResponse(f"{self._root}/{path.lstrip('/')}", 303)
        cookie_path = f"{self._root}/"
        response.set_cookie(self._cookie, _digest(self._token), path=cookie_path, httponly=True, samesite="strict")
        return response

    def _is_below_root(self, scope: Scope) -> bool:
        start = scope["path"][: len(self._root) + 1]
        return hmac.compare_digest(start.encode(errors="replace"), f"{self._root}/".encode())

    def _has_token(self, scope: Scope) -> bool:
        query = parse_qs(scope["query_string"].decode("latin-1"))
        return any(hmac.compare_digest(_digest(given), _digest(self._token)) for given in query.get(TOKEN, ()))

    def _has_cookie(self, headers: Headers) -> bool:
        pairs = (pair.strip().partition("=") for pair in headers.get("cookie", "").split(";"))
        values = [value for name, _, value in pairs if name == self._cookie]
        return any(hmac.compare_digest(value.encode(), _digest(self._token).encode()) for value in values)


def _with_headers(send: Send) -> Send:
    """Add the security headers to every response. A response's own, stricter policy takes precedence."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
