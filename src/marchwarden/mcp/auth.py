"""Door: who is let in to an HTTP server, what it tells of its health, and when a caller is sent away. Knows no tool."""

import json
from collections.abc import Sequence
from typing import Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from marchwarden.errors import Busy
from marchwarden.mcp.clients import ANONYMOUS, ServiceClient
from marchwarden.mcp.metrics import CONTENT_TYPE
from marchwarden.mcp.protocol import BUSY, RETRY_KEY
from marchwarden.mcp.request_context import PLACE, RequestContext
from marchwarden.mcp.service import Service

HEALTH: Final = "/healthz"
METRICS: Final = "/metrics"
METHOD_HEADER: Final = "mcp-method"
TOO_MANY: Final = 429


class AuthMiddleware:
    """Lets through who shows a known token; everybody else gets a 401 whatever they ask, except after its health."""

    def __init__(self, application: ASGIApp, service: Service, hosts: Sequence[str]) -> None:
        self._application = application
        self._service = service
        self._hosts = frozenset(hosts)
        self._users = {caller.name: _user(caller) for caller in (ANONYMOUS, *service.guests.callers)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        headers = Headers(scope=scope)
        caller = self._service.guests.shown(headers.get("authorization", ""))
        answer = self._answered_here(scope["path"], headers, caller)
        if answer is not None:
            await answer(scope, receive, send)
            return
        assert caller is not None
        await self._pass_on(caller, headers, scope, receive, send)

    def _answered_here(self, path: str, headers: Headers, caller: ServiceClient | None) -> Response | None:
        if path == HEALTH:
            return PlainTextResponse(*(("draining\n", 503) if self._service.draining else ("ok\n", 200)))
        if caller is None:
            return PlainTextResponse("a bearer token is required\n", 401, {"WWW-Authenticate": "Bearer"})
        if path != METRICS:
            return None
        if headers.get("host") not in self._hosts:
            return PlainTextResponse("this server does not answer to that host name\n", 421)
        if not caller.operator:
            return PlainTextResponse("only an operator may see the metrics\n", 403)
        return Response(self._service.metrics(), media_type=CONTENT_TYPE)

    async def _pass_on(
        self, caller: ServiceClient, headers: Headers, scope: Scope, receive: Receive, send: Send
    ) -> None:
        exchange = RequestContext(caller)
        try:
            # Where the header says what is asked, a caller over its quota costs no reading of what it sent.
            if headers.get(METHOD_HEADER) == "tools/call":
                exchange.is_counted = True
                self._service.admit(caller)
        except Busy as error:
            await _sent_away(error)(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            # A refusal of the desk behind gets the status that proxies and clients understand, if it is not too late.
            if exchange.retry_after and message["type"] == "http.response.start":
                answered = MutableHeaders(scope=message)
                if answered.get("content-type", "").startswith("application/json"):
                    answered["Retry-After"] = str(exchange.retry_after)
                    message["status"] = TOO_MANY
            await send(message)

        passed_on = {**scope, PLACE: exchange, "user": self._users[caller.name]}
        if scope["method"] != "POST":
            # A stream that only listens has no end to wait for.
            await self._application(passed_on, receive, sent)
            return
        with self._service.answering():
            await self._application(passed_on, receive, sent)


def _sent_away(error: Busy) -> Response:
    """Written out, because a caller over its quota must cost as little as can be."""
    told = {"code": BUSY, "message": str(error), "data": {RETRY_KEY: error.seconds}}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": told})
    return Response(body, TOO_MANY, {"Retry-After": str(error.seconds)}, "application/json")


def _user(caller: ServiceClient) -> AuthenticatedUser:
    """The caller as the SDK knows it: it lets nobody into the session of another."""
    return AuthenticatedUser(AccessToken(token="", client_id=caller.name, scopes=[]))
