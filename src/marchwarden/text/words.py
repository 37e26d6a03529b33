"""Words and stems of a text for ranking: case-folded, without stop words, in the language of the text."""

import re
from collections.abc import Callable, Iterator
from typing import Final

import Stemmer

from marchwarden.text.languages import Language, load
from marchwarden.text.languages.detect import detect, usual_language
from marchwarden.text.scripts import UPPER, folded, script_of
from marchwarden.text.segmentation import LONGEST_WORD, split_words

__all__ = ["CAPITALIZED", "STOP_WORDS", "WordStemmer", "folded", "words"]

MAX_CACHED_STEMS: Final = 100_000
SHORTEST_STEM: Final = 3
BEGINNING: Final = 5
"""Length of the beginnings of stems. With them, `answer_said` on 150 questions of XQuAD in German is .867, not .833."""

_STEMS_PER_WORD: Final = {"Han": 1.9, "Hangul": 1.9, "Thai": 5.0}
ENGLISH: Final = load("en")
STOP_WORDS: Final = ENGLISH.stop_words
"""The English stop words. Those of other languages: `WordStemmer.language.stop_words`."""
CAPITALIZED: Final = re.compile(rf"(?<![.!?]\s)(?<!^)\b[{UPPER}][\w'’-]+")
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


def words(text: str) -> Iterator[str]:
    """Yield the words of a text: lower case, no accents, no possessive, `1,200` as `1200`, `ran` as `run`."""
    for word in split_words(text, ENGLISH, everything=True):
        yield _normalize(folded(word))


def _normalize(word: str) -> str:
    """Return the base form of an English word."""
    if word[:1].isdigit():
        return word.replace(",", "")
    word = word.removesuffix("'s")
    return _BASE_FORMS.get(word, word)


class WordStemmer:
    """Converts text to word stems, in one language. Words in other scripts are stemmed in their usual language.

    Caches stems; not thread-safe.
    """

    def __init__(self, language: Language = ENGLISH) -> None:
        self.language = language
        self._stemmers: dict[str, Stemmer.Stemmer] = {}
        self._cache = _StemCache(self._content_stem)
        self._term_cache = _StemCache(self._index_term)

    @classmethod
    def for_text(cls, text: str) -> "WordStemmer":
        """Return a stemmer for the language of a text, usually of a question."""
        return cls(detect(text))

    @property
    def stems_per_word(self) -> float:
        """The number of stems for a content word of English, measured on translations."""
        if self.language.is_english:
            return 1.0
        return _STEMS_PER_WORD.get(self.language.script, 1.65)

    def content_stems(self, text: str) -> tuple[str, ...]:
        """Return the stems of the content words in order, with repetitions."""
        return tuple(self._with_beginnings(text, self._cache))

    def name_stems(self, text: str) -> tuple[str, ...]:
        """Return the stems of capitalized words only."""
        return self.content_stems(" ".join(CAPITALIZED.findall(text)))

    def all_stems(self, text: str) -> tuple[str, ...]:
        """Return the stems of all words, including stop words: for a text that has no other words."""
        return tuple(stem for word in split_words(text, self.language, everything=True) if (stem := self._stem(word)))

    def index_terms(self, text: str) -> list[str]:
        """Return the stems of all words, as they are indexed, without the function words of unspaced scripts."""
        return self._with_beginnings(text, self._term_cache)

    def content_words(self, text: str) -> list[str]:
        """Return the words that are not stop words, in lower case. In scripts without spaces, these are phrases."""
        return [word for word in split_words(text, self.language, ngrams=False) if self._cache[word]]

    def _with_beginnings(self, text: str, cache: "_StemCache") -> list[str]:
        """Return stems and, except in English, the beginning of each long stem.

        Most languages inflect more than English or write compounds as one word, so that stems of related words differ.
        """
        stems = [stem for word in split_words(text, self.language) if (stem := cache[word])]
        if self.language.is_english or not self.language.is_spaced:
            return stems
        return [term for stem in stems for term in ((stem, beginning_of(stem)) if _is_long(stem) else (stem,))]

    def _content_stem(self, word: str) -> str:
        language = self._language_of(word)
        if len(word) > LONGEST_WORD or (language and _stop_form(word, language) in language.stop_words):
            return ""
        return self._stem(word)

    def _index_term(self, word: str) -> str:
        return self._stem(word) if len(word) <= LONGEST_WORD else ""

    def _stem(self, word: str) -> str:
        """Return the stem of a word, without accents unless they matter."""
        language = self._language_of(word)
        if word[0].isdigit():
            return _plain_number(folded(word), self.language)
        if language is None:
            return folded(word)
        if language.is_english:
            return str(self._snowball("english").stemWord(_normalize(folded(word))))
        word = language.fold(word)
        snowball = self._snowball(language.stemmer) if language.stemmer else None
        stem = str(snowball.stemWord(word)) if snowball else _light_stem(word, language)
        return stem if language.accents_matter else folded(stem)

    def _language_of(self, word: str) -> Language | None:
        script = script_of(word[0])
        return self.language if script == self.language.script else usual_language(script)

    def _snowball(self, name: str) -> Stemmer.Stemmer:
        if name not in self._stemmers:
            self._stemmers[name] = Stemmer.Stemmer(name)
        return self._stemmers[name]


class Stemmers:
    """A stemmer for each language, made when it is first needed."""

    def __init__(self) -> None:
        self._by_language: dict[str, WordStemmer] = {}

    def for_text(self, text: str) -> WordStemmer:
        """Return the stemmer for the language of a text."""
        return self.for_language(detect(text))

    def for_language(self, language: Language) -> WordStemmer:
        if language.code not in self._by_language:
            self._by_language[language.code] = WordStemmer(language)
        return self._by_language[language.code]


def beginning_of(stem: str) -> str:
    """Return the beginning of a stem, marked as one."""
    return f"{stem[:BEGINNING]}~"


def is_beginning(stem: str) -> bool:
    return stem.endswith("~")


def _is_long(stem: str) -> bool:
    return len(stem) >= BEGINNING and not stem[0].isdigit()


def _stop_form(word: str, language: Language) -> str:
    return _normalize(folded(word)) if language.is_english else language.fold(word)


def _light_stem(word: str, language: Language) -> str:
    """Shorten a word of a language that has no stemmer."""
    while len(word) > SHORTEST_STEM and word[0] in language.prefixes:
        word = word[1:]
    return word[: language.truncate] if language.truncate else word


def _plain_number(word: str, language: Language) -> str:
    """Return a number with a decimal point and without separators of thousands."""
    if language.decimal_comma and re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d+", word):
        return word.replace(".", "").replace(",", ".")
    return word.replace(",", "")


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
