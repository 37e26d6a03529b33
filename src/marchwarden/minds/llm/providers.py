"""A model at a provider's address. Vendors' libraries are imported when it is first asked: they take seconds.

A key appears in no error, answer or repr.
"""

import ssl
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Final

from anyio import to_thread

from marchwarden.minds.llm.model import Completion, Request
from marchwarden.minds.llm.vendors import LIBRARIES, Access, Vendor

REDACTED: Final = "[redacted]"
FRAME_TOKENS: Final = 60
_SHORTEST_KEY: Final = 6


@dataclass
class ProviderModel:
    """One model, by the name it was asked for.

    Structured output is asked for natively first, and in plain words from the moment that is refused or, by one of the
    many servers that speak OpenAI's chat API, not kept to.
    """

    model_id: str
    access: Access
    in_words: bool = False
    frame_tokens: int = FRAME_TOKENS
    _tls: ssl.SSLContext | None = field(default=None, init=False, repr=False)

    @property
    def repeats_shape(self) -> bool:
        return self.access.vendor == "compatible" and not self.in_words

    async def ready(self) -> None:
        await to_thread.run_sync(_loaded, self.access.vendor)

    async def complete(self, request: Request, max_tokens: int, seconds: float) -> Completion:
        from marchwarden.minds.llm.pydantic_ai import Bounds, ShapeRefused, completed

        self._tls = self._tls or ssl.create_default_context()
        bounds = Bounds(max_tokens, seconds)
        self.in_words = self.in_words or (self.access.vendor == "compatible" and bool(request.again))
        try:
            said = await completed(self.access, request, bounds, self._tls, native=not self.in_words)
        except ShapeRefused:
            self.in_words = True
            said = await completed(self.access, request, bounds, self._tls, native=False)
        return replace(said, text=self._without_key(said.text))

    def _without_key(self, text: str) -> str:
        key = self.access.key
        return text.replace(key, REDACTED) if len(key) >= _SHORTEST_KEY else text


def _loaded(vendor: Vendor) -> None:
    for library in ("marchwarden.minds.llm.pydantic_ai", *LIBRARIES[vendor]):
        import_module(library)
