"""Guard: who may see the page. One address, one secret, one origin; everybody else learns nothing but that."""

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
_SAFE: Final = frozenset({"GET", "HEAD"})
_REFUSED: Final = "This page opens with the address that `marchwarden ui` printed.\n"


class Guard:
    """Lets through who shows the token: in the address the first time, in a cookie from then on."""

    def __init__(self, application: ASGIApp, token: str, port: int) -> None:
        self._application = application
        self._token = token
        self._cookie = f"marchwarden-{port}"
        self._hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        answer = self._refusal(scope) or self._welcome(scope)
        if answer is not None:
            await answer(scope, receive, _guarded(send))
        else:
            await self._application(scope, receive, _guarded(send))

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if headers.get("host") not in self._hosts:
            return PlainTextResponse("This is not a name of mine.\n", 403)
        if not (self._shows(scope) or self._remembers(headers)):
            return PlainTextResponse(_REFUSED, 403)
        # A page on another port of this machine counts as the same site: only the origin tells it apart.
        if scope["method"] not in _SAFE and headers.get("origin") != f"http://{headers['host']}":
            return PlainTextResponse("Only this page itself may ask for that.\n", 403)
        return None

    def _welcome(self, scope: Scope) -> Response | None:
        """The secret moves from the address, where histories keep it, into a cookie no script can read."""
        if scope["method"] not in _SAFE or not self._shows(scope):
            return None
        answer = RedirectResponse(f"/{scope['path'].lstrip('/')}", 303)
        answer.set_cookie(self._cookie, _digest(self._token), httponly=True, samesite="strict")
        return answer

    def _shows(self, scope: Scope) -> bool:
        query = parse_qs(scope["query_string"].decode("latin-1"))
        return any(hmac.compare_digest(_digest(shown), _digest(self._token)) for shown in query.get(TOKEN, ()))

    def _remembers(self, headers: Headers) -> bool:
        pairs = (pair.strip().partition("=") for pair in headers.get("cookie", "").split(";"))
        kept = [value for name, _, value in pairs if name == self._cookie]
        return any(hmac.compare_digest(value.encode(), _digest(self._token).encode()) for value in kept)


def _guarded(send: Send) -> Send:
    """Every answer carries the policy; one that has a stricter policy of its own keeps that."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sent


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
