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


class Part(BaseModel):
    """A piece of a provider's answer: what is not known to us is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


Form = TypeVar("Form", bound=Part)
Item = TypeVar("Item")


def _or_none(value: object, valid: ValidatorFunctionWrapHandler) -> object:
    try:
        return valid(value)
    except ValidationError:
        return None


def _line(value: object) -> object:
    return one_line(value, LONGEST_TITLE) if isinstance(value, str) else ""


def _day(value: object) -> date | None:
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


Lenient = Annotated[Item | None, WrapValidator(_or_none)]
"""An entry that may be anything at all: one that cannot be used costs itself, not its neighbours."""
Line = Annotated[str, BeforeValidator(_line)]
Day = Annotated[date | None, BeforeValidator(_day)]
Score = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def parsed(answer: Answer, form: type[Form], who: str, refusals: Mapping[int, str]) -> Form:
    """The answer in its form; a refusal or nonsense is a `SourceError` that says whose and why."""
    if answer.status != _OK:
        raise SourceError(f"{who} {refusals.get(answer.status) or _refusal(answer.status)}")
    try:
        # Not pydantic's own JSON reader: half a surrogate pair in one title would cost the whole answer.
        return form.model_validate(json.loads(answer.content))
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{who} answered something that is not a search result") from error


def base_url(written: str, variable: str) -> str:
    """A provider's address as an operator wrote it, without the slash at its end."""
    address = canonical(written)
    if address is None:
        raise InvalidInput(f"{variable} is not the address of a web service")
    return address.rstrip("/")


def _refusal(status: int) -> str:
    if status >= _BROKEN:
        return f"is out of order (status {status}); try again later"
    return f"refused the search (status {status})"
