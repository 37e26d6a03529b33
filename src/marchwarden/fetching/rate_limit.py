"""Gates: who must be asked before a service is. Knows services by the host they are at, or by name."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol


class RequestGate(Protocol):
    """Opens when a request may be made, and is told when it is over."""

    def at(self, name: str) -> AbstractAsyncContextManager[None]: ...


class OpenGate:
    """Nobody has to be asked."""

    @asynccontextmanager
    async def at(self, name: str) -> AsyncIterator[None]:
        yield
