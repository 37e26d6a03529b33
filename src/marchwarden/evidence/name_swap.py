"""The one name in whose place two sentences differ. Knows no documents."""

from difflib import SequenceMatcher
from typing import Final

from marchwarden.text.words import STOP_WORDS

LONGEST_NAME: Final = 5
SAME_NAME: Final = 0.7

_ENUMERATES: Final = frozenset({"and", "or", "including"})
_LINKS: Final = frozenset({"of", "the", "de", "la", "van", "von"})


def swapped_names(ours: list[str], theirs: list[str]) -> tuple[str, ...]:
    """The two names in whose place alone the sentences differ, empty words aside; nothing when there is more."""
    swaps: list[tuple[str, str]] = []
    one, other = ([word.casefold() for word in said] for said in (ours, theirs))
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    for change, start, end, other_start, other_end in matcher.get_opcodes():
        if change == "equal" or (change != "replace" and not (start and other_start)):
            continue  # a heading may have run into one of them
        mine, yours = _described(ours[start:end]), _described(theirs[other_start:other_end])
        if all(word.casefold() in STOP_WORDS for word in (*mine, *yours)):
            continue
        if not start or not other_start or not (_is_name(mine) and _is_name(yours)):
            return ()
        if ours[start - 1][0].isupper() or _ENUMERATES.intersection(one[start - 1 : start] + one[end : end + 1]):
            return ()
        swaps.append((" ".join(mine), " ".join(yours)))
    return swaps[0] if len(swaps) == 1 and not _spelled_otherwise(*swaps[0]) else ()


def _described(said: list[str]) -> list[str]:
    """A name without the one word that says what its bearer is: `widow Agnes Pohl`."""
    return said[1:] if len(said) > 1 and said[0].islower() and said[1][0].isupper() else said


def _spelled_otherwise(one: str, other: str) -> bool:
    return SequenceMatcher(None, one.casefold(), other.casefold(), autojunk=False).ratio() >= SAME_NAME


def _is_name(said: list[str]) -> bool:
    own = [word for word in said if word.casefold() not in _LINKS]
    return 0 < len(own) <= LONGEST_NAME and all(word[0].isupper() for word in own)
