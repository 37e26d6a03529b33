"""Words as ranking sees them: folded, stemmed, the empty ones left out. Knows English and nothing of questions."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final

import Stemmer

MOST_REMEMBERED: Final = 100_000

_EMPTY: Final = """
    a about above after again all also am an and any are aren't as at be because been before being below between both
    but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each either else ever few
    for from further get gets give given go goes got had hadn't has hasn't have haven't having he her here hers herself
    him himself his how however i i'm if in into is isn't it it's its itself just let's like may me might more most must
    my myself neither nor now of off on once only or other ought our ours ourselves out over own per please same shall
    she should shouldn't so some such tell than that that's the their theirs them themselves then there there's these
    they they're this those through to too under until up upon us very was wasn't we were weren't what what's whatever
    when when's where where's whether which while who who's whom whose why will with within without won't would wouldn't
    yet you your yours yourself
"""
STOP_WORDS: Final = frozenset(_EMPTY.split())
NAMED: Final = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-ZÀ-ÖØ-Þ][\w'’-]+")
"""A word written with a capital; not the one that opens a sentence."""

_IRREGULAR: Final = """
    ran:run won:win wrote:write written:write began:begin begun:begin chose:choose chosen:choose drove:drive fell:fall
    fallen:fall flew:fly fought:fight grew:grow grown:grow held:hold kept:keep knew:know led:lead lost:lose made:make
    met:meet paid:pay rose:rise risen:rise said:say sang:sing sung:sing saw:see seen:see sent:send sold:sell spent:spend
    spoke:speak spoken:speak stood:stand taught:teach thought:think threw:throw thrown:throw told:tell took:take
    taken:take went:go wore:wear bought:buy brought:bring built:build caught:catch came:come died:die dying:die
    ate:eat eaten:eat children:child men:man women:woman feet:foot people:person
"""
_REGULAR: Final = dict(pair.split(":") for pair in _IRREGULAR.split())
_WORD: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)+|[^\W_]+(?:['’][^\W_]+)*")
"""Commas part thousands; any other comma parts two numbers, as in `1998,1999`."""


def words(text: str) -> Iterator[str]:
    """The words of a text in order: small letters, no accents, `1,200` as `1200`, `ran` as `run`, no possessive."""
    for match in _WORD.finditer(folded(text)):
        yield _plain(match[0])


def folded(text: str) -> str:
    """Small letters without accents; as many words as before, though seldom as many characters."""
    text = text.casefold()
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character)).replace("’", "'")


def _plain(word: str) -> str:
    if word[0].isdigit():
        return word.replace(",", "")
    word = word.removesuffix("'s")
    return _REGULAR.get(word, word)


class WordStemmer:
    """Turns text into the stems of its content words. Remembers those it has met; belongs to one thread."""

    def __init__(self) -> None:
        self._stemmer = Stemmer.Stemmer("english")
        self._met = _Met(self._stem)

    def of(self, text: str) -> tuple[str, ...]:
        """The stems in their order, repeated where the text repeats itself."""
        met = self._met
        return tuple([stem for written in _WORD.findall(folded(text)) if (stem := met[written])])

    def of_names(self, text: str) -> tuple[str, ...]:
        """Of the words written with a capital alone."""
        return self.of(" ".join(NAMED.findall(text)))

    def of_everything(self, text: str) -> tuple[str, ...]:
        """The same with the empty words kept: for a text that consists of nothing else."""
        return tuple(self._stemmer.stemWords(list(words(text))))

    def _stem(self, written: str) -> str:
        word = _plain(written)
        return "" if word in STOP_WORDS else str(self._stemmer.stemWord(word))


class _Met(dict[str, str]):
    """Words as written to their stems, an empty one for an empty word. Bounded, because texts are not."""

    def __init__(self, stem: Callable[[str], str]) -> None:
        super().__init__()
        self._stem = stem

    def __missing__(self, written: str) -> str:
        stem = self._stem(written)
        if len(self) < MOST_REMEMBERED:
            self[written] = stem
        return stem
