"""Build a model from `provider:model` and call it. API keys never appear in errors, answers or reprs.

Vendor libraries take seconds to import, so they are imported on the first call. A missing library or key is found
without importing them.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Final

from anyio import to_thread

from marchwarden.errors import InvalidInput
from marchwarden.minds.llm.model import Completion, Request
from marchwarden.minds.llm.vendors import LIBRARIES, Access, Vendor

REDACTED: Final = "[redacted]"
FRAME_TOKENS: Final = 60
_SHORTEST_KEY: Final = 6
INSTALL: Final = "pip install 'marchwarden[llm]'"


@dataclass(frozen=True)
class _Service:
    """Environment variables and default URL of a provider. Without key variables it needs no key."""

    vendor: Vendor
    keys: tuple[str, ...]
    base: str
    address: str


_SERVICES: Final[Mapping[str, _Service]] = {
    "anthropic": _Service("anthropic", ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
    "openai": _Service("openai", ("OPENAI_API_KEY",), "OPENAI_BASE_URL", "https://api.openai.com/v1"),
    "google": _Service(
        "google", ("GOOGLE_API_KEY", "GEMINI_API_KEY"), "GOOGLE_BASE_URL", "https://generativelanguage.googleapis.com"
    ),
    "ollama": _Service("compatible", (), "OLLAMA_BASE_URL", "http://127.0.0.1:11434/v1"),
    "lmstudio": _Service("compatible", (), "LMSTUDIO_BASE_URL", "http://127.0.0.1:1234/v1"),
    "llamacpp": _Service("compatible", (), "LLAMACPP_BASE_URL", "http://127.0.0.1:8080/v1"),
    "vllm": _Service("compatible", (), "VLLM_BASE_URL", "http://127.0.0.1:8000/v1"),
}
PROVIDERS: Final = tuple(_SERVICES)


@dataclass
class ProviderModel:
    """One model of a provider, under the name the user gave.

    It requests structured output natively. Once the server rejects the schema, or a compatible server ignores it, the
    schema goes into the prompt instead.
    """

    model_id: str
    access: Access
    schema_in_prompt: bool = False
    frame_tokens: int = FRAME_TOKENS
    _tls: ssl.SSLContext | None = field(default=None, init=False, repr=False)

    @property
    def repeats_shape(self) -> bool:
        return self.access.vendor == "compatible" and not self.schema_in_prompt

    async def ready(self) -> None:
        await to_thread.run_sync(_import_libraries, self.access.vendor)

    async def complete(self, request: Request, max_tokens: int, seconds: float) -> Completion:
        from marchwarden.minds.llm.pydantic_ai import RequestLimits, SchemaRejected, send_request

        self._tls = self._tls or ssl.create_default_context()
        limits = RequestLimits(max_tokens, seconds)
        self.schema_in_prompt = self.schema_in_prompt or (self.access.vendor == "compatible" and bool(request.again))
        try:
            completion = await send_request(self.access, request, limits, self._tls, native=not self.schema_in_prompt)
        except SchemaRejected:
            self.schema_in_prompt = True
            completion = await send_request(self.access, request, limits, self._tls, native=False)
        return replace(completion, text=self._without_key(completion.text))

    def _without_key(self, text: str) -> str:
        key = self.access.key
        return text.replace(key, REDACTED) if len(key) >= _SHORTEST_KEY else text


def build_model(spec: str, environ: Mapping[str, str]) -> ProviderModel:
    """Build the model for a spec. With OPENAI_BASE_URL set, `openai` means any server with OpenAI's chat API."""
    provider, _, name = spec.partition(":")
    service = _SERVICES.get(provider)
    if service is None or not name.strip():
        known = ", ".join(PROVIDERS)
        raise InvalidInput(
            f"no such model: {spec!r}; use extractive, claude-agent or PROVIDER:MODEL with one of {known}"
        )
    if not _installed("pydantic_ai") or not _installed(LIBRARIES[service.vendor][0]):
        raise InvalidInput(f"the model {spec} needs the llm extra: {INSTALL}")
    elsewhere = environ.get(service.base, "").strip()
    compatible = service.vendor == "compatible" or (service.vendor == "openai" and bool(elsewhere))
    key = next((environ[variable] for variable in service.keys if environ.get(variable)), "")
    if not key and not compatible:
        raise InvalidInput(f"the model {spec} needs an API key: set {' or '.join(service.keys)}")
    vendor: Vendor = "compatible" if compatible else service.vendor
    return ProviderModel(spec, Access(vendor, name.strip(), elsewhere or service.address, key))


def _installed(library: str) -> bool:
    """Whether a module can be imported. `find_spec` raises if the parent package is missing."""
    try:
        return find_spec(library) is not None
    except ModuleNotFoundError:
        return False


def _import_libraries(vendor: Vendor) -> None:
    for library in ("marchwarden.minds.llm.pydantic_ai", *LIBRARIES[vendor]):
        import_module(library)
