"""Serve an application below a path that cannot be guessed. Does not know access rights.

Why a path: cookies are sent to every port of a host, but only below their path. Other servers on this machine do not
know the path, so no browser sends them the cookie.
"""

import re
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LOCAL_LINK: Final = re.compile(rb' (href|src|action)="(?=/)')
"""A link within the site. Text cannot contain one, because `reports/html.py` escapes its quotes."""


class SecretPath:
    """ASGI middleware that removes the path from requests and puts it in front of all links and redirects."""

    def __init__(self, application: ASGIApp, root: str) -> None:
        self._application = application
        self._root = root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "path": scope["path"].removeprefix(self._root)}
            send = self._with_links(send)
        await self._application(scope, receive, send)

    def _with_links(self, send: Send) -> Send:
        start: Message | None = None
        page = b""

        async def send_with_links(message: Message) -> None:
            nonlocal start, page
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("location", "").startswith("/"):
                    headers["location"] = f"{self._root}{headers['location']}"
                if not headers.get("content-type", "").startswith("text/html"):
                    await send(message)
                    return
                start = message
            elif start is None:
                await send(message)
            else:
                page += message.get("body", b"")
                if message.get("more_body"):
                    return
                page = _LOCAL_LINK.sub(rb' \1="' + self._root.encode(), page)
                MutableHeaders(scope=start)["content-length"] = str(len(page))
                await send(start)
                await send({**message, "body": page})

        return send_with_links
