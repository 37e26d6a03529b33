"""Parse responses of search APIs. The input is untrusted. Knows JSON and status codes, but no specific provider."""

import json
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.functional_validators import WrapValidator
from pydantic_core.core_schema import ValidatorFunctionWrapHandler

from marchwarden.errors import InvalidInput, SourceError
from marchwarden.fetching import ApiResponse
from marchwarden.fetching.connection import parse_http_date
from marchwarden.researchers.web.urls import canonical
from marchwarden.text.sanitize import one_line

LONGEST_TITLE: Final = 200

_OK: Final = 200
_BROKEN: Final = 500


class ResponseModel(BaseModel):
    """Part of a provider's response. Unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


Model = TypeVar("Model", bound=ResponseModel)
Item = TypeVar("Item")


def _none_if_invalid(value: object, valid: ValidatorFunctionWrapHandler) -> object:
    try:
        return valid(value)
    except ValidationError:
        return None


def _clean_line(value: object) -> object:
    return one_line(value, LONGEST_TITLE) if isinstance(value, str) else ""


def _parse_date(value: object) -> date | None:
    """Parse an ISO 8601 or RFC 5322 date."""
    if not isinstance(value, str):
        return None
    try:
        return date.fromisoformat(value[:10])
    except ValueError:
        pass
    moment = parse_http_date(value)
    return moment.date() if moment else None


Lenient = Annotated[Item | None, WrapValidator(_none_if_invalid)]
"""An entry of unknown shape. An invalid one becomes None, and the others stay usable."""
Line = Annotated[str, BeforeValidator(_clean_line)]
Day = Annotated[date | None, BeforeValidator(_parse_date)]
Score = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def parse_response(answer: ApiResponse, model: type[Model], provider: str, refusals: Mapping[int, str]) -> Model:
    """Validate a response. Raise `SourceError` with the provider's name and the reason if it failed or is malformed."""
    if answer.status != _OK:
        raise SourceError(f"{provider} {refusals.get(answer.status) or _describe_status(answer.status)}")
    try:
        # pydantic's JSON parser would reject the whole response for half a surrogate pair in one title.
        return model.model_validate(json.loads(answer.content))
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{provider} returned something that is not a search result") from error


def base_url(text: str, variable: str) -> str:
    """Return a provider's configured URL without its trailing slash."""
    address = canonical(text)
    if address is None:
        raise InvalidInput(f"{variable} must be an http or https URL")
    return address.rstrip("/")


def _describe_status(status: int) -> str:
    if status >= _BROKEN:
        return f"is unavailable (status {status}); try again later"
    return f"refused the search (status {status})"
