"""HTTP client for services the operator configured: size and time limits, retries, but no check of the address."""

import json as json_format
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final
from urllib.parse import urlencode, urlsplit

import anyio
import httpcore2

from marchwarden.errors import SourceError
from marchwarden.fetching.connection import ACCEPTED_ENCODINGS, Connections, IncomingResponse
from marchwarden.fetching.rate_limit import OpenGate, RequestGate
from marchwarden.fetching.retry import TransientError, retry
from marchwarden.fetching.settings import USER_AGENT
from marchwarden.fetching.urls import Url, parse_url

SECONDS: Final = 20.0
MAX_BYTES: Final = 8 << 20


@dataclass(frozen=True)
class ApiResponse:
    """The response of a service, with any status. Header names are lower case."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    content: bytes = field(repr=False)


class ApiClient:
    """Calls services. One deadline covers a whole call. Errors name the host, never the path, query or headers.

    Connections are closed at the end of each call, so the client needs no closing and works in any event loop.
    """

    def __init__(
        self,
        *,
        seconds: float = SECONDS,
        max_bytes: int = MAX_BYTES,
        retries: int = 2,
        pause: float = 0.5,
        user_agent: str = USER_AGENT,
        tls: ssl.SSLContext | None = None,
        gate: RequestGate | None = None,
    ) -> None:
        self._seconds = seconds
        self._max_bytes = max_bytes
        self._retries = retries
        self._pause = pause
        self._user_agent = user_agent
        self._tls = tls
        self._gate = gate or OpenGate()

    async def call(
        self,
        method: str,
        url: str,
        *,
        json: object = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ApiResponse:
        """Send a request and return the response, retrying transient failures. Redirects are returned, not followed.

        Raises `SourceError` if there is no response: connection failed, deadline passed, or body too large.
        """
        target = _with_params(parse_url(url), params or {})
        fields = {"User-Agent": self._user_agent, "Accept": "application/json", "Accept-Encoding": ACCEPTED_ENCODINGS}
        content = None if json is None else json_format.dumps(json).encode()
        if content is not None:
            fields |= {"Content-Type": "application/json", "Content-Length": str(len(content))}
        attempt = partial(self._attempt, method, target, fields | dict(headers or {}), content)
        # Waiting at the gate does not count towards the deadline. Retries pass the gate together with the first try.
        async with self._gate.at(urlsplit(url).netloc):
            with anyio.move_on_after(self._seconds):
                try:
                    return await retry(attempt, retries=self._retries, pause=self._pause)
                except _TransientResponse as error:
                    return error.response
        raise SourceError(f"{target.host} did not answer within {self._seconds:g} s")

    async def _attempt(
        self, method: str, target: Url, headers: Mapping[str, str], content: bytes | None
    ) -> ApiResponse:
        connections = Connections(httpcore2.AnyIOBackend(), self._certificates)
        try:
            async with connections.send(method, target, headers, content) as incoming:
                return await self._read_response(incoming)
        finally:
            await connections.aclose()

    async def _read_response(self, incoming: IncomingResponse) -> ApiResponse:
        response = ApiResponse(incoming.status, incoming.headers, await incoming.read_body(self._max_bytes))
        try:
            incoming.raise_if_transient()
        except TransientError as error:
            raise _TransientResponse(error, response) from error
        return response

    def _certificates(self) -> ssl.SSLContext:
        self._tls = self._tls or httpcore2.default_ssl_context()
        return self._tls


class _TransientResponse(TransientError):
    """A response worth retrying. After the last retry it is returned like any other."""

    def __init__(self, error: TransientError, response: ApiResponse) -> None:
        super().__init__(error.detail, error.retry_after)
        self.response = response


def _with_params(target: Url, params: Mapping[str, str]) -> Url:
    if not params:
        return target
    return target.with_path(f"{target.path}{'&' if '?' in target.path else '?'}{urlencode(params, errors='replace')}")
