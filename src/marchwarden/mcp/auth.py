"""ASGI middleware in front of the MCP application: tokens, rate limits, health and metrics. Does not know the tool."""

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
from marchwarden.mcp.request_context import SCOPE_KEY, RequestContext
from marchwarden.mcp.service import Service

HEALTH: Final = "/healthz"
METRICS: Final = "/metrics"
METHOD_HEADER: Final = "mcp-method"
TOO_MANY_REQUESTS: Final = 429


class AuthMiddleware:
    """Forwards requests with a valid token. Other requests get a 401, except for the health check."""

    def __init__(self, application: ASGIApp, service: Service, hosts: Sequence[str]) -> None:
        self._application = application
        self._service = service
        self._hosts = frozenset(hosts)
        self._users = {client.name: _sdk_user(client) for client in (ANONYMOUS, *service.registry.clients)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        headers = Headers(scope=scope)
        client = self._service.registry.authenticate(headers.get("authorization", ""))
        response = self._own_response(scope["path"], headers, client)
        if response is not None:
            await response(scope, receive, send)
            return
        assert client is not None
        await self._forward(client, headers, scope, receive, send)

    def _own_response(self, path: str, headers: Headers, client: ServiceClient | None) -> Response | None:
        """Return the response to a request that is not forwarded, else None."""
        if path == HEALTH:
            return PlainTextResponse(*(("draining\n", 503) if self._service.draining else ("ok\n", 200)))
        if client is None:
            return PlainTextResponse("a bearer token is required\n", 401, {"WWW-Authenticate": "Bearer"})
        if path != METRICS:
            return None
        if headers.get("host") not in self._hosts:
            return PlainTextResponse("this server does not accept that Host header\n", 421)
        if not client.operator:
            return PlainTextResponse("only an operator may read the metrics\n", 403)
        return Response(self._service.render_metrics(), media_type=CONTENT_TYPE)

    async def _forward(
        self, client: ServiceClient, headers: Headers, scope: Scope, receive: Receive, send: Send
    ) -> None:
        context = RequestContext(client)
        try:
            # If a header names the method, a client over its limit is rejected without reading the body.
            if headers.get(METHOD_HEADER) == "tools/call":
                context.is_counted = True
                self._service.admit(client)
        except Busy as error:
            await _too_many_requests(error)(scope, receive, send)
            return

        async def send_with_status(message: Message) -> None:
            # If the handler refuses the call as busy, respond with 429, which proxies and clients understand.
            if context.retry_after and message["type"] == "http.response.start":
                response_headers = MutableHeaders(scope=message)
                if response_headers.get("content-type", "").startswith("application/json"):
                    response_headers["Retry-After"] = str(context.retry_after)
                    message["status"] = TOO_MANY_REQUESTS
            await send(message)

        forwarded = {**scope, SCOPE_KEY: context, "user": self._users[client.name]}
        if scope["method"] != "POST":
            # A server-sent event stream has no end that draining could wait for.
            await self._application(forwarded, receive, send_with_status)
            return
        with self._service.sending_response():
            await self._application(forwarded, receive, send_with_status)


def _too_many_requests(error: Busy) -> Response:
    """Build the JSON by hand: a rejected call must cost as little as possible."""
    details = {"code": BUSY, "message": str(error), "data": {RETRY_KEY: error.seconds}}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": details})
    return Response(body, TOO_MANY_REQUESTS, {"Retry-After": str(error.seconds)}, "application/json")


def _sdk_user(client: ServiceClient) -> AuthenticatedUser:
    """Return the client in the SDK's form. With it, the SDK rejects clients that use the session of another."""
    return AuthenticatedUser(AccessToken(token="", client_id=client.name, scopes=[]))
