"""Validate requests. Errors are one line that says what is allowed. Knows only the contract."""

import json
from collections.abc import Mapping
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from marchwarden.contract import ResearchConstraints, ResearchRequest
from marchwarden.errors import InvalidInput
from marchwarden.text.domains import is_domain

MOST_COMPLAINTS: Final = 5
LONGEST_QUOTE: Final = 60

_SAYINGS: Final[Mapping[str, str]] = {
    "missing": "{name} is required",
    "extra_forbidden": "unknown argument {name} (allowed: {allowed})",
    "enum": "{name} must be {expected}, not {given}",
    "string_too_short": "{name} must not be empty",
    "string_too_long": "{name} may have at most {max_length} characters, not {length}",
    "string_unicode": "{name} must be valid UTF-8 text",
    "string_type": "{name} must be text, not {given}",
    "int_type": "{name} must be a whole number, not {given}",
    "float_type": "{name} must be a number, not {given}",
    "finite_number": "{name} must be a finite number, not {given}",
    "greater_than_equal": "{name} must be at least {ge}, not {given}",
    "greater_than": "{name} must be more than {gt:g}, not {given}",
    "less_than_equal": "{name} must be at most {le}, not {given}",
    "model_type": "{name} must be an object, not {given}",
}


def parse_request(arguments: Mapping[str, object]) -> ResearchRequest:
    """Validate the arguments of a request. Raises `InvalidInput` with one line that says what is allowed."""
    try:
        request = ResearchRequest.model_validate(dict(arguments))
        # Pydantic checks the encoding only of strings with a length limit; this finds lone surrogates in the others.
        json.dumps(arguments, ensure_ascii=False, default=str).encode()
    except ValidationError as error:
        raise InvalidInput(refusal(error)) from None
    except UnicodeEncodeError:
        raise InvalidInput("the arguments must be valid UTF-8 text") from None
    _check_source_filter(request.constraints)
    return request


def _check_source_filter(constraints: ResearchConstraints | None) -> None:
    """Refuse a filter with an entry that cannot match. Not in the model, because stored requests must stay readable."""
    given = ((constraints.source_filter if constraints else None) or "").strip()
    entries = [entry for each in given.split(",") if (entry := each.strip())]
    # A filter of commas only has no entry, but would admit everything.
    wrong = next((entry for entry in entries or [given] if entry and not is_domain(entry)), None)
    if wrong is not None:
        raise InvalidInput(
            f"constraints.source_filter: {_shorten(wrong)} is not a domain; "
            "separate domains or suffixes by commas, such as .gov,example.org"
        )


def refusal(error: ValidationError) -> str:
    """Format all validation errors on one line: `depth must be 'shallow', 'balanced' or 'deep', not 'x'`."""
    complaints = [_complaint(error.title, detail) for detail in error.errors(include_url=False)]
    more = len(complaints) - MOST_COMPLAINTS
    return "; ".join(complaints[:MOST_COMPLAINTS]) + (f"; and {more} more" if more > 0 else "")


def _complaint(model: str, detail: ErrorDetails) -> str:
    within = model == ResearchConstraints.__name__ or "constraints" in detail["loc"][:-1]
    facts = {
        **detail.get("ctx", {}),
        "msg": _shorten_text(detail["msg"]),
        "name": _shorten_text(".".join(str(part) for part in detail["loc"])) or "the arguments",
        "given": _shorten(detail["input"]),
        "length": len(str(detail["input"]).strip()),
        "allowed": ", ".join((ResearchConstraints if within else ResearchRequest).model_fields),
    }
    return _SAYINGS.get(detail["type"], "{name}: {msg}").format_map(facts)


def _shorten(value: object) -> str:
    """Return the value shortened and in plain ASCII, because it is untrusted."""
    shown = ascii(value[: LONGEST_QUOTE + 1] if isinstance(value, str) else value)
    return shown if len(shown) <= LONGEST_QUOTE else shown[:LONGEST_QUOTE] + "..."


def _shorten_text(text: str) -> str:
    return _shorten(text)[1:].rstrip("'\"")
