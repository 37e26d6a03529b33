"""Words as ranking sees them: folded, stemmed, the empty ones left out. Knows English and nothing of questions."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

import Stemmer

STOP_WORDS: Final = frozenset(
    """a about above after again all also am an and any are aren't as at be because been before being below between both
    but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each either else ever few
    for from further get gets give given go goes got had hadn't has hasn't have haven't having he her here hers herself
    him himself his how however i i'm if in into is isn't it it's its itself just let's like may me might more most must
    my myself neither nor now of off on once only or other ought our ours ourselves out over own per please same shall
    she should shouldn't so some such tell than that that's the their theirs them themselves then there there's these
    they they're this those through to too under until up upon us very was wasn't we were weren't what what's whatever
    when when's where where's whether which while who who's whom whose why will with within without won't would wouldn't
    yet you your yours yourself""".split()
)

_WORD: Final = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:['’][^\W_]+)*")


def words(text: str) -> Iterator[str]:
    """The words of a text in order: small letters, no accents, `1,200` as `1200`, no possessive `'s`."""
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
    return word.removesuffix("'s")


class Stems:
    """Turns text into the stems of its content words. Holds a stemmer and its cache; belongs to one thread."""

    def __init__(self) -> None:
        self._stemmer = Stemmer.Stemmer("english")

    def of(self, text: str) -> tuple[str, ...]:
        """The stems in their order, repeated where the text repeats itself."""
        content = [word for word in words(text) if word not in STOP_WORDS]
        return tuple(self._stemmer.stemWords(content))

    def of_everything(self, text: str) -> tuple[str, ...]:
        """The same with the empty words kept: for a text that consists of nothing else."""
        return tuple(self._stemmer.stemWords(list(words(text))))
