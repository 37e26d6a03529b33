"""Recognize secrets in text from outside: the user's own keys, and credentials in web addresses."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Self
from urllib.parse import unquote, unquote_plus, urlsplit

from marchwarden.text.sanitize import visible

SHORTEST_KEY: Final = 8
"""Characters. Shorter values occur in ordinary text, and no service issues them."""
_KEY_NAME: Final = re.compile(r"\w*(?:API_KEY|ACCESS_KEY|TOKEN|PASSWORD|SECRET)")
_DECODINGS: Final = 2

_CREDENTIAL: Final = re.compile(
    r"(?:api|access|auth|private|secret|subscription)[-_]?(?:key|token)|client[-_]?secret|secret|password|passwd|pwd|"
    r"jwt|x-(?:amz|goog)-(?:signature|credential|security-token)",
    re.IGNORECASE,
)
"""Names of parameters that hold credentials."""
_PERHAPS_CREDENTIAL: Final = re.compile(r"key|token|sig|signature|auth", re.IGNORECASE)
"""Names of parameters that hold credentials or something else, depending on their value."""
_RANDOM: Final = re.compile(
    r"(?=[^0-9]*[0-9])(?=[^a-z]*[a-z])(?:.*[a-z0-9]{16}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})",
    re.IGNORECASE | re.ASCII | re.DOTALL,
)
"""A value with letters and digits that is too long for a word: a hash, a signature, a UUID."""


@dataclass(frozen=True)
class ConfiguredKeys:
    """The user's keys, in lower case. No text from outside may contain one: its sender would have misused it."""

    values: frozenset[str] = field(default=frozenset(), repr=False)

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        values = (value.strip().casefold() for name, value in environ.items() if _KEY_NAME.fullmatch(name))
        return cls(frozenset(value for value in values if len(value) >= SHORTEST_KEY))

    def found_in(self, *texts: str) -> bool:
        """Whether a text contains one of the keys, also percent-encoded or with invisible characters."""
        return bool(self.values) and any(
            key in each for text in texts for each in _spellings(text) for key in self.values
        )


def _spellings(text: str) -> Iterable[str]:
    text = visible(text).casefold()
    yield text
    for _ in range(_DECODINGS):
        if "%" not in text:
            return
        text = unquote(text).casefold()
        yield text


def has_credentials(address: str) -> bool:
    """Whether a web address contains credentials: a user name, or a parameter with a key, token or signature."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return "@" in parts.netloc or has_secret_parameter(parts.query)


def has_secret_parameter(query: str) -> bool:
    """Whether the query of a web address contains a key, token or signature, also inside another address."""
    return any(_is_credential(each) for text in (query, unquote(query)) for each in re.split("[&;?]", text))


def _is_credential(parameter: str) -> bool:
    name, _, value = (unquote_plus(part).strip() for part in parameter.partition("="))
    if _CREDENTIAL.fullmatch(name):
        return bool(value)
    return _PERHAPS_CREDENTIAL.fullmatch(name) is not None and _RANDOM.match(value) is not None
