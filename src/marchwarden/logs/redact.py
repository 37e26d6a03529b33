"""Secrets: what must never be shown, known from an environment or by its looks, and taken out of any text."""

import json
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, quote_plus

HIDDEN: Final = "[hidden]"
_OURS: Final = re.compile(r"[A-Z]+_API_KEY|PGPASSWORD")
_SOUNDS_SECRET: Final = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)
_SHORTEST_GUESS: Final = 6
_PASSWORD_IN_URL: Final = re.compile(r"(?<=://)([^/\s:@]*):([^/\s@]+)@")
_SHOWN_AS_SECRET: Final = re.compile(
    r"(?i:(?<=bearer )|(?<=x-api-key: )|(?<=api_key=))[^\s\"'&,]+"
    r"|\b(?:sk|tvly|xox[bp]|gh[pousr])[-_][\w-]{12,}|\bAIza[\w-]{20,}"
)


class Secrets:
    """The values of variables that hold or sound like secrets, however a URL or JSON would write them."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        values = {value.strip() for name, value in environ.items() if _is_secret(name, value.strip())}
        values |= {match[2] for value in environ.values() for match in _PASSWORD_IN_URL.finditer(value)}
        forms = {form for value in values for form in (value, quote(value, safe=""), quote(value), quote_plus(value))}
        forms |= {json.dumps(form, ensure_ascii=ascii_)[1:-1] for form in forms for ascii_ in (True, False)}
        # The longest first, so that no end of one is left standing behind a shorter one.
        self._known = [*map(re.escape, sorted(forms, key=len, reverse=True))]
        self._pattern = re.compile("|".join(self._known)) if self._known else None

    def hidden(self, text: str) -> str:
        """The text without them, and without what looks like somebody's key."""
        if self._pattern:
            text = self._pattern.sub(HIDDEN, text)
        return _SHOWN_AS_SECRET.sub(HIDDEN, _PASSWORD_IN_URL.sub(rf"\1:{HIDDEN}@", text))


def _is_secret(name: str, value: str) -> bool:
    """A short value of a variable that only sounds secret is more likely a setting, and would blot out the log."""
    if not value:
        return False
    return bool(_OURS.fullmatch(name) or (_SOUNDS_SECRET.search(name) and len(value) >= _SHORTEST_GUESS))
