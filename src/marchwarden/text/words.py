"""Split English text into words and stems for ranking: case-folded, without accents and stop words."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final

import Stemmer

MAX_CACHED_STEMS: Final = 100_000

_STOP_WORDS: Final = """
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
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
CAPITALIZED: Final = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-ZÀ-ÖØ-Þ][\w'’-]+")
"""A capitalized word, except at the start of a sentence."""

_IRREGULAR: Final = """
    ran:run won:win wrote:write written:write began:begin begun:begin chose:choose chosen:choose drove:drive fell:fall
    fallen:fall flew:fly fought:fight grew:grow grown:grow held:hold kept:keep knew:know led:lead lost:lose made:make
    met:meet paid:pay rose:rise risen:rise said:say sang:sing sung:sing saw:see seen:see sent:send sold:sell spent:spend
    spoke:speak spoken:speak stood:stand taught:teach thought:think threw:throw thrown:throw told:tell took:take
    taken:take went:go wore:wear bought:buy brought:bring built:build caught:catch came:come died:die dying:die
    ate:eat eaten:eat children:child men:man women:woman feet:foot people:person
"""
_BASE_FORMS: Final = dict(pair.split(":") for pair in _IRREGULAR.split())
_WORD: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)+|[^\W_]+(?:['’][^\W_]+)*")
"""A comma groups thousands; any other comma separates two numbers, as in `1998,1999`."""


def words(text: str) -> Iterator[str]:
    """Yield the words of a text: lower case, no accents, no possessive, `1,200` as `1200`, `ran` as `run`."""
    for match in _WORD.finditer(folded(text)):
        yield _normalize(match[0])


def folded(text: str) -> str:
    """Convert to lower case without accents. The number of words stays the same, the number of characters may not."""
    text = text.casefold()
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character)).replace("’", "'")


def _normalize(word: str) -> str:
    if word[0].isdigit():
        return word.replace(",", "")
    word = word.removesuffix("'s")
    return _BASE_FORMS.get(word, word)


class WordStemmer:
    """Converts text to word stems. Caches stems; not thread-safe."""

    def __init__(self) -> None:
        self._stemmer = Stemmer.Stemmer("english")
        self._cache = _StemCache(self._stem)

    def content_stems(self, text: str) -> tuple[str, ...]:
        """Return the stems of the content words in order, with repetitions."""
        cache = self._cache
        return tuple([stem for word in _WORD.findall(folded(text)) if (stem := cache[word])])

    def name_stems(self, text: str) -> tuple[str, ...]:
        """Return the stems of capitalized words only."""
        return self.content_stems(" ".join(CAPITALIZED.findall(text)))

    def all_stems(self, text: str) -> tuple[str, ...]:
        """Return the stems of all words, including stop words: for a text that has no other words."""
        return tuple(self._stemmer.stemWords(list(words(text))))

    def _stem(self, word: str) -> str:
        word = _normalize(word)
        return "" if word in STOP_WORDS else str(self._stemmer.stemWord(word))


class _StemCache(dict[str, str]):
    """Stems by word; the stem of a stop word is empty. Limited in size."""

    def __init__(self, stem: Callable[[str], str]) -> None:
        super().__init__()
        self._stem = stem

    def __missing__(self, word: str) -> str:
        stem = self._stem(word)
        if len(self) < MAX_CACHED_STEMS:
            self[word] = stem
        return stem
