"""ApiClient: calls to services the operator chose. No guard on the address, every other bound; knows no service."""

import json as notation
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final
from urllib.parse import urlencode, urlsplit

import anyio
import httpcore2

from marchwarden.errors import SourceError
from marchwarden.fetching.body import ACCEPTED
from marchwarden.fetching.connection import Connections, Incoming
from marchwarden.fetching.rate_limit import OpenGate, RequestGate
from marchwarden.fetching.retry import TransientError, retry
from marchwarden.fetching.settings import USER_AGENT
from marchwarden.fetching.urls import Url, parsed

SECONDS: Final = 20.0
LARGEST: Final = 8 << 20


@dataclass(frozen=True)
class Answer:
    """What a service answered, whatever its status. Header names are in lower case."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    content: bytes = field(repr=False)


class ApiClient:
    """Calls services. A call has one deadline for everything; errors name the host, never the path, query or headers.

    Connections end with the call they were opened for: there is nothing to close, and any event loop will do.
    """

    def __init__(
        self,
        *,
        seconds: float = SECONDS,
        largest: int = LARGEST,
        retries: int = 2,
        pause: float = 0.5,
        user_agent: str = USER_AGENT,
        tls: ssl.SSLContext | None = None,
        gate: RequestGate | None = None,
    ) -> None:
        self._seconds = seconds
        self._largest = largest
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
    ) -> Answer:
        """The service's answer, after retries where it said "not now"; redirects are answers like any other.

        Raises `SourceError` where there is no answer: no connection, none in time, or too large a one.
        """
        target = _asked(parsed(url), params or {})
        fields = {"User-Agent": self._user_agent, "Accept": "application/json", "Accept-Encoding": ACCEPTED}
        content = None if json is None else notation.dumps(json).encode()
        if content is not None:
            fields |= {"Content-Type": "application/json", "Content-Length": str(len(content))}
        attempt = partial(self._attempt, method, target, fields | dict(headers or {}), content)
        # Waiting at a gate is no part of the call's time. What the service itself put off goes through with the first.
        async with self._gate.at(urlsplit(url).netloc):
            with anyio.move_on_after(self._seconds):
                try:
                    return await retry(attempt, retries=self._retries, pause=self._pause)
                except _NotNow as error:
                    return error.answer
        raise SourceError(f"{target.host} did not answer within {self._seconds:g} s")

    async def _attempt(self, method: str, target: Url, headers: Mapping[str, str], content: bytes | None) -> Answer:
        connections = Connections(httpcore2.AnyIOBackend(), self._certificates)
        try:
            async with connections.send(method, target, headers, content) as incoming:
                return await self._answer(incoming)
        finally:
            await connections.aclose()

    async def _answer(self, incoming: Incoming) -> Answer:
        answer = Answer(incoming.status, incoming.headers, await incoming.body(self._largest))
        try:
            incoming.raise_if_passing()
        except TransientError as error:
            raise _NotNow(error, answer) from error
        return answer

    def _certificates(self) -> ssl.SSLContext:
        self._tls = self._tls or httpcore2.default_ssl_context()
        return self._tls


class _NotNow(TransientError):
    def __init__(self, error: TransientError, answer: Answer) -> None:
        super().__init__(error.detail, error.after)
        self.answer = answer


def _asked(target: Url, params: Mapping[str, str]) -> Url:
    if not params:
        return target
    return target.at(f"{target.path}{'&' if '?' in target.path else '?'}{urlencode(params, errors='replace')}")
