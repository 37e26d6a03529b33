"""Whether two texts say the same: however alike their words, another number or name or a denial sets them apart."""

from dataclasses import dataclass
from typing import Final

from marchwarden.text.words import WordStemmer

_DENIALS: Final = frozenset({"not", "no", "never"})


@dataclass(frozen=True)
class SentenceContent:
    """The different stems of a text, and which of them name something."""

    stems: frozenset[str]
    names: frozenset[str]

    @classmethod
    def by(cls, text: str, stems: WordStemmer) -> "SentenceContent":
        return cls(frozenset(stems.content_stems(text)), frozenset(stems.name_stems(text)))

    def shared(self, other: "SentenceContent") -> int:
        return len(self.stems & other.stems)

    def differs_in_fact(self, other: "SentenceContent") -> bool:
        """Whether a number or a denial stands on one side alone, or each side names what the other does not."""
        if any(stem[0].isdigit() or stem in _DENIALS for stem in self.stems ^ other.stems):
            return True
        return bool(self.names - other.stems and other.names - self.stems)
