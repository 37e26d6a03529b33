"""Whether a sentence says what something is: `X is a ...`, `X (in words)`, `in words (X)`, `An **X** does ...`."""

import re
from functools import lru_cache
from itertools import islice
from typing import Final

from marchwarden.text.words import STOP_WORDS, words

OPENING: Final = 5

_SAYS: Final = r"(?:is|are|was|were|means?|refers? to|describes?|denotes?|stands for|defined as|consists? of|called)"
_ASIDE: Final = r"(?: ?[(\[][^)\]]*[)\]])?,?"
_IS_SOMETHING: Final = re.compile(rf"\b{_SAYS}\b")
_ASKED: Final = re.compile(
    r"^\W*(?:what (?:is|are|was|were|does|do)|define) (?:the (?:meaning|definition) of )?(?:an? |the )?"
    r"(?:(?:acronym|abbreviation|term|word|phrase) )?"
    r"(.+?)(?: mean| stand for)?\W*$"
)


def defines(asked: str, said: str) -> float:
    """1 for a definition of what is asked for, up to a half for what looks like one; both texts in small letters."""
    definition = _definition(asked)
    if definition is not None and definition.search(said):
        return 1.0
    opens_with_it = not (frozenset(words(asked)) - STOP_WORDS).isdisjoint(islice(words(said), OPENING))
    return (opens_with_it + (_IS_SOMETHING.search(said) is not None)) / 4


@lru_cache(maxsize=64)
def _definition(asked: str) -> re.Pattern[str] | None:
    """How a definition of what is asked for is written; the same for all sentences held against one question."""
    question = _ASKED.match(asked)
    if question is None:
        return None
    it = r"\W+".join(re.findall(r"\w+", question[1])) + "s?"
    introduced = rf"^(?:[-*] )?(?:an? |the )?\*\*{it}\*\*"
    return re.compile(rf"\b{it}\b{_ASIDE} {_SAYS}\b|\w \({it}\)|\b{it} \([a-z]|{introduced}")
