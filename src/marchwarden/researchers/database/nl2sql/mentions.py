"""Find what a question mentions: cues, nouns of the schema, values, numbers, dates, and the words in between."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from marchwarden.researchers.database.nl2sql.lexicon import Cue, CueKind, load_lexicon
from marchwarden.researchers.database.nl2sql.meanings import MAX_PHRASE_WORDS, MeaningIndex, SchemaMeaning
from marchwarden.researchers.database.nl2sql.thesaurus import load_thesaurus
from marchwarden.researchers.database.nl2sql.tokens import DateSpan, Word, parse_date_at, parse_number_at
from marchwarden.text.words import STOP_WORDS

_VERB_ENDINGS: Final = ("ed", "ing")
_SHORT: Final = 2
_MAX_SHORT_WORD: Final = 3
_EQUAL: Final = frozenset({"is", "are", "was", "were", "named", "called", "=", "with", "'"})
_OF: Final = frozenset({"of", "the"})
_MAX_DISTANCE: Final = 3
_FIT_TOLERANCE: Final = 0.04


@dataclass(frozen=True)
class CueMention:
    text: str
    cue: Cue


@dataclass(frozen=True)
class Noun:
    """Words that name tables or columns."""

    text: str
    meanings: tuple[SchemaMeaning, ...]


@dataclass(frozen=True)
class Value:
    """Words that occur in the data. `noun` is what the question calls them: "country" in `country is Brazil`."""

    text: str
    meanings: tuple[SchemaMeaning, ...]
    noun: Noun | None = None


@dataclass(frozen=True)
class Number:
    text: str
    number: float


@dataclass(frozen=True)
class DateMention:
    text: str
    span: DateSpan


@dataclass(frozen=True)
class OtherWord:
    """A word that mentions nothing. `known` if it only connects others; `uncertain` if that is a guess."""

    text: str
    known: bool
    uncertain: bool = False


Mention = CueMention | Noun | Value | Number | DateMention | OtherWord


@dataclass(frozen=True)
class _Candidate:
    start: int
    end: int
    rank: float
    mention: Mention


def find_mentions(words: Sequence[Word], meanings: MeaningIndex) -> tuple[Mention, ...]:
    """Return the longest mentions that do not overlap, in order. Every word is part of one."""
    chosen: dict[int, _Candidate] = {}
    found = sorted(_candidates(words, meanings), key=lambda each: (-each.rank, each.start))
    for each in found:
        if not any(at in chosen for at in range(each.start, each.end)):
            chosen.update(dict.fromkeys(range(each.start, each.end), each))
    return tuple(_in_order(words, chosen))


def _in_order(words: Sequence[Word], chosen: dict[int, _Candidate]) -> Iterator[Mention]:
    for at, word in enumerate(words):
        if marks := word.before.strip():
            yield OtherWord(marks, known=True)
        each = chosen.get(at)
        if each is None:
            yield _other(word)
        elif each.start == at:
            yield each.mention


def _other(word: Word) -> OtherWord:
    connecting = load_thesaurus().connecting
    connects = word.plain in connecting or word.stem in connecting
    verb = word.plain.endswith(_VERB_ENDINGS) and not word.text[0].isupper()
    return OtherWord(word.plain, known=not word.quoted and (connects or verb), uncertain=verb and not connects)


def _candidates(words: Sequence[Word], meanings: MeaningIndex) -> Iterator[_Candidate]:
    for start in range(len(words)):
        if (number := parse_number_at(words, start)) is not None:
            text = " ".join(word.text for word in words[start : start + number[1]])
            yield _Candidate(start, start + number[1], number[1] + 0.5, Number(text, number[0]))
        if (span := parse_date_at(words, start)) is not None:
            text = " ".join(word.text for word in words[start : start + span[1]])
            yield _Candidate(start, start + span[1], span[1] + 0.6, DateMention(text, span[0]))
        for end in range(start + 1, min(start + MAX_PHRASE_WORDS, len(words)) + 1):
            if any(word.before.strip(" -/&'’.") for word in words[start + 1 : end]):
                break
            yield from _candidates_for(words[start:end], start, end, meanings)


def _candidates_for(words: Sequence[Word], start: int, end: int, meanings: MeaningIndex) -> Iterator[_Candidate]:
    plain, text = tuple(word.plain for word in words), " ".join(word.text for word in words)
    length, lexicon = end - start, load_lexicon()
    if start == 0 and plain == ("name",):
        yield _Candidate(start, end, length + 1, CueMention(text, Cue(CueKind.COMMAND)))
    if length <= lexicon.longest_cue and plain in lexicon.cues:
        yield _Candidate(start, end, length + 0.6, CueMention(text, lexicon.cues[plain]))
    if all(_is_stop_word(word) for word in words):
        return
    if any(word.quoted for word in words):
        if length == 1:
            yield _Candidate(start, end, MAX_PHRASE_WORDS + 1, Value(text, _quoted_values(words[0], meanings)))
        return
    if nouns := _nouns(words, meanings):
        yield _Candidate(start, end, length + 0.3 * nouns[0].fit + 0.2, Noun(text, nouns))
    if values := _values(words, meanings):
        yield _Candidate(start, end, length + 0.1 * values[0].fit + 0.2, Value(text, values))
    elif not nouns and (values := _guess_values(words, start, meanings)):
        rank = length * 0.01 if values[0].unseen else length - 0.6
        yield _Candidate(start, end, rank, Value(text, values))


def _guess_values(words: Sequence[Word], start: int, meanings: MeaningIndex) -> tuple[SchemaMeaning, ...]:
    """Values that contain these words, or columns whose values are not all known if the words look like a name."""
    connecting = load_thesaurus().connecting
    if not any(len(word.plain) > _MAX_SHORT_WORD and word.plain not in connecting for word in words):
        return ()
    if values := meanings.find_partial_values(tuple(word.plain for word in words)):
        return values
    looks_like_name = start > 0 and all(word.text[0].isupper() for word in words)
    return meanings.guess_names(" ".join(word.text for word in words)) if looks_like_name else ()


def _is_stop_word(word: Word) -> bool:
    """A stop word, unless it is written like an abbreviation: `OR` is a state, `or` is not."""
    return word.plain in STOP_WORDS and not (word.text.isupper() and len(word.text) == _SHORT)


def _nouns(words: Sequence[Word], meanings: MeaningIndex) -> tuple[SchemaMeaning, ...]:
    key = tuple(word.stem for word in words)
    if words[0].plain in STOP_WORDS or words[-1].plain in STOP_WORDS:
        return ()
    if len(key) > _SHORT and key[1] == "of":
        key = (key[0], *key[2:])
    return meanings.find_nouns(key)


def _values(words: Sequence[Word], meanings: MeaningIndex) -> tuple[SchemaMeaning, ...]:
    """Values with this name. The last word may say what the value is: `Mississippi river`."""
    plain = tuple(word.plain for word in words)
    found = meanings.find_values(plain) or meanings.find_values(tuple(word.stem for word in words))
    if len(words) > 1 and not is_plural(plain[-1]) and (nouns := _nouns(words[-1:], meanings)):
        column_refs = meanings.column_refs(nouns)
        found = (*(each for each in meanings.find_values(plain[:-1]) if each.column_ref in column_refs), *found)
    return found


def is_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _quoted_values(word: Word, meanings: MeaningIndex) -> tuple[SchemaMeaning, ...]:
    key = tuple(word.plain.split())
    return (
        meanings.find_values(key) or meanings.find_partial_values(key) or meanings.guess_names(word.text) if key else ()
    )


def is_cue(mention: Mention, *kinds: CueKind) -> bool:
    return isinstance(mention, CueMention) and mention.cue.kind in kinds


def merge_values(found: Sequence[Mention], meanings: MeaningIndex) -> tuple[Mention, ...]:
    """Merge a noun and its value, as in `country is Brazil` and `the state of Texas`, into one mention."""
    result, at = list[Mention](), 0
    while at < len(found):
        mention = found[at]
        if isinstance(mention, Noun) and (
            value := _value_after(mention, found[at + 1 : at + 1 + _MAX_DISTANCE], meanings)
        ):
            result.append(value)
            at = found.index(next(each for each in found[at:] if isinstance(each, Value)), at)
        else:
            result.append(mention)
        at += 1
    return tuple(result)


def _value_after(noun: Noun, after: Sequence[Mention], meanings: MeaningIndex) -> Value | None:
    """Find the value of a noun: `capital Salem`, `country is Brazil`, `the state of Texas`."""
    links: list[str] = []
    for mention in after:
        if isinstance(mention, Value):
            column_refs = meanings.column_refs(noun.meanings)
            matching = tuple(each for each in mention.meanings if each.column_ref in column_refs)
            is_named = matching and (not _OF & set(links) or _is_name_of(noun, matching, mention))
            return Value(mention.text, matching, noun) if is_named else None
        links.append(mention.text)
        if not isinstance(mention, OtherWord | CueMention) or mention.text not in _EQUAL | _OF:
            break
    return None


def _is_name_of(noun: Noun, matching: tuple[SchemaMeaning, ...], value: Value) -> bool:
    """`the city of Washington` names a city. `the capital of Washington` names a state and asks for its capital."""
    return not is_plural(noun.text) and matching[0].fit >= value.meanings[0].fit - _FIT_TOLERANCE
