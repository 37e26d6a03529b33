"""What search APIs answer, read with suspicion. Knows JSON and statuses, no provider's own words."""

import json
from collections.abc import Mapping
from datetime import date
from email.utils import parsedate_to_datetime
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.functional_validators import WrapValidator
from pydantic_core.core_schema import ValidatorFunctionWrapHandler

from marchwarden.errors import InvalidInput, SourceError
from marchwarden.fetching import Answer
from marchwarden.researchers.web.urls import canonical
from marchwarden.text.sanitize import one_line

LONGEST_TITLE: Final = 200

_OK: Final = 200
_BROKEN: Final = 500


class ResponseModel(BaseModel):
    """A piece of a provider's answer: what is not known to us is passed over."""

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
    """The day of an ISO or mail date, whichever of the two it is."""
    if not isinstance(value, str):
        return None
    try:
        return date.fromisoformat(value[:10])
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(value).date()
    except (ValueError, OverflowError):
        return None


Lenient = Annotated[Item | None, WrapValidator(_none_if_invalid)]
"""An entry that may be anything at all: one that cannot be used costs itself, not its neighbours."""
Line = Annotated[str, BeforeValidator(_clean_line)]
Day = Annotated[date | None, BeforeValidator(_parse_date)]
Score = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def parse_response(answer: Answer, model: type[Model], provider: str, refusals: Mapping[int, str]) -> Model:
    """The answer in its model; a refusal or nonsense is a `SourceError` that says whose and why."""
    if answer.status != _OK:
        raise SourceError(f"{provider} {refusals.get(answer.status) or _describe_status(answer.status)}")
    try:
        # Not pydantic's own JSON reader: half a surrogate pair in one title would cost the whole answer.
        return model.model_validate(json.loads(answer.content))
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{provider} answered something that is not a search result") from error


def base_url(text: str, variable: str) -> str:
    """A provider's address as an operator wrote it, without the slash at its end."""
    address = canonical(text)
    if address is None:
        raise InvalidInput(f"{variable} is not the address of a web service")
    return address.rstrip("/")


def _describe_status(status: int) -> str:
    if status >= _BROKEN:
        return f"is out of order (status {status}); try again later"
    return f"refused the search (status {status})"
