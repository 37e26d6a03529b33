"""HTTP connections whose requests must arrive within a time limit. Does not know what is served.

Why not an option of uvicorn: it limits only the time between two requests.
"""

import asyncio
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SEC: Final = 15.0
"""How long a request may take to arrive, from its first to its last byte, and a connection to its first request."""
_ARRIVING: Final = frozenset({h11.IDLE, h11.SEND_BODY})


class TimedProtocol(H11Protocol):
    """HTTP/1.1 that closes a connection if a request does not arrive in time. A response may take any time."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        super().connection_made(transport)
        self._update_deadline()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._update_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        super().connection_lost(exc)

    def _update_deadline(self) -> None:
        if self.conn.their_state not in _ARRIVING:
            self._cancel_deadline()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_SEC, self.transport.abort)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
