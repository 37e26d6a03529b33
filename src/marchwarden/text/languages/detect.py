"""Detect the language of a text by its script, its stop words and its letters. Needs no model.

Short texts without stop words count as English, which is the default everywhere.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Final

from marchwarden.text.languages import DEFAULT, Language, languages, load
from marchwarden.text.scripts import script_of
from marchwarden.text.segmentation import split_words

SAMPLE: Final = 4_000
"""Length in characters of the part of a text that decides."""
LETTER_WEIGHT: Final = 0.25
"""Weight of a telling letter in a word, and of a word of one letter."""
ONLY_LETTER_WEIGHT: Final = 0.5
"""Weight of a letter that only one language has."""
FEWEST_VOTES: Final = 1.25
"""Two stop words, or one and a telling letter. A single one may be part of a name, such as `Dell`."""
FEWEST_SHARE: Final = 0.05
"""Smallest share of words that are stop words. In prose, it is more than a quarter."""
MARGIN: Final = 1.2
"""Another language must have this many times the votes of English. Names and titles contain foreign words."""
OPENING_VOTE: Final = 0.5
"""Further vote for a question word at the start, unless it is also a word of the usual language."""
KANA_SHARE: Final = 0.05
LETTERS_PER_CHARACTER: Final = 3
_ONLY_LANGUAGE: Final = {"Greek": "el", "Hebrew": "he", "Hangul": "ko", "Thai": "th", "Devanagari": "hi", "Kana": "ja"}
_USUAL_LANGUAGE: Final = {**_ONLY_LANGUAGE, "Cyrillic": "ru", "Arabic": "ar", "Han": "zh", "Latin": DEFAULT}


def usual_language(script: str) -> Language | None:
    """Return the language of words in a script, if nothing else is known."""
    code = _USUAL_LANGUAGE.get(script)
    return load(code) if code else None


def detect(text: str) -> Language:
    """Return the language of a text, or English if it is uncertain."""
    text = text[:SAMPLE]
    script = _main_script(text)
    if script in _ONLY_LANGUAGE or script == "Han":
        return load(_USUAL_LANGUAGE[script])
    return _by_words(text, script) or usual_language(script) or load(DEFAULT)


def _main_script(text: str) -> str:
    """Return the script of most letters. A few kana among Han characters make a text Japanese."""
    if text.isascii():
        return "Latin"
    counts = Counter(script for character in text if (script := script_of(character)))
    if counts["Kana"] > KANA_SHARE * counts["Han"]:
        counts["Kana"] += counts.pop("Han", 0)
    # A Han character is a word, a Latin letter is not: names are often in Latin letters.
    for script in ("Han", "Kana", "Hangul"):
        counts[script] *= LETTERS_PER_CHARACTER
    return counts.most_common(1)[0][0] if counts else "Latin"


def _by_words(text: str, script: str) -> Language | None:
    """Return the language whose stop words and letters occur most often."""
    votes: defaultdict[str, float] = defaultdict(float)
    vocabulary, alphabet = _vocabulary(script), _alphabet(script)
    words = split_words(text, load(DEFAULT))
    for written in words:
        # `l'eau` votes by its article, `Watt's` by nothing.
        word, apostrophe, _ = written.partition("'" if "'" in written else "’")
        for code in vocabulary.get(word, ()):
            votes[code] += 1 if len(word) > 1 or apostrophe else LETTER_WEIGHT
        for letter in set(word) & alphabet.keys() if not word.isascii() else ():
            for code in alphabet[letter]:
                votes[code] += LETTER_WEIGHT if len(alphabet[letter]) > 1 else ONLY_LETTER_WEIGHT
    usual = _USUAL_LANGUAGE.get(script, DEFAULT)
    if words and usual not in vocabulary.get(words[0], ()):
        for code in _openings(script).get(words[0], ()):
            votes[code] += OPENING_VOTE
    best = max(votes, key=lambda code: (votes[code], code == usual), default=None)
    if best is None or votes[best] < max(FEWEST_VOTES, FEWEST_SHARE * len(words), MARGIN * votes[usual]):
        return None
    return load(best)


@cache
def _vocabulary(script: str) -> Mapping[str, Sequence[str]]:
    """Map each stop word to the languages that have it."""
    return _codes_by_key(script, lambda language: language.stop_words | language.negations)


@cache
def _openings(script: str) -> Mapping[str, Sequence[str]]:
    """Map each first word of a question to the languages that have it."""
    return _codes_by_key(
        script,
        lambda language: {phrase.split()[0] for phrases in language.asks.values() for phrase in phrases},
    )


@cache
def _alphabet(script: str) -> Mapping[str, Sequence[str]]:
    """Map each telling letter to the languages that have it."""
    return _codes_by_key(script, lambda language: language.letters)


def _codes_by_key(script: str, keys: Callable[[Language], Iterable[str]]) -> Mapping[str, Sequence[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for language in languages():
        if language.script == script:
            for key in keys(language):
                found[key].append(language.code)
    return dict(found)
