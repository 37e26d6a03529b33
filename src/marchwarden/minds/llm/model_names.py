"""`provider:model` read into a model that can be asked, with the keys and addresses of a given environment.

Checks what can be checked without importing a vendor's library: a missing extra or key is one line to act on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

from marchwarden.errors import InvalidInput
from marchwarden.minds.llm.providers import ProviderModel
from marchwarden.minds.llm.vendors import LIBRARIES, Access, Vendor

INSTALL: Final = "pip install 'marchwarden[llm]'"


@dataclass(frozen=True)
class _Service:
    """Where a provider is found: its variables and its usual address. No key variable: no key is needed."""

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


def model_for(spec: str, environ: Mapping[str, str]) -> ProviderModel:
    """The model a spec names. `openai` at an address of its own is whatever speaks OpenAI's chat API there."""
    provider, _, name = spec.partition(":")
    service = _SERVICES.get(provider)
    if service is None or not name.strip():
        known = ", ".join(PROVIDERS)
        raise InvalidInput(f"no mind {spec!r}: give extractive, claude-agent or PROVIDER:MODEL with one of {known}")
    if not _installed("pydantic_ai") or not _installed(LIBRARIES[service.vendor][0]):
        raise InvalidInput(f"the mind {spec} needs more than is installed: {INSTALL}")
    elsewhere = environ.get(service.base, "").strip()
    compatible = service.vendor == "compatible" or (service.vendor == "openai" and bool(elsewhere))
    key = next((environ[variable] for variable in service.keys if environ.get(variable)), "")
    if not key and not compatible:
        raise InvalidInput(f"the mind {spec} needs a key: set {' or '.join(service.keys)}")
    vendor: Vendor = "compatible" if compatible else service.vendor
    return ProviderModel(spec, Access(vendor, name.strip(), elsewhere or service.address, key))


def _installed(library: str) -> bool:
    """Whether it could be imported. A package inside one that is missing is an error to ask for."""
    try:
        return find_spec(library) is not None
    except ModuleNotFoundError:
        return False
