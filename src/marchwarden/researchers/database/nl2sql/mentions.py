"""A question cut into what it mentions: cues, nouns of the schema, values, numbers, dates, and the words in between."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from marchwarden.researchers.database.nl2sql.lexicon import CUES, LONGEST_CUE, Cue, Sign
from marchwarden.researchers.database.nl2sql.meanings import LONGEST, Meaning, Meanings
from marchwarden.researchers.database.nl2sql.thesaurus import LIGHT
from marchwarden.researchers.database.nl2sql.tokens import Span, Word, number_at, span_at
from marchwarden.text.words import STOP_WORDS

_RELATIONAL: Final = ("ed", "ing")
_SHORT: Final = 2
_FEW_LETTERS: Final = 3
_EQUAL: Final = frozenset({"is", "are", "was", "were", "named", "called", "=", "with", "'"})
_OF: Final = frozenset({"of", "the"})
_FURTHEST: Final = 3
_AS_GOOD: Final = 0.04


@dataclass(frozen=True)
class Told:
    """A cue."""

    text: str
    cue: Cue


@dataclass(frozen=True)
class Noun:
    """Words that name tables or columns."""

    text: str
    meanings: tuple[Meaning, ...]


@dataclass(frozen=True)
class Value:
    """Words that stand in the data. `noun` is what the question calls the thing of that name."""

    text: str
    meanings: tuple[Meaning, ...]
    noun: Noun | None = None


@dataclass(frozen=True)
class Number:
    text: str
    number: float


@dataclass(frozen=True)
class Dated:
    text: str
    span: Span


@dataclass(frozen=True)
class Other:
    """A word that mentions nothing. `known` where that is no loss: it merely joins others, or `perhaps` does."""

    text: str
    known: bool
    perhaps: bool = False


Mention = Told | Noun | Value | Number | Dated | Other


@dataclass(frozen=True)
class _Found:
    start: int
    end: int
    rank: float
    mention: Mention


def mentions(words: Sequence[Word], meanings: Meanings) -> tuple[Mention, ...]:
    """The longest mentions that do not overlap, in their order, every word accounted for."""
    taken: dict[int, _Found] = {}
    found = sorted(_found(words, meanings), key=lambda each: (-each.rank, each.start))
    for each in found:
        if not any(at in taken for at in range(each.start, each.end)):
            taken.update(dict.fromkeys(range(each.start, each.end), each))
    return tuple(_in_order(words, taken))


def _in_order(words: Sequence[Word], taken: dict[int, _Found]) -> Iterator[Mention]:
    for at, word in enumerate(words):
        if marks := word.before.strip():
            yield Other(marks, known=True)
        each = taken.get(at)
        if each is None:
            yield _other(word)
        elif each.start == at:
            yield each.mention


def _other(word: Word) -> Other:
    joins = word.plain in LIGHT or word.stem in LIGHT
    relational = word.plain.endswith(_RELATIONAL) and not word.text[0].isupper()
    return Other(word.plain, known=not word.quoted and (joins or relational), perhaps=relational and not joins)


def _found(words: Sequence[Word], meanings: Meanings) -> Iterator[_Found]:
    for start in range(len(words)):
        if (number := number_at(words, start)) is not None:
            text = " ".join(word.text for word in words[start : start + number[1]])
            yield _Found(start, start + number[1], number[1] + 0.5, Number(text, number[0]))
        if (span := span_at(words, start)) is not None:
            text = " ".join(word.text for word in words[start : start + span[1]])
            yield _Found(start, start + span[1], span[1] + 0.6, Dated(text, span[0]))
        for end in range(start + 1, min(start + LONGEST, len(words)) + 1):
            if any(word.before.strip(" -/&'’.") for word in words[start + 1 : end]):
                break
            yield from _named(words[start:end], start, end, meanings)


def _named(words: Sequence[Word], start: int, end: int, meanings: Meanings) -> Iterator[_Found]:
    plain, text = tuple(word.plain for word in words), " ".join(word.text for word in words)
    length = end - start
    if start == 0 and plain == ("name",):
        yield _Found(start, end, length + 1, Told(text, Cue(Sign.COMMAND)))
    if length <= LONGEST_CUE and plain in CUES:
        yield _Found(start, end, length + 0.6, Told(text, CUES[plain]))
    if all(_says_nothing(word) for word in words):
        return
    if any(word.quoted for word in words):
        if length == 1:
            yield _Found(start, end, LONGEST + 1, Value(text, _quoted(words[0], meanings)))
        return
    if nouns := _nouns(words, meanings):
        yield _Found(start, end, length + 0.3 * nouns[0].fit + 0.2, Noun(text, nouns))
    if values := _values(words, meanings):
        yield _Found(start, end, length + 0.1 * values[0].fit + 0.2, Value(text, values))
    elif not nouns and (values := _guessed(words, start, meanings)):
        rank = length * 0.01 if values[0].unseen else length - 0.6
        yield _Found(start, end, rank, Value(text, values))


def _guessed(words: Sequence[Word], start: int, meanings: Meanings) -> tuple[Meaning, ...]:
    """Words that are a part of values, or that are written like a name where nobody has seen all names."""
    if not any(len(word.plain) > _FEW_LETTERS and word.plain not in LIGHT for word in words):
        return ()
    if values := meanings.partial(tuple(word.plain for word in words)):
        return values
    named = start > 0 and all(word.text[0].isupper() for word in words)
    return meanings.unseen(" ".join(word.text for word in words)) if named else ()


def _says_nothing(word: Word) -> bool:
    """Empty words name nothing, unless written like an abbreviation: `OR` is a state, `or` is not."""
    return word.plain in STOP_WORDS and not (word.text.isupper() and len(word.text) == _SHORT)


def _nouns(words: Sequence[Word], meanings: Meanings) -> tuple[Meaning, ...]:
    key = tuple(word.stem for word in words)
    if words[0].plain in STOP_WORDS or words[-1].plain in STOP_WORDS:
        return ()
    if len(key) > _SHORT and key[1] == "of":
        key = (key[0], *key[2:])
    return meanings.nouns(key)


def _values(words: Sequence[Word], meanings: Meanings) -> tuple[Meaning, ...]:
    """What is called by these words, or by all but the last of them where that says what it is: `Mississippi river`."""
    plain = tuple(word.plain for word in words)
    found = meanings.values(plain) or meanings.values(tuple(word.stem for word in words))
    if len(words) > 1 and not is_plural(plain[-1]) and (nouns := _nouns(words[-1:], meanings)):
        places = meanings.places(nouns)
        found = (*(each for each in meanings.values(plain[:-1]) if each.place in places), *found)
    return found


def is_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _quoted(word: Word, meanings: Meanings) -> tuple[Meaning, ...]:
    key = tuple(word.plain.split())
    return meanings.values(key) or meanings.partial(key) or meanings.unseen(word.text) if key else ()


def is_cue(mention: Mention, *signs: Sign) -> bool:
    return isinstance(mention, Told) and mention.cue.sign in signs


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
