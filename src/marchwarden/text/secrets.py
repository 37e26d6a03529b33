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
    r"(?:(?:api|access|app|auth|private|secret|subscription|refresh|bearer|session|security|user|id|sas)"
    r"(?:key(?:id)?|token)|secret|password|passwd|pwd|passphrase|jwt|bearer|authorization|credentials?|hmac"
    r"|x(?:amz|goog)signature)\Z"
)
"""How names of parameters that hold credentials end, without punctuation."""
_PROBABLE: Final = frozenset({"token", "sig", "signature", "auth"})
_POSSIBLE: Final = frozenset({"key", "code", "sid", "jsessionid", "phpsessid", "sessionid"})
"""Last words of names of parameters that hold credentials or something else, depending on their value."""
_SHORTEST_CREDENTIAL: Final = 6
_PUNCTUATION: Final = re.compile(r"[\W_]+")
_RANDOM: Final = re.compile(
    r"(?=[^0-9]*[0-9])(?=[^a-z]*[a-z])(?:.*[a-z0-9]{16}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|(?=.*(?-i:[A-Z]))[a-z0-9]{8})",
    re.IGNORECASE | re.ASCII | re.DOTALL,
)
"""A value with letters and digits that is no word: a hash, a signature, a UUID, or a code with capital letters."""
_ISSUED: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|pk|rk)[-_](?:live|test|proj|ant|or|svcacct)[-_][\w-]{8}|sk-[A-Za-z0-9]{20}|tvly-[\w-]{8}"
    r"|AIza[\w-]{20}|(?:AKIA|ASIA)[A-Z0-9]{16}|gh[opsu]_[A-Za-z0-9]{20}|github_pat_\w{20}|glpat-[\w-]{16}"
    r"|xox[abprs]-[\w-]{10}|hf_[A-Za-z0-9]{20}|ya29\.[\w-]{16}|eyJ[\w-]{8,1000}\.eyJ[\w-]{8,1000}\.)"
)
"""Keys and tokens that well-known services issue. They are recognized anywhere in an address."""


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
    """Whether a web address contains credentials: a user name, a known kind of key, or a parameter with a secret."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    parameters = f"{parts.query}&{parts.fragment}&{parts.path.partition(';')[2]}"
    return "@" in parts.netloc or bool(_ISSUED.search(unquote(address))) or has_secret_parameter(parameters)


def has_secret_parameter(query: str) -> bool:
    """Whether the query of a web address contains a key, token or signature, also inside another address."""
    return any(_is_credential(each) for text in (query, unquote(query)) for each in re.split("[&;?#]", text))


def _is_credential(parameter: str) -> bool:
    name, _, value = (unquote_plus(part).strip() for part in parameter.partition("="))
    words = _PUNCTUATION.split(name.casefold())
    if _CREDENTIAL.search("".join(words)):
        return bool(value)
    if words[-1] in _PROBABLE:
        return len(value) >= _SHORTEST_CREDENTIAL
    return words[-1] in _POSSIBLE and _RANDOM.match(value) is not None
