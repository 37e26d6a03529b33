"""Words that reverse a statement: negations and pairs of opposites. Does not know documents."""

import re
from collections.abc import Set as AbstractSet
from typing import Final

from marchwarden.text.words import WordStemmer

_NEGATING: Final = """
    not no never none neither nor cannot without nobody nothing nowhere hardly barely zero unable incapable impossible
    unwilling absent outside away refuse refused refuses fail failed fails failing avoid avoided avoids avoiding lack
    lacked lacks lacking deny denied denies reject rejected rejects decline declined exclude excluded excludes excluding
    prevent prevented stop stopped neglect neglected
"""
_NEGATIONS: Final = frozenset(_NEGATING.split())
_TWO_WORDS: Final = re.compile(
    r"\b(?:yet to|other than|rather than|instead of|far from|turned down|left out)\b", re.IGNORECASE
)
_LESS: Final = re.compile(r"[^\W\d_]{3,}less")
_NOT_NEGATIVE: Final = frozenset({"unless", "regardless", "nonetheless", "nevertheless", "useless"})
_PAIRS: Final = (
    ("increase rise grow gain", "decrease fall shrink lose"),
    ("high higher highest", "low lower lowest"),
    ("large larger largest big bigger biggest", "small smaller smallest"),
    ("most", "least"),
    ("more", "less fewer"),
    ("best", "worst"),
    ("better", "worse"),
    ("early earlier earliest", "late later latest"),
    ("begin start", "end finish"),
    ("before", "after"),
    ("above", "below"),
    ("win", "lose"),
    ("accept", "reject"),
    ("allow permit", "forbid prohibit ban"),
    ("require mandatory", "optional"),
    ("enable", "disable"),
    ("safe", "unsafe dangerous"),
    ("effective", "ineffective"),
    ("legal", "illegal"),
    ("successful", "unsuccessful"),
    ("true", "false"),
    ("positive", "negative"),
    ("support", "oppose"),
    ("cause", "prevent"),
    ("northern north", "southern south"),
    ("eastern east", "western west"),
    ("public", "private"),
    ("majority", "minority"),
    ("maximum", "minimum"),
)


class Polarity:
    """Pairs of opposites, as stems."""

    def __init__(self, stems: WordStemmer) -> None:
        self._pairs = tuple((_stem_words(stems, one), _stem_words(stems, other)) for one, other in _PAIRS)
        self.opposites = frozenset().union(*(side for pair in self._pairs for side in pair))

    def opposed(self, ours: AbstractSet[str], theirs: AbstractSet[str]) -> bool:
        """Whether one text has a word, the other its opposite, and neither has both. Takes all stems of both texts."""
        return any(_is_reversed(ours, theirs, *pair) for pair in self._pairs)


def join_negations(text: str) -> str:
    """Replace negations of two words, such as "yet to", by "not"."""
    return _TWO_WORDS.sub("not", text)


def is_negation(word: str) -> bool:
    """Whether a lower-case word negates its neighbours."""
    if word in _NEGATIONS or word.endswith(("n't", "n’t")):
        return True
    return word not in _NOT_NEGATIVE and _LESS.fullmatch(word) is not None


def _stem_words(stems: WordStemmer, words: str) -> frozenset[str]:
    return frozenset(stems.all_stems(words))


def _is_reversed(
    ours: AbstractSet[str], theirs: AbstractSet[str], one: AbstractSet[str], other: AbstractSet[str]
) -> bool:
    here, there = (bool(ours & one), bool(ours & other)), (bool(theirs & one), bool(theirs & other))
    return here in {(True, False), (False, True)} and there == here[::-1]
