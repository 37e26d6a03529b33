"""What a model wrote in its own words, before it goes anywhere: one line, bounded, no address, no order, no echo.

An echo is a run of words out of our own prompts. Knows no notebook and no provider.
"""

import re
from collections.abc import Iterator
from typing import Final

from marchwarden.minds.llm.fencing import ADDRESS
from marchwarden.text.injection import is_injection
from marchwarden.text.sanitize import one_line

LONGEST_SENTENCE: Final = 400
ECHO_WORDS: Final = 7
_WORD: Final = re.compile(r"\w+")


class Wording:
    """Knows what we told the model, so that nothing of it comes back as research."""

    def __init__(self, *prompts: str) -> None:
        self._ours = frozenset(run for prompt in prompts for run in _runs(prompt))

    def plain(self, text: str, longest: int = LONGEST_SENTENCE) -> str:
        """The text as it may be used, or nothing."""
        line = one_line(ADDRESS.sub("", one_line(text, 2 * longest)), longest).strip()
        return "" if is_injection(line) or self._echoes(line) else line

    def _echoes(self, text: str) -> bool:
        return any(run in self._ours for run in _runs(text))


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return zip(*(words[at:] for at in range(ECHO_WORDS)), strict=False)
