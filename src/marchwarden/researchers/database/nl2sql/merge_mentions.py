"""Nouns and the values told of them, like `country is Brazil` and `the state of Texas`, made one mention."""

from collections.abc import Sequence
from typing import Final

from marchwarden.researchers.database.nl2sql.meanings import Meaning, Meanings
from marchwarden.researchers.database.nl2sql.mentions import Mention, Noun, Other, Told, Value, is_plural

_EQUAL: Final = frozenset({"is", "are", "was", "were", "named", "called", "=", "with", "'"})
_OF: Final = frozenset({"of", "the"})
_FURTHEST: Final = 3
_AS_GOOD: Final = 0.04


def merged(found: Sequence[Mention], meanings: Meanings) -> tuple[Mention, ...]:
    result, at = list[Mention](), 0
    while at < len(found):
        mention = found[at]
        if isinstance(mention, Noun) and (value := _told_after(mention, found[at + 1 : at + 1 + _FURTHEST], meanings)):
            result.append(value)
            at = found.index(next(each for each in found[at:] if isinstance(each, Value)), at)
        else:
            result.append(mention)
        at += 1
    return tuple(result)


def _told_after(noun: Noun, after: Sequence[Mention], meanings: Meanings) -> Value | None:
    """`capital Salem`, `country is Brazil`, `the state of Texas`."""
    links: list[str] = []
    for mention in after:
        if isinstance(mention, Value):
            places = meanings.places(noun.meanings)
            kept = tuple(each for each in mention.meanings if each.place in places)
            named = kept and (not _OF & set(links) or _is_name_of(noun, kept, mention))
            return Value(mention.text, kept, noun) if named else None
        links.append(mention.text)
        if not isinstance(mention, Other | Told) or mention.text not in _EQUAL | _OF:
            break
    return None


def _is_name_of(noun: Noun, kept: tuple[Meaning, ...], value: Value) -> bool:
    """`The city of Washington` names a city; `the capital of Washington` names no capital, for it is rather a state."""
    return not is_plural(noun.text) and kept[0].fit >= value.meanings[0].fit - _AS_GOOD
