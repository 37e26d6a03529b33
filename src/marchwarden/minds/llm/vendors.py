"""Build a vendor's model object for one request, with our HTTP client. No other part of vendor libraries is used."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model as VendorModel

Vendor = Literal["anthropic", "openai", "google", "compatible"]
"""`compatible`: any server that implements OpenAI's chat API."""
LIBRARIES: Final[Mapping[Vendor, tuple[str, ...]]] = {
    "anthropic": ("anthropic", "pydantic_ai.models.anthropic"),
    "openai": ("openai", "pydantic_ai.models.openai"),
    "google": ("google.genai", "pydantic_ai.models.google"),
    "compatible": ("openai", "pydantic_ai.models.openai"),
}
"""Modules that each vendor needs, the vendor's own library first."""


@dataclass(frozen=True)
class Access:
    """A model, its base URL and its API key."""

    vendor: Vendor
    name: str
    base_url: str
    key: str = field(default="", repr=False)


def vendor_model(access: Access, client: "httpx2.AsyncClient") -> "VendorModel":
    name, base_url, key = access.name, access.base_url, access.key
    match access.vendor:
        case "anthropic":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            return AnthropicModel(name, provider=AnthropicProvider(api_key=key, base_url=base_url, http_client=client))
        case "openai":
            from pydantic_ai.models.openai import OpenAIChatModel
            from pydantic_ai.providers.openai import OpenAIProvider

            return OpenAIChatModel(name, provider=OpenAIProvider(base_url, key, http_client=client))
        case "google":
            from google.genai.types import HttpRetryOptions
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            once = HttpRetryOptions(attempts=1)
            provider = GoogleProvider(api_key=key, base_url=base_url, http_client=client, retry_options=once)
            return GoogleModel(name, provider=provider)
        case "compatible":
            return _compatible(access, client)


def _compatible(access: Access, client: "httpx2.AsyncClient") -> "VendorModel":
    """Build a model for a local server: it supports `max_tokens` and schemas, but not OpenAI's strict mode."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    profile = OpenAIModelProfile(
        openai_chat_supports_max_completion_tokens=False,
        openai_supports_strict_tool_definition=False,
        supports_json_schema_output=True,
    )
    provider = OpenAICompatibleProvider(
        "compatible", base_url=access.base_url, api_key=access.key or None, http_client=client, profile=profile
    )
    return OpenAIChatModel(access.name, provider=provider)
