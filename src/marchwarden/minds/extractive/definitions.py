"""Whether a sentence says what something is: `X is a ...`, `X (in many words)`, `in many words (X)`."""

import re
from itertools import islice
from typing import Final

from marchwarden.ranking.terms import STOP_WORDS, words

OPENING: Final = 5

_SAYS: Final = r"(?:is|are|was|were|means?|refers? to|describes?|denotes?|stands for|defined as|consists? of|called)"
_ASIDE: Final = r"(?: ?[(\[][^)\]]*[)\]])?,?"
_IS_SOMETHING: Final = re.compile(rf"\b{_SAYS}\b")
_ASKED: Final = re.compile(
    r"^\W*(?:what (?:is|are|was|were|does|do)|define) (?:the (?:meaning|definition) of )?(?:an? |the )?"
    r"(.+?)(?: mean| stand for)?\W*$"
)


def defines(asked: str, said: str) -> float:
    """1 for a definition of what is asked for, up to a half for what looks like one; both texts in small letters."""
    question = _ASKED.match(asked)
    if question is not None and _is_defined(question[1], said):
        return 1.0
    opens_with_it = not (frozenset(words(asked)) - STOP_WORDS).isdisjoint(islice(words(said), OPENING))
    return (opens_with_it + (_IS_SOMETHING.search(said) is not None)) / 4


def _is_defined(subject: str, said: str) -> bool:
    it = r"\W+".join(re.escape(word) for word in re.findall(r"\w+", subject)) + "s?"
    return re.search(rf"\b{it}\b{_ASIDE} {_SAYS}\b|\w \({it}\)|\b{it} \([a-z]", said) is not None
