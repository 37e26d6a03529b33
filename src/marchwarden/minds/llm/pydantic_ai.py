"""Send one request through pydantic-ai's direct API and map the responses and errors of vendor libraries.

Importing this module takes one to two seconds, so it is imported on the first request. Never retries.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import httpx2
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelServerError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings

from marchwarden.core.notebook import Usage
from marchwarden.minds.llm.http_transport import BoundedTransport, Garbled
from marchwarden.minds.llm.model import NO_ANSWER, Completion, ModelFailed, Request, Stop
from marchwarden.minds.llm.schema import with_bounds
from marchwarden.minds.llm.vendors import Access, Vendor, vendor_model

CONNECT_SECONDS: Final = 10.0

_STOPS: Final[Mapping[str, Stop]] = {"stop": "complete", "length": "cut", "content_filter": "refused"}
_PERMANENT: Final[tuple[tuple[type[ModelAPIError], str], ...]] = (
    (ModelAuthenticationError, "the provider rejected the API key"),
    (ModelNotFoundError, "the provider has no such model or URL"),
    (ModelQuotaExceededError, "the provider's credit or quota is used up"),
)
_ABOUT_CONTENT: Final = frozenset({400, 422})
_TRANSIENT: Final = (ModelRateLimitError, ModelUnavailableError, ModelServerError)


class SchemaRejected(ModelFailed):
    """The server rejected a request with a schema. It may accept the same request without one."""


@dataclass(frozen=True)
class RequestLimits:
    """Maximum length of an answer in tokens, and maximum time in seconds."""

    max_tokens: int
    seconds: float


async def send_request(
    access: Access, request: Request, limits: RequestLimits, tls: ssl.SSLContext, *, native: bool
) -> Completion:
    """Send one request. With `native` the schema is sent as a provider setting, otherwise in the prompt.

    Many compatible servers constrain the output without showing the schema to the model. They get both.
    """
    prompt = request.prompt if native and access.vendor != "compatible" else request.prompt_with_schema
    async with _client(limits, tls) as client:
        try:
            response = await model_request(
                vendor_model(access, client),
                [ModelRequest.user_text_prompt(prompt, instructions=request.instructions)],
                model_settings=_settings(access, limits),
                model_request_parameters=_parameters(request, access.vendor, native=native),
            )
        except ModelHTTPError as error:
            raise _http_failure(error, native=native) from error
        except ModelAPIError as error:
            raise _connection_failure(error) from error
        except UserError as error:
            # The library knows that this model accepts no schema, and sent nothing.
            raise (SchemaRejected if native else ModelFailed)("the model does not support this request") from error
        except UnexpectedModelBehavior as error:
            raise ModelFailed(NO_ANSWER, billed=True, garbled=True) from error
    return _completion(response)


def _client(limits: RequestLimits, tls: ssl.SSLContext) -> httpx2.AsyncClient:
    """Create a client for one request: clients are bound to an event loop. Redirects are not followed."""
    return httpx2.AsyncClient(
        transport=BoundedTransport(httpx2.AsyncHTTPTransport(verify=tls)),
        timeout=httpx2.Timeout(limits.seconds, connect=min(limits.seconds, CONNECT_SECONDS)),
        headers={"accept-encoding": "identity"},
    )


def _settings(access: Access, limits: RequestLimits) -> ModelSettings:
    settings = ModelSettings(max_tokens=limits.max_tokens, max_retries=0, timeout=limits.seconds)
    # It would put about 200 words about its own tags before our instructions.
    settings["framing_announcement"] = "never"
    if access.vendor != "compatible":
        # Thinking tokens are billed but not returned, and these tasks are small.
        settings["thinking"] = False
    if access.vendor == "anthropic":
        settings["cache"] = {"messages": False}
    return settings


def _parameters(request: Request, vendor: Vendor, *, native: bool) -> ModelRequestParameters:
    if not native:
        return ModelRequestParameters()
    schema = with_bounds(request.schema) if vendor == "compatible" else request.schema
    shape = OutputObjectDefinition(json_schema=dict(schema), name=request.shape, strict=vendor != "compatible")
    return ModelRequestParameters(output_mode="native", output_object=shape)


def _completion(response: ModelResponse) -> Completion:
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    reason = response.finish_reason or (response.provider_details or {}).get("finish_reason")
    stop = _STOPS.get(response.finish_reason or "", "unknown") if reason else "complete"
    return Completion(text, stop, _usage(response))


def _usage(response: ModelResponse) -> Usage | None:
    """Return the provider's token count. Its input includes cached tokens, which are listed separately here."""
    counted = response.usage
    cached = counted.cache_read_tokens + counted.cache_write_tokens
    if counted.input_tokens <= 0 or counted.output_tokens < 0 or cached < 0:
        return None
    return Usage(
        input=max(counted.input_tokens - cached, 0),
        output=counted.output_tokens,
        cache_read=counted.cache_read_tokens,
        cache_write=counted.cache_write_tokens,
    )


def _http_failure(error: ModelHTTPError, *, native: bool) -> ModelFailed:
    """Map an HTTP error status. Providers do not bill such requests."""
    for kind, detail in _PERMANENT:
        if isinstance(error, kind):
            return ModelFailed(f"{detail} ({error.status_code})", permanent=True)
    if isinstance(error, ModelContextWindowExceededError):
        return ModelFailed(f"the request is too long for the model ({error.status_code})")
    if isinstance(error, _TRANSIENT):
        detail = f"the provider is busy or failing ({error.status_code})"
        return ModelFailed(detail, retry=True, wait=error.retry_after)
    is_about_content = isinstance(error, ModelRequestRejectedError) and error.status_code in _ABOUT_CONTENT
    refused = SchemaRejected if native and is_about_content else ModelFailed
    return refused(f"the provider rejected the request ({error.status_code})")


def _connection_failure(error: ModelAPIError) -> ModelFailed:
    """Map a failure without a status. The provider may have processed the request, so it counts as billed."""
    garbled = _find_garbled(error)
    if garbled:
        return ModelFailed(garbled, billed=True, garbled=True)
    if isinstance(error, ModelConnectionError):
        unsent = error.phase in {"pool", "connect"}
        detail = "the provider could not be reached" if unsent else "the connection to the provider was lost"
        return ModelFailed(detail, retry=True, billed=not unsent)
    return ModelFailed(NO_ANSWER, billed=True, garbled=True)


def _find_garbled(error: BaseException | None) -> str:
    """Return the message of a `Garbled` error from our transport anywhere in the chain of causes, or nothing."""
    while error is not None:
        if isinstance(error, Garbled):
            return str(error)
        error = error.__cause__
    return ""
