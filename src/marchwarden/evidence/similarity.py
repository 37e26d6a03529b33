"""Tell whether similar texts state the same facts. A different number or name or a negation separates them."""

from dataclasses import dataclass
from typing import Final

from marchwarden.text.words import WordStemmer

_NEGATIONS: Final = frozenset({"not", "no", "never"})


@dataclass(frozen=True)
class SentenceContent:
    """The distinct stems of a text, and those that are names."""

    stems: frozenset[str]
    names: frozenset[str]

    @classmethod
    def from_text(cls, text: str, stems: WordStemmer) -> "SentenceContent":
        return cls(frozenset(stems.content_stems(text)), frozenset(stems.name_stems(text)))

    def shared(self, other: "SentenceContent") -> int:
        return len(self.stems & other.stems)

    def differs_in_fact(self, other: "SentenceContent") -> bool:
        """Whether only one side has a number or negation, or each side has a name the other lacks."""
        if any(stem[0].isdigit() or stem in _NEGATIONS for stem in self.stems ^ other.stems):
            return True
        return bool(self.names - other.stems and other.names - self.stems)
